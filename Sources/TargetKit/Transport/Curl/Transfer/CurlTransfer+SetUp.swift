// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

extension CurlTransfer {
    /// Sets the options that are equal for all exchanges.
    func setUp() {
        let user = Unmanaged.passUnretained(self).toOpaque()
        ccurl_setopt_pointer(easy, CURLOPT_PRIVATE, user)
        ccurl_setopt_pointer(easy, CURLOPT_ERRORBUFFER, errorBuffer)
        ccurl_allow_http_only(easy)
        ccurl_leave_lookups_behind(easy)
        set(CURLOPT_NOSIGNAL, value: 1)
        set(CURLOPT_PATH_AS_IS, value: 1)
        set(CURLOPT_HTTP09_ALLOWED, value: 0)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, value: 1)
        set(CURLOPT_TCP_KEEPALIVE, value: 1)
        setResponseCallbacks(user)
        setRequestCallbacks(user)
        setSocketCallbacks(user)
        setSendingCallback(user)
        setLogCallback(user)
    }

    private func setResponseCallbacks(_ user: UnsafeMutableRawPointer) {
        ccurl_setopt_pointer(easy, CURLOPT_HEADERDATA, user)
        ccurl_setopt_write(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, user in
            guard let user else { return 0 }
            let transfer = Unmanaged<CurlTransfer>.fromOpaque(user).takeUnretainedValue()
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return CurlLibrary.withBrokenPipesUnblocked { transfer.receiveHeader(line) ? line.count : 0 }
        }
        ccurl_setopt_pointer(easy, CURLOPT_WRITEDATA, user)
        ccurl_setopt_write(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, user in
            guard let user else { return 0 }
            let transfer = Unmanaged<CurlTransfer>.fromOpaque(user).takeUnretainedValue()
            let bytes = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return CurlLibrary.withBrokenPipesUnblocked { transfer.receiveBody(bytes) }
        }
    }

    private func setRequestCallbacks(_ user: UnsafeMutableRawPointer) {
        ccurl_setopt_pointer(easy, CURLOPT_READDATA, user)
        ccurl_setopt_read(easy) { bytes, size, count, user in
            guard let user else { return Int(CURL_READFUNC_ABORT) }
            let transfer = Unmanaged<CurlTransfer>.fromOpaque(user).takeUnretainedValue()
            let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
            return CurlLibrary.withBrokenPipesUnblocked { transfer.sendBody(into: buffer) }
        }
        ccurl_setopt_pointer(easy, CURLOPT_XFERINFODATA, user)
        ccurl_setopt_progress(easy) { user, toReceive, received, _, sent in
            guard let user else { return 1 }
            let transfer = Unmanaged<CurlTransfer>.fromOpaque(user).takeUnretainedValue()
            let now = transfer.clock.now
            guard let progress = transfer.progress else { return 0 }
            CurlLibrary.withBrokenPipesUnblocked {
                progress.move(
                    up: Int64(sent),
                    of: transfer.bodyLength,
                    unacknowledged: { transfer.unacknowledgedByteCount },
                    down: Int64(received),
                    of: Int64(toReceive),
                    now: now
                )
            }
            return 0
        }
        ccurl_setopt_pointer(easy, CURLOPT_SEEKDATA, user)
        ccurl_setopt_seek(easy) { user, offset, origin in
            // libcurl only seeks to the start.
            guard let user, offset == 0, origin == SEEK_SET else { return CURL_SEEKFUNC_FAIL }
            let transfer = Unmanaged<CurlTransfer>.fromOpaque(user).takeUnretainedValue()
            CurlLibrary.withBrokenPipesUnblocked { transfer.upload?.rewind() }
            return CURL_SEEKFUNC_OK
        }
    }

    private func setSocketCallbacks(_ user: UnsafeMutableRawPointer) {
        ccurl_setopt_pointer(easy, CURLOPT_RESOLVER_START_DATA, user)
        ccurl_setopt_resolver_start(easy) { _, _, user in
            if let user { Unmanaged<CurlTransfer>.fromOpaque(user).takeUnretainedValue().beginLookup() }
            return 0
        }
        ccurl_setopt_pointer(easy, CURLOPT_OPENSOCKETDATA, user)
        ccurl_setopt_open_socket(easy) { user, _, address in
            guard let user, let address = address?.pointee else { return CURL_SOCKET_BAD }
            let transfer = Unmanaged<CurlTransfer>.fromOpaque(user).takeUnretainedValue()
            transfer.endLookup()
            // The call ended during the lookup.
            guard transfer.current != nil else { return CURL_SOCKET_BAD }
            let kind = address.socktype | Int32(SOCK_CLOEXEC.rawValue)
            let descriptor = socket(address.family, kind, address.protocol)
            if descriptor >= 0 { transfer.sockets.didOpen(descriptor) }
            return descriptor
        }
        // A connection can outlive its transfer.
        let user = Unmanaged.passUnretained(sockets).toOpaque()
        ccurl_setopt_pointer(easy, CURLOPT_CLOSESOCKETDATA, user)
        ccurl_setopt_close_socket(easy) { user, descriptor in
            if let user { Unmanaged<CurlSockets>.fromOpaque(user).takeUnretainedValue().didClose(descriptor) }
            return close(descriptor)
        }
    }
}
#endif
