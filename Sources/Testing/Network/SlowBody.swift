// SPDX-License-Identifier: MIT
import TargetKit

/// A response body that is slowed down to the rate of the network.
final class SlowBody: Sendable {
    private let body: ResponseBody?
    private let conditions: NetworkConditions
    private let losesConnection: Bool
    private let budget: ByteBudget
    private let timer: TransferTimer
    private let progress: (@Sendable (TransferProgress) -> Void)?
    private let total: Int64?
    private let state: Locked<State>

    private struct State: Sendable {
        /// The bytes that were read from the transport, but not returned yet.
        var rest: Data
        var completed: Int64 = 0
        var isAtEnd = false

        init(_ rest: Data) { self.rest = rest }
    }

    init(
        _ response: TransportResponse,
        conditions: NetworkConditions,
        losesConnection: Bool,
        budget: ByteBudget,
        timer: TransferTimer,
        progress: (@Sendable (TransferProgress) -> Void)?
    ) {
        switch response.body {
        case .stream(let body): (self.body, state) = (body, Locked(State(Data())))
        // A transport can return the whole body, whatever the destination is.
        case .data(let data): (body, state) = (nil, Locked(State(data)))
        case .file, .upgraded: (body, state) = (nil, Locked(State(Data())))
        }
        self.conditions = conditions
        self.losesConnection = losesConnection
        self.budget = budget
        self.timer = timer
        self.progress = progress
        let headers = response.head.headers
        // The field contains the length of the coded content.
        total = headers.contains("Content-Encoding") ? nil : headers.contentLength
    }

    /// The next chunk; `nil` at the end.
    func next() async throws -> Data? {
        if losesConnection, state.withLock({ $0.completed > 0 }) { throw URLError(.networkConnectionLost) }
        try await fill()
        let rest = state.withLock { $0.rest }
        guard !rest.isEmpty else {
            if losesConnection { throw URLError(.networkConnectionLost) }
            let completed = state.withLock { $0.completed }
            progress?(TransferProgress(completed: completed, total: completed, direction: .download))
            return nil
        }
        let wanted = min(rest.count, losesConnection ? max(1, rest.count / 2) : .max, conditions.downloadRate.pieceSize)
        let taken = budget.take(wanted)
        guard taken > 0 else { throw URLError(.networkConnectionLost) }
        try await timer.wait(conditions.downloadRate.time(for: taken))
        let completed = state.withLock { state in
            state.rest = state.rest.dropFirst(taken)
            state.completed += Int64(taken)
            return state.completed
        }
        progress?(TransferProgress(completed: completed, total: total, direction: .download))
        return Data(rest.prefix(taken))
    }

    /// Reads the next chunk from the transport if all bytes have been returned.
    private func fill() async throws {
        guard state.withLock({ $0.rest.isEmpty && !$0.isAtEnd }), let body else { return }
        var iterator = body.makeAsyncIterator()
        let piece = try await iterator.next()
        state.withLock { state in
            if let piece { state.rest = piece } else { state.isAtEnd = true }
        }
    }
}
