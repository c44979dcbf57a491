// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

// MARK: - Choosing a connection

extension CurlTransfer {
    /// The maximum size of the URL and fields of a request over HTTP/2; larger requests use HTTP/1.1. libcurl (7.88,
    /// with its nghttp2) can't send 64 KiB of fields over HTTP/2, and also fails the connection's other exchanges.
    private static let sharedHeadLimit = 48 << 10

    /// Sets the options that determine which connection carries the call, and whether it is reused.
    func prepareConnection(_ call: CurlCall, at host: CurlConnectionQueue.Host) {
        options.isRepeatable = call.isRepeatable
        options.canShare = host.key.canShare && call.headSize <= Self.sharedHeadLimit
        ccurl_setopt_string(easy, CURLOPT_PROXY, proxy.address)
        set(CURLOPT_HTTP_VERSION, value: Int(options.canShare ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1))
        // Once a connection to a host uses HTTP/2, libcurl 7.88 also sends such a call on an HTTP/1.1 connection that is
        // in use. It never does so if the TLS settings differ; this limit equals the default, but counts as different.
        // Watched by `CurlSharingTests.heldStream`.
        let limit = options.canShare ? 0 : CURL_SSLVERSION_MAX_TLSv1_3
        set(CURLOPT_SSLVERSION, value: settings.minimumVersion | Int(limit))
        // The request waits for a connection that is being opened, to share it over HTTP/2. Over HTTP/1.1, this would
        // queue it behind another response.
        set(CURLOPT_PIPEWAIT, value: options.canShare && host.version != .http1 ? 1 : 0)
        // Otherwise, calls that can use HTTP/2 would reuse its HTTP/1.1 connection.
        if call.address.isSecure, !options.canShare, settings.configuration.allowsHTTP2 { forbidReuse() }
        set(CURLOPT_FRESH_CONNECT, value: 0)
        prepareLog()
        forbidRepeating(!call.isRepeatable)
    }

    /// Sets the options of a connection that is opened only, and not reused.
    func prepareOpening(_ call: CurlCall) {
        options.isSecure = call.address.isSecure
        ccurl_setopt_string(easy, CURLOPT_PROXY, proxy.address)
        ccurl_setopt_string(easy, CURLOPT_USERAGENT, CurlLibrary.userAgent)
        if call.address.isSecure, settings.trustDependsOnHost { prepareTrust(call) }
        ccurl_setopt_string(easy, CURLOPT_URL, call.address.text)
        prepareHost(call)
        set(CURLOPT_HTTP_VERSION, value: Int(CURL_HTTP_VERSION_1_1))
        set(CURLOPT_FRESH_CONNECT, value: 1)
        set(CURLOPT_CONNECT_ONLY, value: 1)
        // A proxy opens a tunnel, regardless of whether the connection uses TLS (RFC 6455 §4.1).
        set(CURLOPT_HTTPPROXYTUNNEL, value: 1)
    }

    /// Whether the bytes of the connection are those of its socket, without TLS to the server or to a proxy.
    var isSocketPlain: Bool { !options.isSecure && !proxy.address.lowercased().hasPrefix("https") }

    private func forbidRepeating(_ isForbidden: Bool) {
        // libcurl doesn't retry an RTSP RECEIVE request after a persistent connection closes, and also applies this
        // option to HTTP (`Curl_retry_request`, 7.68 to 8.16). It still retries a refused stream. Watched by
        // `CurlRepeatTests` and `CurlSharingTests.refused`.
        let request = isForbidden ? CURL_RTSPREQ_RECEIVE : CURL_RTSPREQ_OPTIONS
        canForbidRepeating = ccurl_setopt_long(easy, CURLOPT_RTSP_REQUEST, Int(request)) == CURLE_OK
        // For a libcurl without RTSP. If it doesn't report sending either, it must open a new connection.
        if !canForbidRepeating, !CurlLibrary.reportsSending { set(CURLOPT_FRESH_CONNECT, value: isForbidden ? 1 : 0) }
    }

    /// Records that libcurl begins to look up the host's name. During the lookup, the loop applies the timeout of the
    /// connection, just before libcurl would.
    func beginLookup() {
        guard host != nil else { return }
        let due = lastActivity + settings.configuration.connectTimeout.curlNanoseconds
        lookupDue = due
        clock.setAlarm(due)
    }

    func endLookup() {
        guard lookupDue != nil else { return }
        lookupDue = nil
        if let host { queue.noteFound(host) }
    }

    /// Records that the connection was opened or failed.
    func noteConnected() {
        guard mayConnect, let host else { return }
        mayConnect = false
        queue.note(mayConnect: false, to: host)
    }
}

// MARK: - Preventing repeated requests

extension CurlTransfer {
    func setSendingCallback(_ user: UnsafeMutableRawPointer) {
        ccurl_setopt_pointer(easy, CURLOPT_PREREQDATA, user)
        ccurl_setopt_prereq(easy) { user, remoteAddress, localAddress, remotePort, localPort in
            guard let transfer = user?.object(CurlTransfer.self) else { return CURL_PREREQFUNC_OK }
            transfer.noteConnection(
                remoteAddress,
                remotePort: remotePort,
                localAddress: localAddress,
                localPort: localPort
            )
            return transfer.shouldSend() ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }
    }

    /// Counts an attempt to send the request; returning `false` ends the exchange.
    private func shouldSend() -> Bool {
        sendCount += 1
        lastActivity = clock.now
        noteConnected()
        guard sendCount > 1 else {
            // Other persistent connections may also be closed, and libcurl gives up after five. Over HTTP/2, each
            // refused stream would open a connection.
            if host?.version == .http1 { set(CURLOPT_FRESH_CONNECT, value: 1) }
            return true
        }
        // The request uses another connection now.
        descriptor = -1
        guard !options.isRepeatable, !canForbidRepeating else { return true }
        failure = TransportFailure.notRepeated
        return false
    }
}

// MARK: - Metrics

extension CurlTransfer {
    /// The metrics of the exchange that just ended.
    var metrics: TransportMetrics {
        let isReused = !hasOpenedConnection
        var address: UnsafeMutablePointer<CChar>?
        _ = ccurl_getinfo_string(easy, CURLINFO_PRIMARY_IP, &address)
        let secure = duration(CURLINFO_APPCONNECT_TIME_T)
        return TransportMetrics(
            nameLookup: isReused ? .zero : duration(CURLINFO_NAMELOOKUP_TIME_T),
            connect: isReused ? .zero : duration(CURLINFO_CONNECT_TIME_T),
            secureConnect: options.isSecure ? secure : nil,
            firstByte: duration(CURLINFO_STARTTRANSFER_TIME_T),
            total: duration(CURLINFO_TOTAL_TIME_T),
            bytesSent: offset(CURLINFO_SIZE_UPLOAD_T),
            bytesReceived: offset(CURLINFO_SIZE_DOWNLOAD_T),
            reusedConnection: isReused,
            httpVersion: head.httpVersion,
            trustedBlindly: options.isSecure && options.isTrustBlind,
            remoteAddress: address.flatMap { $0.pointee == 0 ? nil : String(cString: $0) }
        )
    }

    var hasOpenedConnection: Bool {
        var connections = 0
        _ = ccurl_getinfo_long(easy, CURLINFO_NUM_CONNECTS, &connections)
        return connections > 0
    }

    func offset(_ info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        _ = ccurl_getinfo_offset(easy, info, &value)
        return Int64(value)
    }

    private func duration(_ info: CURLINFO) -> Duration {
        .microseconds(offset(info))
    }
}
#endif
