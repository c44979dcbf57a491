// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// A call that was not sent, because those before it have failed: the `underlying` error, with stage `.request` and kind
/// `.server`, when a ``CircuitBreakerPlugin`` holds calls back.
///
/// It is not tried again by itself, since it failed before it was sent. Trying it again before ``until`` brings the same.
///
/// ```swift
/// catch {
///     if let open = error.underlying as? CircuitOpen { banner.show(until: open.until) }
/// }
/// ```
public struct CircuitOpen: Error, Sendable, Hashable {
    /// Whose circuit it is: `https://shop.example`, or what the plugin's key closure says.
    public var key: String
    /// How long calls are still held back; zero while it is being seen whether the server works again.
    public var remaining: Duration
    /// The time of day at which the next call is let through.
    public var until: Date

    /// The error of a call that was held back.
    public init(key: String, remaining: Duration, until: Date) {
        self.key = key
        self.remaining = remaining
        self.until = until
    }
}

extension CircuitOpen: LocalizedError, DeveloperError, ErrorWithKind, CustomStringConvertible {
    /// What happened, in one line for the developer.
    public var description: String {
        let words = "calls to \(key) are held back, since those before have failed"
        guard remaining > .zero else { return words + "; it is being seen whether they work again" }
        return words + "; the next is let through in \(remaining.wholeSeconds) s"
    }

    /// The same line. For the person there is the text of the `TargetKitError` around it.
    public var errorDescription: String? { description }

    /// The service is unavailable, for now.
    package var kind: TargetKitError.Kind { .server }

    /// Service Unavailable (RFC 9110 §15.6.4).
    package var statusCode: Int? { 503 }
}

extension Duration {
    /// Rounded up, so that nothing that remains is zero.
    fileprivate var wholeSeconds: Int64 {
        let (seconds, attoseconds) = LongestWait.limited(self).components
        return seconds + (attoseconds > 0 ? 1 : 0)
    }
}
