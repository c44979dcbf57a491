// SPDX-License-Identifier: MIT
import TargetKit

/// The conditions under which a host of a ``HostFailoverPlugin`` has failed, and the first host is tried again.
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
    ///     in front of the host sends it; otherwise, one forbidden call would change the host of all calls.
    ///   - errorCodes: The `URLError` codes that are failures of the host. Default `nil`: the host wasn't found, the
    ///     connection was refused or lost, the TLS handshake failed, or the request timed out. An offline device isn't
    ///     a failure of a host. If a healthy host can exceed the timeouts of calls, omit `.timedOut`; otherwise, one
    ///     slow call changes the host of all calls.
    ///   - movesNonIdempotentCallsOnStatus: Whether calls that aren't safe to retry, such as a POST without an
    ///     `Idempotency-Key`, are also sent to the next host after one of the statuses. Default: `false`, because a
    ///     server that responds may have processed the request. Pass `true` if only a gateway sends these statuses,
    ///     before it forwards a request.
    ///   - probeAfter: The time after its failure at which the first host is tried again; default: 60 seconds.
    ///   - isAvailable: Returns whether a host may be used; called before each attempt for each host. `false` counts as
    ///     a failure of the host. Default `nil`: all hosts may be used. A host whose calls a ``CircuitBreakerPlugin``
    ///     of the provider rejects is never used.
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
    /// The unchanged scheme and authority, for example `https://b.example:8443`.
    private let start: String

    /// Returns `nil` for a URL that isn't http or https, or has no host.
    init?(_ url: URL) {
        guard ServerOrigin(url) != nil else { return nil }
        self.url = url
        let text = url.absoluteString
        start = String(text[..<Self.endOfAuthority(in: text)])
    }

    /// The URL at this host, with unchanged path and query; `nil` if it has no host to replace.
    func moving(_ url: URL) -> URL? {
        let text = url.absoluteString
        let end = Self.endOfAuthority(in: text)
        guard end > text.startIndex else { return nil }
        return URL(escaped: start + text[end...])
    }

    /// The start of the path (RFC 3986 §3.2), or of the text if there is no authority.
    private static func endOfAuthority(in text: String) -> String.Index {
        guard let slashes = text.range(of: "://") else { return text.startIndex }
        return text[slashes.upperBound...].firstIndex { "/?#".contains($0) } ?? text.endIndex
    }
}

extension HostAddress: ReflectsDescription {
    var description: String { RedactedURL(url).description }
}

/// Hosts with the same resources, so that a response of one of them is a response of all.
package struct ReplicaHosts: Sendable {
    private let hosts: [HostAddress]

    init(_ hosts: [HostAddress]) {
        self.hosts = hosts
    }

    /// The URL at the first host, if it is at one of the hosts; otherwise the URL.
    package func canonical(_ url: URL) -> URL {
        let origin = ServerOrigin(url)
        guard let first = hosts.first, hosts.contains(where: { ServerOrigin($0.url) == origin }) else { return url }
        return first.moving(url) ?? url
    }
}

/// The hosts of the plugin that chose the host of the request.
package enum ReplicaHostsKey: RequestContextKey { package typealias Value = ReplicaHosts }
