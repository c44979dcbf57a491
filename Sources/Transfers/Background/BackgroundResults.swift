// SPDX-License-Identifier: MIT
import TargetKit

/// The results of transfers that were delivered to their owners, such as a `TransferQueue`, but aren't stored yet.
final class BackgroundResults: Sendable {
    private struct State: Sendable {
        /// The transfers whose owners store their results.
        var held: Set<String> = []
        /// Those that have received their responses.
        var delivered: Set<String> = []
        var actions: [@Sendable () -> Void] = []
    }

    private let state = Locked(State())

    /// Notes that the owner of a transfer stores its result, and releases it then.
    func hold(_ transferID: String) {
        perform { $0.held.insert(transferID) }
    }

    /// Notes that a transfer receives its response.
    func deliver(_ transferID: String) {
        perform { state in
            if state.held.contains(transferID) { state.delivered.insert(transferID) }
        }
    }

    /// Notes that the result of a transfer is stored.
    func release(_ transferID: String) {
        perform { state in
            state.held.remove(transferID)
            state.delivered.remove(transferID)
        }
    }

    /// Calls an action when the results of all transfers that have received their responses are stored.
    func whenStored(_ action: @escaping @Sendable () -> Void) {
        perform { $0.actions.append(action) }
    }

    private func perform(_ change: (inout State) -> Void) {
        let actions = state.withLock { state -> [@Sendable () -> Void] in
            change(&state)
            guard state.delivered.isEmpty else { return [] }
            defer { state.actions = [] }
            return state.actions
        }
        for action in actions { action() }
    }
}
