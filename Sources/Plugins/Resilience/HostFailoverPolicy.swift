// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// When a host of a ``HostFailoverPlugin`` has failed, and when the first one is tried again.
public struct HostFailoverPolicy: Sendable, ServerFailures {
    package var statuses: Set<Int>
    package var errorCodes: Set<URLError.Code>
    package var movesNonIdempotentCallsOnStatus: Bool
    package var probeAfter: Duration
    package var isAvailable: (@Sendable (_ host: URL) -> Bool)?

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - statuses: The status codes that are failures of the host; default: 502, 503, 504. Add 403 only if a gateway
    ///     in front of the host sends it, since one forbidden call would move all calls.
    ///   - errorCodes: The `URLError` codes that are failures of the host. Default `nil`: the host wasn't found,
    ///     refused the connection, failed the TLS handshake, lost the connection or didn't respond in time. An offline
    ///     device isn't a failure of a host. If calls have timeouts that a healthy host can exceed, pass codes without
    ///     `.timedOut`: otherwise one slow call moves all calls.
    ///   - movesNonIdempotentCallsOnStatus: Whether one of the statuses also moves a call that isn't safe to repeat,
    ///     such as a POST without an `Idempotency-Key`. Default: `false`, since a server that answers may have
    ///     processed the request. Pass `true` if only a gateway sends these statuses, before it forwards a request.
    ///   - probeAfter: How long after its failure the first host is tried again; default: 60 seconds.
    ///   - isAvailable: Whether a host may be used now; called before each attempt for each host. `false` counts as a
    ///     failure of the host. Default `nil`: all hosts may be used. A host that a ``CircuitBreakerPlugin`` of the
    ///     provider refuses is never used.
    public init(
        statuses: Set<Int> = [502, 503, 504],
        errorCodes: Set<URLError.Code>? = nil,
        movesNonIdempotentCallsOnStatus: Bool = false,
        probeAfter: Duration = .seconds(60),
        isAvailable: (@Sendable (_ host: URL) -> Bool)? = nil
    ) {
        self.statuses = statuses
        self.errorCodes = errorCodes ?? ConnectionFailure.ofServer
        self.movesNonIdempotentCallsOnStatus = movesNonIdempotentCallsOnStatus
        self.probeAfter = probeAfter
        self.isAvailable = isAvailable
    }
}

/// One of the hosts of a ``HostFailoverPlugin``.
struct HostAddress: Sendable {
    /// The URL in the app's list.
    let url: URL
    /// Scheme and authority, byte for byte: `https://b.example:8443`.
    private let start: String

    /// `nil` for a URL that isn't http or https, or has no host.
    init?(_ url: URL) {
        guard ServerOrigin(url) != nil else { return nil }
        self.url = url
        let text = url.absoluteString
        start = String(text[..<Self.endOfAuthority(in: text)])
    }

    /// The URL at this host, with path and query byte for byte as they were; `nil` if it has no host to replace.
    func moving(_ url: URL) -> URL? {
        let text = url.absoluteString
        let end = Self.endOfAuthority(in: text)
        guard end > text.startIndex else { return nil }
        return URL(escaped: start + text[end...])
    }

    /// Where the path begins (RFC 3986 §3.2); the start of a text without an authority.
    private static func endOfAuthority(in text: String) -> String.Index {
        guard let slashes = text.range(of: "://") else { return text.startIndex }
        return text[slashes.upperBound...].firstIndex { "/?#".contains($0) } ?? text.endIndex
    }
}

extension HostAddress: ReflectsDescription {
    var description: String { RedactedURL(url).description }
}
