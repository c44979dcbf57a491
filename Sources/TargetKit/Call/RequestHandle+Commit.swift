// SPDX-License-Identifier: MIT

extension RequestHandle {
    /// Whether the call can no longer be interrupted, because its file is, or is just being, put in place.
    var isCommitted: Bool { state.withLock(\.isCommitted) }

    /// From now on, the call cannot be interrupted; returns `false` if it has been.
    func commit() -> Bool {
        state.withLock { state in
            guard state.interruption == nil else { return false }
            state.isCommitted = true
            return true
        }
    }

    /// Records that what the call waited for cannot be undone, although the call has been interrupted.
    func commitLate() {
        state.withLock { $0.isCommitted = true }
    }

    /// The call can be interrupted again, because it goes on. It is, if it was meanwhile.
    func revokeCommit() {
        let late = state.withLock { state -> Interruption? in
            guard state.isCommitted else { return nil }
            defer { (state.isCommitted, state.lateInterruption) = (false, nil) }
            return state.lateInterruption
        }
        if let late { interrupt(late) }
    }
}
