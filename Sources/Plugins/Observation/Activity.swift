// SPDX-License-Identifier: MIT
import TargetKit

/// A call's part of an activity. It ends once, with the call or when nothing retains it: a shared exchange has no
/// `didFinish`, so its part ends when the context releases it.
final class Activity: Sendable {
    private let onEnd: Locked<(@Sendable () -> Void)?>

    /// - Parameter onEnd: Called once.
    init(onEnd: @escaping @Sendable () -> Void) {
        self.onEnd = Locked(onEnd)
    }

    deinit {
        end()
    }

    /// Ends the part, unless it already ended.
    func end() {
        let action = onEnd.withLock { action in
            defer { action = nil }
            return action
        }
        action?()
    }
}
