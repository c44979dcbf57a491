// SPDX-License-Identifier: MIT
import TargetKit

/// The `underlying` error of a call that a `CircuitBreakerPlugin` rejects because earlier calls failed. The stage is
/// `.request`, and the kind `.server`.
///
/// ```swift
/// catch {
///     if let open = error.underlying as? CircuitOpenError { banner.show(for: open.remaining) }
/// }
/// ```
public struct CircuitOpenError: Error, Sendable, Hashable {
    /// The circuit, for example `https://shop.example`, or the result of the plugin's key closure.
    public let key: String
    /// The remaining time for which calls are rejected; zero while a probe is in flight, and for an isolated circuit.
    public let remaining: Duration
    /// Whether the app isolated the circuit. It then rejects calls until it is reset.
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
        if isIsolated { return "calls to \(key) are rejected because the app isolated the circuit" }
        let problem = "calls to \(key) are rejected because earlier calls failed"
        guard remaining > .zero else { return problem + "; a probe is in flight" }
        return problem + "; the next call is sent in \(remaining.wholeSeconds) s"
    }

    /// The service is currently unavailable.
    package var kind: TargetKitError.Kind? { .server }

    /// Service Unavailable (RFC 9110 §15.6.4).
    package var statusCode: Int? { 503 }
}

extension Duration {
    /// Whole seconds, rounded up so that a remainder is never zero.
    package var wholeSeconds: Int64 {
        let (seconds, attoseconds) = LongestWait.limited(self).components
        return seconds + (attoseconds > 0 ? 1 : 0)
    }
}
