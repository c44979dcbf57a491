// SPDX-License-Identifier: MIT

/// Delivers progress to a call in the order in which it was added. No lock is held during delivery.
final class ProgressListener: Sendable {
    private struct State: Sendable {
        var pending: [TransferProgress] = []
        var isDelivering = false
    }

    private let receive: @Sendable (TransferProgress) -> Void
    private let state = Locked(State())

    init(_ receive: @escaping @Sendable (TransferProgress) -> Void) {
        self.receive = receive
    }

    func add(_ steps: [TransferProgress]) {
        state.withLock { $0.pending += steps }
    }

    /// Delivers the added progress, unless another thread is delivering.
    func deliver() {
        while true {
            let steps = state.withLock { state -> [TransferProgress] in
                if state.isDelivering { return [] }
                defer { state.pending = [] }
                state.isDelivering = !state.pending.isEmpty
                return state.pending
            }
            if steps.isEmpty { return }
            for step in steps { receive(step) }
            state.withLock { $0.isDelivering = false }
        }
    }
}
