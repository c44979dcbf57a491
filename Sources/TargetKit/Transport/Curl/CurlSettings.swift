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

    /// The minimum TLS version, as libcurl's constant.
    var minimumVersion: Int {
        Int(configuration.tls.requiresTLS13 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2)
    }
}

/// The proxy that libcurl uses for a URL scheme.
struct CurlProxy {
    /// Replaces an invalid address.
    private static let unusable = "unusable://proxy"

    /// The address passed to libcurl; empty for no proxy.
    let address: String
    /// Where the address was specified.
    private let place: String
    /// The reason why the address is invalid.
    private let problem: String?

    static let none = Self("", in: "")

    var isSOCKS: Bool { address.lowercased().hasPrefix("socks") }

    /// Creates a proxy with an address. The default scheme is `http`.
    ///
    /// - Parameter place: Where the address was specified, for the error.
    init(_ address: String, in place: String) {
        self.place = place
        problem = Self.problem(in: address)
        self.address = problem == nil ? address : Self.unusable
    }

    /// The failure to report instead of libcurl's message if the address is invalid. libcurl quotes the address, with
    /// its password.
    func failure(describedAs words: String) -> TransportFailure? {
        guard words.contains(Self.unusable) || words.contains("Unsupported proxy") else { return nil }
        return .quotable(
            .badURL,
            "the proxy in \(place) can't be used: \(problem ?? "libcurl can't parse it"); use "
                + "scheme://user:password@host:port, with special characters in the user and password percent-encoded"
        )
    }
}

extension CurlProxy {
    private static var schemes: [String] {
        let features = curl_version_info(CURLVERSION_FIRST)?.pointee.features ?? 0
        let secure = features & CURL_VERSION_HTTPS_PROXY != 0 ? ["https"] : []
        return ["http"] + secure + ["socks4", "socks4a", "socks5", "socks5h"]
    }

    private static func problem(in address: String) -> String? {
        if address.isEmpty { return nil }
        let mark = address.range(of: "://")
        let (schemes, scheme) = (schemes, mark.map { address[..<$0.lowerBound].lowercased() } ?? "http")
        guard schemes.contains(scheme) else { return "its scheme isn't one of \(schemes.joined(separator: ", "))" }
        let rest = address[(mark?.upperBound ?? address.startIndex)...]
        let place = rest.lastIndex(of: "@").map { rest[rest.index(after: $0)...] } ?? rest
        // The user is left out, because libcurl also accepts characters there that a URL can't contain.
        let url = URL(string: "http://\(place)", encodingInvalidCharacters: false)
        let user = rest[..<place.startIndex].dropLast()
        let isInUser = user.utf8.contains { $0 <= 0x20 || $0 == 0x7F || "/?#@".utf8.contains($0) }
        guard !isInUser, let url, let host = url.host, isHost(host), url.query == nil, url.fragment == nil else {
            return "it has no valid host"
        }
        return (1...65_535).contains(url.port ?? 80) ? nil : "its port isn't a number from 1 to 65535"
    }

    /// Whether libcurl accepts the bytes of the host.
    private static func isHost(_ host: String) -> Bool {
        !host.isEmpty && host.utf8.allSatisfy { $0.isLetterOrDigit || ".-_:[]%".utf8.contains($0) }
    }
}

extension CurlProxy {
    /// The environment's proxy for `http` or `https`, by libcurl's rules. An empty variable means no proxy.
    /// `http_proxy` is read only in lowercase, because CGI programs receive a request's `Proxy` field as `HTTP_PROXY`.
    static func fromEnvironment(isSecure: Bool) -> Self {
        let names = (isSecure ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]) + ["all_proxy", "ALL_PROXY"]
        for name in names {
            if let address = variable(name) { return Self(address, in: "the environment's \(name)") }
        }
        return .none
    }

    /// The hosts that the environment excludes from proxying.
    static var exceptionsOfEnvironment: String { variable("no_proxy") ?? variable("NO_PROXY") ?? "" }

    private static func variable(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}
#endif
