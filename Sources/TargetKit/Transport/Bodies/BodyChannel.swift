// SPDX-License-Identifier: MIT
import Foundation

/// Hands the pieces of a body from whoever receives them to a reader, and says when the reader is too slow for them.
final class BodyChannel: Sendable {
    private typealias Waiter = UnsafeContinuation<Data?, any Error>

    private struct State: Sendable {
        var pieces: [Data] = []
        /// The pieces before this one have been read.
        var first = 0
        var byteCount = 0
        /// Whoever sends is held back until it is told to go on.
        var isPaused = false
        var end: Result<Void, any Error>?
        var waiters: [Waiter] = []

        mutating func append(_ piece: Data) {
            pieces.append(piece)
            byteCount += piece.count
        }

        mutating func takeFirst() -> Data? {
            guard first < pieces.count else { return nil }
            let piece = pieces[first]
            pieces[first] = Data()
            first += 1
            byteCount -= piece.count
            if first == pieces.count {
                pieces.removeAll(keepingCapacity: true)
                first = 0
            }
            return piece
        }
    }

    private let limit: Int
    private let state = Locked(State())

    /// A channel in which about that many bytes may wait.
    init(limit: Int) {
        self.limit = max(1, limit)
    }

    var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Takes a copy of a piece; `false` when it has to wait and be given again.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return true }
        let piece = Data(bytes: start, count: bytes.count)
        let (isTaken, waiter) = state.withLock { state -> (Bool, Waiter?) in
            if !state.waiters.isEmpty { return (true, state.waiters.removeFirst()) }
            state.isPaused = state.byteCount >= limit
            guard !state.isPaused else { return (false, nil) }
            state.append(piece)
            return (true, nil)
        }
        waiter?.resume(returning: piece)
        return isTaken
    }

    /// Takes a piece that cannot be given again, whatever waits already; `false`, once, when no more should come.
    func keep(_ piece: Data) -> Bool {
        guard !piece.isEmpty else { return true }
        let (pauses, waiter) = state.withLock { state -> (Bool, Waiter?) in
            if !state.waiters.isEmpty { return (false, state.waiters.removeFirst()) }
            state.append(piece)
            guard !state.isPaused, state.byteCount >= limit else { return (false, nil) }
            state.isPaused = true
            return (true, nil)
        }
        waiter?.resume(returning: piece)
        return !pauses
    }

    /// The body is whole, or has broken off.
    func finish(_ result: Result<Void, any Error>) {
        let waiters = state.withLock { state in
            state.end = result
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(with: result.map { nil }) }
    }

    /// The next piece; waits for one when there is none. The closure is called when whoever sends may go on.
    func next(resume: @Sendable () -> Void) async throws -> Data? {
        try await withUnsafeThrowingContinuation { waiter in
            var isRoomAgain = false
            let result = state.withLock { state -> Result<Data?, any Error>? in
                if let piece = state.takeFirst() {
                    isRoomAgain = state.isPaused && state.byteCount <= limit / 2
                    if isRoomAgain { state.isPaused = false }
                    return .success(piece)
                }
                if let end = state.end { return end.map { nil } }
                state.waiters.append(waiter)
                return nil
            }
            if isRoomAgain { resume() }
            if let result { waiter.resume(with: result) }
        }
    }
}
