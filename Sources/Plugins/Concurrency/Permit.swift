// SPDX-License-Identifier: MIT
import TargetKit

/// The meaning of an attempt's end for its server.
package enum Verdict: Sendable {
    case worked
    case failed
    /// None, because the attempt was cancelled, wasn't sent, or failed for an unrelated reason.
    case nothing
}

/// A resource that a call or an attempt holds until its end, such as an admission to a circuit, a slot of a limit, or a
/// part of an activity. It ends once, with the attempt, or when both the call and its exchange have released it.
package final class Permit<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var sentAt: Duration?
        var hasEnded = false
    }

    package let value: Value
    private let state = Locked(State())
    private let onEnd: @Sendable (Value, Verdict) -> Void

    /// - Parameter onEnd: Called once; with `nothing` if the permit is released.
    package init(_ value: Value, onEnd: @escaping @Sendable (Value, Verdict) -> Void) {
        self.value = value
        self.onEnd = onEnd
    }

    deinit {
        end(.nothing)
    }

    /// The time when the attempt was sent; `nil` if it wasn't.
    package var sentAt: Duration? {
        get { state.withLock(\.sentAt) }
        set { state.withLock { $0.sentAt = newValue } }
    }

    /// Ends the permit unless it already ended.
    package func end(_ verdict: Verdict) {
        let isFirst = state.withLock { state in
            defer { state.hasEnded = true }
            return !state.hasEnded
        }
        if isFirst { onEnd(value, verdict) }
    }
}
