// SPDX-License-Identifier: MIT
import TargetKit

/// The pauses of a call. A pause ends the exchange in progress; the next one waits until the call is resumed.
final class Pauses: Sendable {
    private struct State: Sendable {
        var isPossible = false
        /// The number of times that the call was paused.
        var count = 0
        /// The count before the last request.
        var knownCount = 0
        /// Whether the response to the last request arrived, so that a pause doesn't end its exchange.
        var hasResponse = false
        /// Cancels the exchange in progress.
        var cancel: (@Sendable () -> Void)?
        /// Whether a pause ends the exchange in progress, or ended it.
        var endsExchange: Bool { count > knownCount && !hasResponse }
    }

    private let state = Locked(State())

    /// Whether the call was paused since the last ``wait(over:)``.
    var hasPaused: Bool { state.withLock { $0.count > $0.knownCount } }

    /// Sets whether the caller can pause the call from now on. If not, a pause doesn't end the exchange in progress.
    func setPossible(_ isPossible: Bool, over exchanges: CallExchanges) {
        guard isPossible else {
            exchanges.onPause(nil)
            return state.withLock { state in
                state.isPossible = false
                state.knownCount = state.count
            }
        }
        state.withLock { $0.isPossible = true }
        exchanges.onPause { self.note() }
    }

    private func note() {
        let cancel = state.withLock { state -> (@Sendable () -> Void)? in
            // Pausing may have become impossible just now.
            guard state.isPossible else { return nil }
            state.count += 1
            return state.endsExchange ? state.cancel : nil
        }
        cancel?()
    }

    /// Waits while the call is paused, before a request.
    func wait(over exchanges: CallExchanges) async throws {
        var isPaused = true
        while isPaused {
            let count = state.withLock(\.count)
            try await exchanges.waitWhilePaused()
            // A pause after the wait ends the exchange.
            isPaused = state.withLock { state in
                (state.knownCount, state.hasResponse) = (count, false)
                return state.count > count
            }
        }
    }

    /// Runs an exchange, which a pause cancels until ``takeResponse()``.
    func run(_ exchange: @escaping @Sendable () async throws -> Response) async throws -> Response {
        let task = Task.startingNow { await Result.of(exchange) }
        let isPaused = state.withLock { state in
            state.cancel = { task.cancel() }
            return state.endsExchange
        }
        if isPaused { task.cancel() }
        defer { state.withLock { $0.cancel = nil } }
        return try await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }.get()
    }

    /// Notes that the response arrived.
    ///
    /// - Throws: `CancellationError` if a pause ended the exchange before.
    func takeResponse() throws {
        let isEnded = state.withLock { state in
            if !state.endsExchange { state.hasResponse = true }
            return !state.hasResponse
        }
        if isEnded { throw CancellationError() }
    }
}
