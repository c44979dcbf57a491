// SPDX-License-Identifier: MIT
#if os(Linux)
import Glibc

/// The lookup of a host's addresses by the resolver of a ``CurlTransport``.
struct CurlLookup: Sendable {
    private enum Outcome: Sendable {
        case addresses([String]?)
        case timedOut
    }

    let resolver: @Sendable (_ host: String, _ port: Int) async -> [String]?
    /// Otherwise, libcurl keeps an entry until another one replaces it, and reads the plus sign as a part of the name.
    var expiresEntries = CurlLibrary.expiresHostEntries

    /// Returns the entries with the addresses for libcurl's cache of names; none if the host is an address.
    ///
    /// Without addresses, they remove those of an earlier answer. The resolver's task is cancelled with the call,
    /// which doesn't wait for it.
    func entries(for url: URL, within limit: Duration) async throws(TransportFailure) -> [String] {
        // libcurl decodes the name.
        guard let name = url.host(percentEncoded: false), !Self.isAddress(name) else { return [] }
        let host = name.hasSuffix(".") ? String(name.dropLast()) : name
        guard host.utf8.allSatisfy({ $0 > 0x20 && $0 != UInt8(ascii: ":") }) else { throw .missingHost }
        let port = url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80)
        let outcome = SharedOutcome<Outcome>()
        let lookup = Task { [resolver] in outcome.settle(.addresses(await resolver(host, port))) }
        let timer = Task {
            if (try? await ContinuousClock().wait(for: limit)) != nil { outcome.settle(.timedOut) }
        }
        defer {
            lookup.cancel()
            timer.cancel()
        }
        guard let found = try? await outcome.value() else { throw .cancelled }
        switch found {
        case .timedOut:
            throw .quotable(.timedOut, "the request timed out: the transport's resolver didn't return within \(limit)")
        case .addresses(let addresses):
            // Some versions look up a name with the dot at its end, others without it.
            let entry = try Self.entry(port, addresses)
            let sign = addresses == nil ? "-" : expiresEntries ? "+" : ""
            return Set([host, name]).map { sign + $0 + entry }
        }
    }

    /// The part of an entry after the name. libcurl removes an entry with a plus sign when its time is up.
    private static func entry(_ port: Int, _ addresses: [String]?) throws(TransportFailure) -> String {
        guard let addresses else { return ":\(port)" }
        guard !addresses.isEmpty else {
            throw .quotable(.cannotFindHost, "the host couldn't be found: the transport's resolver returned no address")
        }
        guard addresses.allSatisfy(isAddress) else {
            throw .quotable(
                .cannotFindHost,
                "the transport's resolver returned something else than addresses; return IPv4 and IPv6 addresses, such as "
                    + "192.0.2.1 and 2001:db8::1"
            )
        }
        return ":\(port):" + addresses.map { $0.contains(":") ? "[\($0)]" : $0 }.joined(separator: ",")
    }

    /// Whether the text is an IPv4 or IPv6 address.
    private static func isAddress(_ text: String) -> Bool {
        var bytes = in6_addr()
        let bare = text.hasPrefix("[") ? String(text.dropFirst().dropLast()) : text
        return inet_pton(AF_INET, bare, &bytes) == 1 || inet_pton(AF_INET6, bare, &bytes) == 1
    }
}
#endif
