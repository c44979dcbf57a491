// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// A call wasn't sent because the calls before it have failed: the `underlying` error, with stage `.request` and kind
/// `.server`, of a call that a ``CircuitBreakerPlugin`` refuses.
///
/// ```swift
/// catch {
///     if let open = error.underlying as? CircuitOpenError { banner.show(for: open.remaining) }
/// }
/// ```
public struct CircuitOpenError: Error, Sendable, Hashable {
    /// The circuit: `https://shop.example`, or what the plugin's key closure returns.
    public let key: String
    /// How long calls are still refused; zero while a probe is in flight, and for an isolated circuit.
    public let remaining: Duration
    /// Whether the app isolated the circuit. It then refuses calls until it is reset.
    public let isIsolated: Bool

    package init(key: String, remaining: Duration, isIsolated: Bool = false) {
        self.key = key
        self.remaining = remaining
        self.isIsolated = isIsolated
    }
}

extension CircuitOpenError: DescribedError, ErrorWithKind {
    /// The problem in one line, for the developer.
    package var redactedDescription: String {
        if isIsolated { return "calls to \(key) are refused because the app has isolated its circuit" }
        let problem = "calls to \(key) are refused because earlier calls have failed"
        guard remaining > .zero else { return problem + "; a probe is in flight" }
        return problem + "; the next call is sent in \(remaining.wholeSeconds) s"
    }

    /// The service is unavailable at the moment.
    package var kind: TargetKitError.Kind? { .server }

    /// Service Unavailable (RFC 9110 §15.6.4).
    package var statusCode: Int? { 503 }
}

extension Duration {
    /// Whole seconds, rounded up so that a remainder is never zero.
    var wholeSeconds: Int64 {
        let (seconds, attoseconds) = LongestWait.limited(self).components
        return seconds + (attoseconds > 0 ? 1 : 0)
    }
}
