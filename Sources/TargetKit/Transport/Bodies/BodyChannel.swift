// SPDX-License-Identifier: MIT
import Foundation

/// Passes the pieces of a body from a transport to a reader, and pauses the transport while the reader is too slow.
final class BodyChannel: Sendable {
    private typealias Waiter = UnsafeContinuation<Data?, any Error>

    private struct State: Sendable {
        var pieces: [Data] = []
        /// The index of the first unread piece.
        var first = 0
        var byteCount = 0
        /// Whether the sender waits to be resumed.
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

    /// Creates a channel that buffers about the given number of bytes.
    init(limit: Int) {
        self.limit = max(1, limit)
    }

    var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Copies a piece; returns `false` when it has to be offered again later.
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

    /// Appends a piece regardless of the limit; returns `false`, once, when the sender should pause.
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

    /// Ends the body, with an error if it is incomplete.
    func finish(_ result: Result<Void, any Error>) {
        let waiters = state.withLock { state in
            state.end = result
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(with: result.map { nil }) }
    }

    /// Returns the next piece, after waiting for it if necessary. The closure is called when the sender can resume.
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
