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
            guard let transfer = user?.object(CurlTransfer.self) else { return 0 }
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return CurlLibrary.withBrokenPipesUnblocked { transfer.receiveHeader(line) ? line.count : 0 }
        }
        ccurl_setopt_pointer(easy, CURLOPT_WRITEDATA, user)
        ccurl_setopt_write(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, user in
            guard let transfer = user?.object(CurlTransfer.self) else { return 0 }
            let bytes = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return CurlLibrary.withBrokenPipesUnblocked { transfer.receiveBody(bytes) }
        }
    }

    private func setRequestCallbacks(_ user: UnsafeMutableRawPointer) {
        ccurl_setopt_pointer(easy, CURLOPT_READDATA, user)
        ccurl_setopt_read(easy) { bytes, size, count, user in
            guard let transfer = user?.object(CurlTransfer.self) else { return Int(CURL_READFUNC_ABORT) }
            let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
            return CurlLibrary.withBrokenPipesUnblocked { transfer.sendBody(into: buffer) }
        }
        ccurl_setopt_pointer(easy, CURLOPT_XFERINFODATA, user)
        ccurl_setopt_progress(easy) { user, toReceive, received, _, sent in
            guard let transfer = user?.object(CurlTransfer.self) else { return 1 }
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
            guard let transfer = user?.object(CurlTransfer.self), offset == 0, origin == SEEK_SET else {
                return CURL_SEEKFUNC_FAIL
            }
            CurlLibrary.withBrokenPipesUnblocked { transfer.upload?.rewind() }
            return CURL_SEEKFUNC_OK
        }
    }

    private func setSocketCallbacks(_ user: UnsafeMutableRawPointer) {
        ccurl_setopt_pointer(easy, CURLOPT_RESOLVER_START_DATA, user)
        ccurl_setopt_resolver_start(easy) { _, _, user in
            user?.object(CurlTransfer.self).beginLookup()
            return 0
        }
        ccurl_setopt_pointer(easy, CURLOPT_OPENSOCKETDATA, user)
        ccurl_setopt_open_socket(easy) { user, _, address in
            guard let transfer = user?.object(CurlTransfer.self), let address = address?.pointee else {
                return CURL_SOCKET_BAD
            }
            transfer.endLookup()
            // The call ended during the lookup.
            guard transfer.current != nil else { return CURL_SOCKET_BAD }
            // The flag has the value of SOCK_CLOEXEC (socket(2)), which is no number in Glibc.
            let kind = address.socktype | O_CLOEXEC
            let descriptor = socket(address.family, kind, address.protocol)
            if descriptor >= 0 { transfer.sockets.didOpen(descriptor) }
            return descriptor
        }
        // A connection can outlive its transfer.
        let user = Unmanaged.passUnretained(sockets).toOpaque()
        ccurl_setopt_pointer(easy, CURLOPT_CLOSESOCKETDATA, user)
        ccurl_setopt_close_socket(easy) { user, descriptor in
            user?.object(CurlSockets.self).didClose(descriptor)
            return close(descriptor)
        }
    }
}

// MARK: - The configuration

extension CurlTransfer {
    /// The proxy for the scheme of the current call's URL.
    var proxy: CurlProxy { options.isSecure ? settings.secureProxy : settings.proxy }

    /// Applies the configuration.
    ///
    /// - Throws: An error if the installed libcurl doesn't support a setting.
    func setUp(_ settings: CurlSettings) throws(TransportFailure) {
        let configuration = settings.configuration
        set(CURLOPT_CONNECTTIMEOUT_MS, value: configuration.connectTimeout.curlMilliseconds)
        // The time for which an idle connection can be reused, in seconds.
        set(CURLOPT_MAXAGE_CONN, value: 60)
        // CONNECT doesn't use the fields of the request's list.
        if !settings.secureProxy.address.isEmpty { ccurl_setopt_string(easy, CURLOPT_USERAGENT, CurlLibrary.userAgent) }
        ccurl_setopt_string(easy, CURLOPT_NOPROXY, settings.proxyExceptions)
        if let path = configuration.unixSocketPath {
            try require(ccurl_setopt_string(easy, CURLOPT_UNIX_SOCKET_PATH, path), feature: "Unix-domain sockets")
        }
        try setUp(configuration.tls)
    }

    private func setUp(_ policy: TLSPolicy) throws(TransportFailure) {
        try require(
            ccurl_setopt_long(easy, CURLOPT_SSLVERSION, Int(settings.minimumVersion)),
            feature: "this version of TLS"
        )
        switch policy.trust {
        case .system, .insecureTrustAll:
            break
        case .authorities(let pem):
            let result = pem.withUnsafeBytes { ccurl_setopt_authorities(easy, $0.baseAddress, $0.count) }
            try require(result, feature: "authorities from memory (requires libcurl 7.77)")
            ccurl_setopt_string(easy, CURLOPT_CAPATH, nil)
        case .authoritiesFile(let url):
            try requireNoPipe(url)
            ccurl_setopt_string(easy, CURLOPT_CAINFO, url.path)
            // Nothing else is trusted.
            ccurl_setopt_string(easy, CURLOPT_CAPATH, nil)
        }
        if let certificate = policy.clientCertificate { try setUp(certificate) }
    }

    private func setUp(_ certificate: TLSPolicy.ClientCertificate) throws(TransportFailure) {
        try requireNoPipe(certificate.file)
        if let key = certificate.key { try requireNoPipe(key) }
        let isPKCS12 = ["p12", "pfx"].contains(certificate.file.pathExtension.lowercased())
        try require(ccurl_setopt_string(easy, CURLOPT_SSLCERT, certificate.file.path), feature: "client certificates")
        ccurl_setopt_string(easy, CURLOPT_SSLCERTTYPE, isPKCS12 ? "P12" : "PEM")
        if !isPKCS12 { ccurl_setopt_string(easy, CURLOPT_SSLKEY, (certificate.key ?? certificate.file).path) }
        if let password = certificate.password { ccurl_setopt_string(easy, CURLOPT_KEYPASSWD, password) }
    }

    /// Throws if the file is a pipe, because libcurl reads these files on the loop's thread, where a pipe would block
    /// every call. libcurl itself reports a missing file.
    private func requireNoPipe(_ file: URL) throws(TransportFailure) {
        guard FileStatus(of: file)?.isRegular != false else {
            throw TransportFailure(.cannotOpenFile, message: "\(file.path) isn't a regular file")
        }
    }

    /// Applies the TLS policy for the call's host.
    func prepareTrust(_ call: CurlCall) {
        let policy = settings.configuration.tls
        let host = call.url.host ?? ""
        let isBlind = policy.trustsBlindly(host)
        options.isTrustBlind = isBlind
        set(CURLOPT_SSL_VERIFYPEER, value: isBlind ? 0 : 1)
        set(CURLOPT_SSL_VERIFYHOST, value: isBlind ? 0 : 2)
        // Pinning without keys rejects every certificate.
        let pin = policy.pinnedKeys(for: host).map { keys in
            keys.isEmpty ? "sha256//" : keys.map { "sha256//" + $0 }.joined(separator: ";")
        }
        ccurl_setopt_string(easy, CURLOPT_PINNEDPUBLICKEY, pin)
    }

    private func require(_ result: CURLcode, feature: String) throws(TransportFailure) {
        guard result != CURLE_OK else { return }
        throw TransportFailure(.unsupportedURL, message: "the installed libcurl doesn't support \(feature)")
    }
}
#endif
