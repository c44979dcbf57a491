// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

/// The proxy that libcurl uses for a URL scheme.
struct CurlProxy {
    /// Replaces an invalid address, because libcurl's error message quotes its user name and password.
    private static let unusable = "unusable://proxy"

    /// The address passed to libcurl; empty for no proxy.
    let address: String
    /// The reason why the address is invalid.
    let addressFailure: CurlFailure?

    static let none = Self(checked: "", addressFailure: nil)

    var isSOCKS: Bool { address.lowercased().hasPrefix("socks") }

    /// Creates a proxy with an address. The default scheme is `http`.
    ///
    /// - Parameter place: Where the address was specified, for the error.
    init(_ address: String, in place: String) {
        let reason = Self.problem(in: address)
        addressFailure = reason.map { reason in
            CurlFailure.quotable(
                .badURL,
                message:
                    "the proxy in \(place) can't be used: \(reason); use scheme://user:password@host:port, with "
                    + "special characters in the user and password percent-encoded"
            )
        }
        self.address = reason == nil ? address : Self.unusable
    }

    private init(checked address: String, addressFailure: CurlFailure?) {
        self.address = address
        self.addressFailure = addressFailure
    }

    /// The failure to report instead of libcurl's message if the address is invalid.
    func failure(describedAs words: String) -> CurlFailure? {
        words.contains(Self.unusable) ? addressFailure : nil
    }
}

extension CurlProxy {
    private static var schemes: [String] {
        let features = curl_version_info(CURLVERSION_FIRST)?.pointee.features ?? 0
        let secure = features & CURL_VERSION_HTTPS_PROXY != 0 ? ["https"] : []
        return ["http"] + secure + ["socks4", "socks4a", "socks5", "socks5h"]
    }

    private static func problem(in address: String) -> String? {
        var rest = Substring(address)
        if let mark = rest.range(of: "://") {
            let schemes = schemes
            guard schemes.contains(rest[..<mark.lowerBound].lowercased()) else {
                return "its scheme isn't one of \(schemes.joined(separator: ", "))"
            }
            rest = rest[mark.upperBound...]
        }
        guard rest.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            return "it contains a space or control character"
        }
        let authority = rest.prefix { !"/?#".contains($0) }
        guard !rest[authority.endIndex...].contains(where: { "@?#".contains($0) }) else {
            return "it has an @, ? or # after its host"
        }
        return problem(
            inHost: authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        )
    }

    private static func problem(inHost place: Substring) -> String? {
        var host = place
        if host.hasPrefix("[") {
            guard let end = host.firstIndex(of: "]") else { return "the ] of its host is missing" }
            host = host[...end]
        } else {
            host = host.prefix { $0 != ":" }
        }
        guard !host.isEmpty, host != "[]" else { return "it has no host" }
        let port = place[host.endIndex...]
        if port.isEmpty { return nil }
        let isNumber = port.first == ":" && port.dropFirst().allSatisfy { ("0"..."9").contains($0) }
        guard isNumber, (1...65_535).contains(Int(port.dropFirst()) ?? 0) else {
            return "its port isn't a number from 1 to 65535"
        }
        return nil
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
