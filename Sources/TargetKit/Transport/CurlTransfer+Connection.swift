// SPDX-License-Identifier: MIT
#if canImport(CTargetKitCurl)
import CTargetKitCurl
import Foundation

// MARK: - Which connection

extension CurlTransfer {
    /// A request whose URL and fields have more bytes goes out over HTTP/1.1: libcurl (7.88, and the nghttp2 in it) cannot send
    /// 64 KiB of fields over HTTP/2, and takes the other exchanges of the connection along.
    private static let sharedHeadLimit = 48 << 10

    /// Sets what decides which connection carries the call, and whether another may after it.
    func prepareConnection(_ call: CurlCall, at host: CurlQueue.Host) {
        if options.isSecure != call.isSecure {
            options.isSecure = call.isSecure
            ccurl_setopt_string(easy, CURLOPT_PROXY, proxy.address)
        }
        let canShare = host.key.canShare && options.fieldSize + call.address.utf8.count <= Self.sharedHeadLimit
        if options.canShare != canShare {
            options.canShare = canShare
            set(CURLOPT_HTTP_VERSION, Int(canShare ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1))
        }
        // The request waits to see whether HTTP/2 lets it share the connection that is being made. Over HTTP/1.1 that would put
        // it behind the answer to another.
        let waitsToShare = canShare && host.version != .http1
        if options.waitsToShare != waitsToShare {
            options.waitsToShare = waitsToShare
            set(CURLOPT_PIPEWAIT, waitsToShare ? 1 : 0)
        }
        // Its connection would be used for what can go over HTTP/2.
        if call.isSecure, !canShare, settings.configuration.version == .automatic { forbidReuse() }
        setRepeatsAfresh(false)
        if options.mayBeRepeated != call.isIdempotent {
            options.mayBeRepeated = call.isIdempotent
            forbidRepeating(!call.isIdempotent)
        }
    }

    private func setRepeatsAfresh(_ isSet: Bool) {
        guard options.repeatsAfresh != isSet else { return }
        options.repeatsAfresh = isSet
        set(CURLOPT_FRESH_CONNECT, isSet ? 1 : 0)
    }

    private func forbidRepeating(_ isForbidden: Bool) {
        // The RTSP request that only receives is the one that libcurl does not repeat when a kept connection has ended; it goes by
        // this option over HTTP too (`Curl_retry_request`, 7.68 to 8.16). A stream that was refused it still repeats.
        // Watched by `CurlRepeatTests` and `CurlSharingTests.refused`.
        let request = isForbidden ? CURL_RTSPREQ_RECEIVE : CURL_RTSPREQ_OPTIONS
        canForbidRepeating = ccurl_setopt_long(easy, CURLOPT_RTSP_REQUEST, Int(request)) == CURLE_OK
        // A libcurl without RTSP. One that does not tell of a sending either has to open a connection.
        if !canForbidRepeating, !CurlLibrary.tellsSendings { set(CURLOPT_FRESH_CONNECT, isForbidden ? 1 : 0) }
    }

    /// The connection is there, or will not be.
    func noteConnected() {
        guard mayConnect, let host else { return }
        mayConnect = false
        queue.note(mayConnect: false, to: host)
    }
}

// MARK: - Sending once

extension CurlTransfer {
    func setSendingCallback(_ user: UnsafeMutableRawPointer) {
        ccurl_setopt_pointer(easy, CURLOPT_PREREQDATA, user)
        ccurl_setopt_prereq(easy) { user, _, _, _, _ in
            guard let user else { return CURL_PREREQFUNC_OK }
            let transfer = Unmanaged<CurlTransfer>.fromOpaque(user).takeUnretainedValue()
            return transfer.mayBeSent() ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }
    }

    /// Counts a sending; `false` ends the exchange.
    private func mayBeSent() -> Bool {
        sendings += 1
        noteConnected()
        guard sendings > 1 else {
            // Another kept connection may have ended too, and after five libcurl gives up. Over HTTP/2 all streams that were
            // refused would each open one.
            if host?.version == .http1 { setRepeatsAfresh(true) }
            return true
        }
        // The connection is another.
        descriptor = -1
        guard options.mayBeRepeated == false, !canForbidRepeating else { return true }
        failure = CurlFailure.notRepeated
        return false
    }
}
#endif
