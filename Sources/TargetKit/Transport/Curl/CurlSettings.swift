// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

/// The settings that a configuration specifies for each handle.
final class CurlSettings {
    let configuration: CurlTransport.Configuration
    /// The proxies for `http` and for `https`.
    let proxy: CurlProxy
    let secureProxy: CurlProxy
    /// The hosts that are excluded from proxying.
    let proxyExceptions: String
    /// Whether trust depends on the host.
    let trustDependsOnHost: Bool
    /// Whether all requests without TLS may use one proxy and share its connections.
    private let mayUseProxy: Bool

    init(_ configuration: CurlTransport.Configuration) {
        self.configuration = configuration
        switch configuration.proxy {
        case .environment:
            // Read once, because libcurl would read it at each request and race with `setenv` elsewhere in the process.
            proxy = .fromEnvironment(isSecure: false)
            secureProxy = .fromEnvironment(isSecure: true)
            proxyExceptions = CurlProxy.exceptionsOfEnvironment
        case .none:
            proxy = .none
            secureProxy = .none
            proxyExceptions = ""
        case .url(let url, let exceptions):
            proxy = CurlProxy(url.absoluteString, in: "CurlTransport's proxy")
            secureProxy = proxy
            // An empty string overrides `no_proxy` in the environment.
            proxyExceptions = exceptions.joined(separator: ",")
        }
        // Hosts that bypass the proxy must not wait for each other. A SOCKS proxy has a connection for each host.
        mayUseProxy = !proxy.address.isEmpty && proxyExceptions.isEmpty && !proxy.isSOCKS
        if case .insecureTrustAll = configuration.tls.trust {
            trustDependsOnHost = true
        } else {
            trustDependsOnHost = !configuration.tls.pins.isEmpty
        }
    }
}

extension CurlSettings {
    /// The properties that the connections for a call share.
    ///
    /// A streamed body uses HTTP/1.1 on its own connection. Over HTTP/2, libcurl lets the server send 32 MiB ahead of a
    /// slow reader, and buffers them in memory.
    func hostKey(of call: CurlCall) -> CurlConnectionQueue.Host.Key {
        guard call.address.isSecure else {
            return CurlConnectionQueue.Host.Key(origin: mayUseProxy ? "proxy" : call.address.origin, canShare: false)
        }
        let canShare = configuration.allowsHTTP2 && !call.isStreamed
        return CurlConnectionQueue.Host.Key(origin: call.address.origin, canShare: canShare)
    }
}

extension CurlSettings {
    /// The minimum TLS version, as libcurl's constant.
    var minimumVersion: Int {
        Int(configuration.tls.requiresTLS13 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2)
    }
}
#endif
