// SPDX-License-Identifier: MIT
import TargetKit

/// A change of the cache that waits until the calls that received a response accept it. If one of them rejects the
/// response, the change isn't made, or is undone.
final class CacheChange: Sendable {
    private enum State: Sendable {
        case waiting, beginning, made, rejected
    }

    private let state: Locked<State>
    private let make: @Sendable () -> Void
    private let undo: @Sendable () -> Void

    /// Creates a change that waits for the decision.
    init(make: @escaping @Sendable () -> Void, undo: @escaping @Sendable () -> Void) {
        state = Locked(.waiting)
        self.make = make
        self.undo = undo
    }

    /// Creates a change for a response that is already stored.
    init(undo: @escaping @Sendable () -> Void) {
        state = Locked(.made)
        make = {}
        self.undo = undo
    }

    func accept() {
        let begins = state.withLock { state in
            defer { if state == .waiting { state = .beginning } }
            return state == .waiting
        }
        guard begins else { return }
        make()
        let isRejected = state.withLock { state in
            defer { if state == .beginning { state = .made } }
            return state == .rejected
        }
        if isRejected { undo() }
    }

    func reject() {
        let isMade = state.withLock { state in
            // A change that is beginning is undone by `accept`.
            defer { state = .rejected }
            return state == .made
        }
        if isMade { undo() }
    }
}

extension [CacheChange] {
    func decide(isAccepted: Bool) {
        for change in self { isAccepted ? change.accept() : change.reject() }
    }
}
