// SPDX-License-Identifier: MIT
#if os(Linux)

/// Reads a body ahead on its own thread, so that a slow source doesn't delay other calls.
final class CurlBodyPrefetcher: Sendable {
    private static let pieceSize = 128 << 10
    /// The number of waiting bytes at which the reader pauses: two of libcurl's buffers.
    private static let aheadLimit = 2 * CurlOptions.largeUploadBuffer

    private struct State: Sendable {
        /// The number of times the body was restarted; chunks of earlier rounds are discarded.
        var round = 0
        var pieces: [ArraySlice<UInt8>] = []
        var byteCount = 0
        var end: Result<Void, any Error>?
        var isReaderWaiting = false
        /// Whether libcurl waits for more bytes.
        var isLoopWaiting = false
        var isClosed = false

        /// Copies waiting bytes into the buffer, and returns their number.
        mutating func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
            var count = 0
            while count < buffer.count, let piece = pieces.first {
                let part = piece.prefix(buffer.count - count)
                part.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyMemory(from: $0) }
                count += part.count
                if part.count == piece.count { pieces.removeFirst() } else { pieces[0] = piece.dropFirst(part.count) }
            }
            byteCount -= count
            return count
        }
    }

    private let source: any BodySource
    private let wakeLoop: @Sendable () -> Void
    private let state = Locked(State())
    private let awake = DispatchSemaphore(value: 0)

    /// Starts reading. The closure is called when there are bytes again after ``read(into:)`` returned `nil`.
    init(_ source: any BodySource, wakeLoop: @escaping @Sendable () -> Void) {
        self.source = source
        self.wakeLoop = wakeLoop
        let thread = Thread { self.run() }
        thread.name = "TargetKit.body"
        thread.stackSize = 512 << 10
        thread.start()
    }

    /// Copies the available bytes; returns 0 at the end, and `nil` if none are available yet.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int? {
        let result = wakingReader { state -> Result<Int?, any Error> in
            let count = state.take(into: buffer)
            if count > 0 { return .success(count) }
            state.isLoopWaiting = state.end == nil
            return state.end.map { $0.map { 0 } } ?? .success(nil)
        }
        return try result.get()
    }

    /// Restarts at the first byte.
    func rewind() {
        wakingReader { $0 = State(round: $0.round + 1, isLoopWaiting: $0.isLoopWaiting) }
    }

    /// Ends the thread.
    func close() {
        wakingReader { $0.isClosed = true }
    }

    /// Changes the state, and wakes the reader if it waits.
    private func wakingReader<Value>(after change: (inout State) -> Value) -> Value {
        let (value, wakes) = state.withLock { state in
            let wakes = state.isReaderWaiting
            state.isReaderWaiting = false
            return (change(&state), wakes)
        }
        if wakes { awake.signal() }
        return value
    }
}

// MARK: - The reader's thread

extension CurlBodyPrefetcher {
    private func run() {
        var reader: (any BodyReader)?
        var readerRound = -1
        while let round = nextRound() {
            do {
                if round != readerRound { reader = try source.open() }
                readerRound = round
                let piece = try [UInt8](unsafeUninitializedCapacity: Self.pieceSize) { buffer, count in
                    count = try reader?.read(into: UnsafeMutableRawBufferPointer(buffer)) ?? 0
                }
                deliver(piece.isEmpty ? .success(nil) : .success(piece[...]), in: round)
            } catch {
                deliver(.failure(error), in: round)
            }
        }
    }

    /// Waits until more bytes are needed; returns `nil` if the prefetcher is closed.
    private func nextRound() -> Int? {
        while true {
            let (round, isOver) = state.withLock { state -> (Int?, Bool) in
                if state.isClosed { return (nil, true) }
                if state.end == nil, state.byteCount < Self.aheadLimit { return (state.round, false) }
                state.isReaderWaiting = true
                return (nil, false)
            }
            if isOver || round != nil { return round }
            awake.wait()
        }
    }

    private func deliver(_ piece: Result<ArraySlice<UInt8>?, any Error>, in round: Int) {
        let wakes = state.withLock { state in
            guard state.round == round, !state.isClosed else { return false }
            switch piece {
            case .success(let piece?):
                state.pieces.append(piece)
                state.byteCount += piece.count
            case .success(nil): state.end = .success(())
            case .failure(let error): state.end = .failure(error)
            }
            defer { state.isLoopWaiting = false }
            return state.isLoopWaiting
        }
        if wakes { wakeLoop() }
    }
}
#endif
