// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

extension CurlTransfer {
    /// The proxy for the scheme of the current call's URL.
    var proxy: CurlProxy { options.isSecure == true ? settings.secureProxy : settings.proxy }

    /// Applies the configuration.
    ///
    /// - Throws: An error if the installed libcurl doesn't support a setting.
    func setUp(_ settings: CurlSettings) throws(CurlFailure) {
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

    private func setUp(_ policy: TLSPolicy) throws(CurlFailure) {
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

    private func setUp(_ certificate: TLSPolicy.ClientCertificate) throws(CurlFailure) {
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
    private func requireNoPipe(_ file: URL) throws(CurlFailure) {
        guard FileStatus(of: file)?.isRegular != false else {
            throw CurlFailure(.cannotOpenFile, message: "\(file.path) isn't a regular file")
        }
    }

    /// Applies the TLS policy for the call's host.
    func prepareTrust(_ call: CurlCall) {
        let policy = settings.configuration.tls
        let host = call.url.host ?? ""
        let isBlind = policy.trustsBlindly(host)
        if options.isTrustBlind != isBlind {
            options.isTrustBlind = isBlind
            set(CURLOPT_SSL_VERIFYPEER, value: isBlind ? 0 : 1)
            set(CURLOPT_SSL_VERIFYHOST, value: isBlind ? 0 : 2)
        }
        // Pinning without keys rejects every certificate.
        let pin = policy.pinnedKeys(for: host).map { keys in
            keys.isEmpty ? "sha256//" : keys.map { "sha256//" + $0 }.joined(separator: ";")
        }
        if options.pin != pin {
            options.pin = pin
            ccurl_setopt_string(easy, CURLOPT_PINNEDPUBLICKEY, pin)
        }
    }

    private func require(_ result: CURLcode, feature: String) throws(CurlFailure) {
        guard result != CURLE_OK else { return }
        throw CurlFailure(.unsupportedURL, message: "the installed libcurl doesn't support \(feature)")
    }
}
#endif
