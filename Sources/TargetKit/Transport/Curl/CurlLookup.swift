// SPDX-License-Identifier: MIT
#if os(Linux)
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The lookup of a host's addresses by the resolver of a ``CurlTransport``.
struct CurlLookup: Sendable {
    let resolver: @Sendable (_ host: String, _ port: Int) async -> [String]?
    /// Otherwise, libcurl keeps an entry until another one replaces it, and reads the plus sign as a part of the name.
    var expiresEntries = CurlLibrary.expiresHostEntries

    /// Returns the entries with the addresses for libcurl's cache of names; none if the host is an address.
    ///
    /// Without addresses, they remove those of an earlier answer. The resolver's task is cancelled with the call,
    /// which doesn't wait for it.
    func entries(for url: URL, within limit: Duration) async throws(TransportFailure) -> [String] {
        // libcurl decodes the name. Only an IPv6 address has colons that aren't escaped (RFC 3986 §3.2.2).
        guard url.host(percentEncoded: true)?.contains(":") == false, let name = url.host(percentEncoded: false) else {
            return []
        }
        let host = name.hasSuffix(".") ? String(name.dropLast()) : name
        guard !Self.endsInNumber(host) else { return [] }
        guard host.utf8.allSatisfy({ $0 > 0x20 && $0 != UInt8(ascii: ":") }) else { throw .missingHost }
        let port = url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80)
        let outcome = SharedOutcome<Result<[String]?, TransportFailure>>()
        let lookup = Task { [resolver] in outcome.settle(.success(await resolver(host, port))) }
        let timer = Task {
            guard (try? await ContinuousClock().wait(for: limit)) != nil else { return }
            let words = "the request timed out: the transport's resolver didn't return within \(limit)"
            outcome.settle(.failure(.quotable(.timedOut, words)))
        }
        defer {
            lookup.cancel()
            timer.cancel()
        }
        guard let found = try? await outcome.value() else { throw .cancelled }
        let addresses = try found.get()
        let entry = try Self.entry(port, addresses)
        let sign = addresses == nil ? "-" : expiresEntries ? "+" : ""
        // Some versions look up a name with the dot at its end, others without it.
        return (host == name ? [host] : [host, name]).map { sign + $0 + entry }
    }

    /// The part of an entry after the name. libcurl removes an entry with a plus sign when its time is up.
    private static func entry(_ port: Int, _ addresses: [String]?) throws(TransportFailure) -> String {
        guard let addresses else { return ":\(port)" }
        guard !addresses.isEmpty else {
            throw .quotable(.cannotFindHost, "the host couldn't be found: the transport's resolver returned no address")
        }
        let bare = addresses.map { $0.hasPrefix("[") && $0.hasSuffix("]") ? String($0.dropFirst().dropLast()) : $0 }
        guard bare.allSatisfy(isAddress) else {
            throw .quotable(
                .cannotFindHost,
                "the transport's resolver returned something else than addresses; return IPv4 and IPv6 addresses, such as "
                    + "192.0.2.1 and 2001:db8::1"
            )
        }
        return ":\(port):" + bare.map { $0.contains(":") ? "[\($0)]" : $0 }.joined(separator: ",")
    }

    /// Whether the text is an IPv4 or IPv6 address.
    private static func isAddress(_ text: String) -> Bool {
        var bytes = in6_addr()
        return inet_pton(AF_INET, text, &bytes) == 1 || inet_pton(AF_INET6, text, &bytes) == 1
    }

    /// Whether a host is an IPv4 address by its last part, as in `127.1` and `0x7f000001`, which libcurl reads itself.
    /// No top-level domain is a number (URL standard, "ends in a number").
    private static func endsInNumber(_ host: String) -> Bool {
        let bytes = Array(host.asciiLowercased.utf8)
        let last = bytes[(bytes.lastIndex(of: UInt8(ascii: ".")).map { $0 + 1 } ?? 0)...]
        if last.starts(with: "0x".utf8) { return last.dropFirst(2).allSatisfy { $0.hexadecimalDigit != nil } }
        return !last.isEmpty && last.allSatisfy(\.isDigit)
    }
}
#endif
