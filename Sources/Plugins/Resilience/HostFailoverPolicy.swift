// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// When a ``HostFailoverPlugin`` leaves a host, and when it comes back.
public struct HostFailoverPolicy: Sendable {
    /// The status codes by which a host shows that it does not serve. Default 403, 502, 503.
    public var statuses: Set<Int> = [403, 502, 503]
    /// The codes of `URLError` that do. Default: the host is not found, takes no connection, agrees on no TLS, has lost the
    /// connection, or takes too long. That the device is offline is no host's fault. Where calls have timeouts that a host in
    /// good health may miss, `.timedOut` does not belong here: one call that is slow moves all.
    public var errorCodes: Set<URLError.Code> = ConnectionFailure.beforeSending.union(ConnectionFailure.whileExchanging)
    /// Whether one of the ``statuses`` moves also a call that must not arrive twice, a POST without `Idempotency-Key` for one.
    /// Default no: a server that answers may have done something first. `true` for statuses that only a gateway gives before
    /// it has passed the call on.
    public var movesUnsafeCallsOnStatus = false
    /// How long after it has failed the first host is tried again. Default 60 s.
    public var probeAfter: Duration = .seconds(60)
    /// Whether a host may be used now, asked before each attempt about each host; `false` counts like a failure of it. Default:
    /// yes. With a circuit breaker: `{ breaker.admits($0) }`.
    public var isAvailable: (@Sendable (_ host: URL) -> Bool)?

    /// The defaults.
    public init() {}
}

/// One of the hosts between which calls are moved.
struct HostAddress: Sendable {
    /// As the app has named it.
    let url: URL
    /// `https://b.example:8443`, byte for byte.
    private let start: String

    /// `nil` for a URL that cannot be called.
    init?(_ url: URL) {
        guard ServerOrigin(url) != nil else { return nil }
        self.url = url
        let text = url.absoluteString
        start = String(text[..<Self.endOfAuthority(in: text)])
    }

    /// A URL at this host, with path and query byte for byte as they were; `nil` when it has no host to be replaced.
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

extension HostAddress: CustomStringConvertible, CustomReflectable {
    var description: String { RedactedURL(url).description }
    var customMirror: Mirror { Mirror(describing: self) }
}
