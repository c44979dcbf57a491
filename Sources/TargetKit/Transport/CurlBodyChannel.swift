// SPDX-License-Identifier: MIT
#if canImport(CCurl)
import Foundation

/// Hands the pieces of a body from the loop to a reader, and holds the loop back when the reader is slow.
final class CurlBodyChannel: Sendable {
    private typealias Waiter = UnsafeContinuation<Data?, any Error>

    private struct State: Sendable {
        var pieces: [Data] = []
        /// The pieces before this one have been read.
        var first = 0
        var byteCount = 0
        /// libcurl holds a piece back until it is told to go on.
        var isPaused = false
        var end: Result<Void, any Error>?
        var waiters: [Waiter] = []

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

    init(limit: Int) {
        self.limit = max(1, limit)
    }

    var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Takes a piece from libcurl; `false` when it has to wait.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return true }
        let piece = Data(bytes: start, count: bytes.count)
        let (isTaken, waiter) = state.withLock { state -> (Bool, Waiter?) in
            if !state.waiters.isEmpty { return (true, state.waiters.removeFirst()) }
            state.isPaused = state.byteCount >= limit
            guard !state.isPaused else { return (false, nil) }
            state.pieces.append(piece)
            state.byteCount += piece.count
            return (true, nil)
        }
        waiter?.resume(returning: piece)
        return isTaken
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

    /// The next piece, and whether libcurl may go on; waits for one when there is none.
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

/// The reader's end of a channel: when nobody holds it any more, the exchange is over.
final class CurlBodyReader: Sendable {
    private let channel: CurlBodyChannel
    private let inbox: CurlInbox
    private let call: CurlCall

    init(channel: CurlBodyChannel, inbox: CurlInbox, call: CurlCall) {
        self.channel = channel
        self.inbox = inbox
        self.call = call
    }

    deinit {
        inbox.cancel(call)
    }

    func next() async throws -> Data? {
        try await withTaskCancellationHandler {
            try await channel.next { inbox.post(.resume(call)) }
        } onCancel: {
            inbox.cancel(call)
        }
    }
}
#endif
