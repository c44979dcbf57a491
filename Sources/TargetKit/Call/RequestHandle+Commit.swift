// SPDX-License-Identifier: MIT

extension RequestHandle {
    /// Whether the call can no longer be interrupted, because its file is at its destination or is being moved there.
    var isCommitted: Bool { state.withLock(\.isCommitted) }

    /// Prevents interruptions from now on; returns `false` if the call is already interrupted.
    func commit() -> Bool {
        state.withLock { state in
            guard state.interruption == nil else { return false }
            state.isCommitted = true
            return true
        }
    }

    /// Allows interruptions again, because the call continues. Applies an interruption that arrived in between.
    func revokeCommit() {
        let late = state.withLock { state -> Interruption? in
            guard state.isCommitted else { return nil }
            defer { (state.isCommitted, state.lateInterruption) = (false, nil) }
            return state.lateInterruption
        }
        if let late { interrupt(late) }
    }
}
