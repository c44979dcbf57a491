// SPDX-License-Identifier: MIT

/// Passes the chunks of a body from a transport or a call's task to a reader, and pauses the sender while the reader is
/// too slow.
final class BodyChannel: Sendable {
    private typealias Waiter = UnsafeContinuation<Data?, any Error>

    private struct State: Sendable {
        /// The unread chunks.
        var pieces: [Data] = []
        var byteCount = 0
        /// The number of bytes that the reader received.
        var readByteCount: Int64 = 0
        /// Whether the sender is paused.
        var isPaused = false
        /// A sender that waits until the reader consumes its chunk.
        var writer: UnsafeContinuation<Void, Never>?
        /// Whether the reader released the body.
        var isAbandoned = false
        var end: Result<Void, any Error>?
        var waiter: Waiter?
        /// Receives the bytes instead of a reader, until the body ends.
        var receiver: (any BodyReceiver)?
        var drain: UnsafeContinuation<Void, any Error>?
        /// Resumes the sender of a body that this channel receives.
        var resume: (@Sendable () -> Void)?

        /// Appends bytes to the last unread chunk, or as a new chunk if that chunk is at the limit.
        ///
        /// - Parameter piece: The same bytes, so that they aren't copied for a new chunk.
        mutating func append(_ bytes: UnsafeRawBufferPointer, _ piece: Data? = nil, limit: Int) {
            guard let start = bytes.baseAddress else { return }
            byteCount += bytes.count
            guard let last = pieces.indices.last, pieces[last].count < limit else {
                pieces.append(piece ?? Data(bytes: start, count: bytes.count))
                return
            }
            pieces[last].append(start.assumingMemoryBound(to: UInt8.self), count: bytes.count)
        }

        /// Removes the waiting reader and the first chunk for it; `nil` if either is missing.
        mutating func takeDelivery() -> (Waiter, Data)? {
            guard waiter != nil, let piece = takeFirst(), let waiter = waiter.take() else { return nil }
            return (waiter, piece)
        }

        mutating func takeFirst() -> Data? {
            guard !pieces.isEmpty else { return nil }
            let piece = pieces.removeFirst()
            byteCount -= piece.count
            readByteCount += Int64(piece.count)
            return piece
        }
    }

    private let limit: Int
    /// The number of bytes that ``receive(_:)`` buffers.
    private let receiveLimit: Int
    private let state = Locked(State())

    /// Creates a channel that buffers about the given number of bytes.
    ///
    /// - Parameter receiveLimit: The number of bytes that are buffered when the channel receives a body; default: the
    ///   same.
    init(limit: Int, receiveLimit: Int? = nil) {
        self.limit = max(1, limit)
        self.receiveLimit = max(1, receiveLimit ?? limit)
    }

    var isPaused: Bool { state.withLock { $0.isPaused } }
    var isReaderWaiting: Bool { state.withLock { $0.waiter != nil } }

    /// The number of bytes that the reader received.
    var readByteCount: Int64 { state.withLock(\.readByteCount) }

    /// Copies bytes, and returns `false` if they must be offered again later. A waiting reader receives them at the
    /// next ``flush()``, or earlier if the buffer is full.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if bytes.isEmpty { return true }
        let (isTaken, delivery, receiver) = state.withLock { state -> (Bool, (Waiter, Data)?, (any BodyReceiver)?) in
            if let receiver = state.receiver { return (false, nil, receiver) }
            // A waiting reader frees space.
            let delivery = state.byteCount >= receiveLimit ? state.takeDelivery() : nil
            state.isPaused = state.byteCount >= receiveLimit
            guard !state.isPaused else { return (false, delivery, nil) }
            state.append(bytes, limit: receiveLimit)
            return (true, delivery, nil)
        }
        if let receiver { return receive(bytes, with: receiver) }
        if let (waiter, piece) = delivery { waiter.resume(returning: piece) }
        return isTaken
    }

    /// Passes received bytes to a waiting reader; called once for bytes that arrive together. Waking the reader for
    /// every 16 KiB takes 150,000 context switches per gigabyte instead of 8,000 (`Benchmarks`, `counts`).
    func flush() {
        let (delivery, receiver) = state.withLock { ($0.takeDelivery(), $0.receiver) }
        if let (waiter, piece) = delivery { waiter.resume(returning: piece) }
        receiver?.flush()
    }

    /// Appends a chunk regardless of the limit; returns `false`, once, when the sender should pause.
    func keep(_ piece: Data) -> Bool {
        guard !piece.isEmpty else { return true }
        let (pauses, delivery) = state.withLock { state -> (Bool, (Waiter, Data)?) in
            piece.withUnsafeBytes { state.append($0, piece, limit: limit) }
            if let delivery = state.takeDelivery() { return (false, delivery) }
            guard !state.isPaused, state.byteCount >= limit else { return (false, nil) }
            state.isPaused = true
            return (true, nil)
        }
        if let (waiter, piece) = delivery { waiter.resume(returning: piece) }
        return !pauses
    }

    /// Ends the body, with an error if it is incomplete.
    func finish(_ result: Result<Void, any Error>) {
        let (delivery, waiter, drain, _, _) = state.withLock { state in
            state.end = result
            return (
                state.takeDelivery(), state.waiter.take(), state.drain.take(), state.receiver.take(),
                state.resume.take()
            )
        }
        if let (waiter, piece) = delivery { waiter.resume(returning: piece) }
        waiter?.resume(with: result.map { nil })
        drain?.resume(with: result)
    }

    /// Returns the next chunk, waiting for it if necessary, in one task at a time. The closure is called when the sender
    /// can resume.
    func next(
        isolation actor: isolated (any Actor)? = #isolation,
        resume: @Sendable () -> Void
    ) async throws -> Data? {
        try await withUnsafeThrowingContinuation { waiter in
            var isRoomAgain = false
            var writer: UnsafeContinuation<Void, Never>?
            let result = state.withLock { state -> Result<Data?, any Error>? in
                if let piece = state.takeFirst() {
                    let room = (state.resume == nil ? limit : receiveLimit) / 2
                    isRoomAgain = state.isPaused && state.byteCount <= room
                    if isRoomAgain { (state.isPaused, writer) = (false, state.writer.take()) }
                    return .success(piece)
                }
                if let end = state.end { return end.map { nil } }
                state.waiter = waiter
                return nil
            }
            if isRoomAgain { resume() }
            writer?.resume()
            if let result { waiter.resume(with: result) }
        }
    }
}

// MARK: - From a task

extension BodyChannel {
    /// Appends a chunk, and waits until the reader consumes it.
    ///
    /// Returns `false` if there is no longer a reader, or if the task is cancelled, because a reader that retains the
    /// stream without reading must not keep a cancelled call alive.
    func write(_ piece: Data) async -> Bool {
        if state.withLock(\.isAbandoned) { return false }
        return keep(piece) ? true : await waitForRoom()
    }

    /// Returns `false` if there is no longer a reader, or if the task is cancelled.
    private func waitForRoom() async -> Bool {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { writer in
                let isWaiting = state.withLock { state in
                    let isWaiting = state.isPaused && !state.isAbandoned
                    if isWaiting { state.writer = writer }
                    return isWaiting
                }
                if !isWaiting { writer.resume() }
            }
        } onCancel: {
            discard()
        }
        return !state.withLock(\.isAbandoned) && !Task.isCancelled
    }

    /// Discards the unread chunks after the reader released the body.
    func abandon() {
        discard(isAbandoned: true)
    }

    /// Discards the unread chunks, because the call is cancelled.
    func discard(isAbandoned: Bool = false) {
        let writer = state.withLock { state in
            if isAbandoned { state.isAbandoned = true }
            (state.pieces, state.byteCount, state.isPaused) = ([], 0, false)
            return state.writer.take()
        }
        writer?.resume()
    }
}

// MARK: - Without a reader

extension BodyChannel {
    /// Passes the body to a receiver until it ends.
    ///
    /// - Parameter resume: Called when the sender can resume.
    func drain(into receiver: any BodyReceiver, resume: @escaping @Sendable () -> Void) async throws {
        receiver.begin(resume: resume)
        try await withUnsafeThrowingContinuation { (drain: UnsafeContinuation<Void, any Error>) in
            while true {
                var isPaused = false
                let (piece, end, isConnected) = state.withLock { state -> (Data?, Result<Void, any Error>?, Bool) in
                    if let piece = state.takeFirst() { return (piece, nil, false) }
                    if let end = state.end { return (nil, end, false) }
                    state.receiver = receiver
                    state.drain = drain
                    isPaused = state.isPaused
                    state.isPaused = false
                    return (nil, nil, true)
                }
                if isPaused { resume() }
                if let end { return drain.resume(with: end) }
                guard !isConnected, let piece else { return }
                do {
                    _ = try piece.withUnsafeBytes { try receiver.receive($0, canWait: false) }
                } catch {
                    return drain.resume(throwing: error)
                }
            }
        }
    }

    private func receive(_ bytes: UnsafeRawBufferPointer, with receiver: any BodyReceiver) -> Bool {
        do {
            return try receiver.receive(bytes, canWait: true)
        } catch {
            finish(.failure(error))
            // The reader cancels the exchange.
            return false
        }
    }
}

// MARK: - From another channel

/// Receives the body of a transport, so that its reader is resumed once for each chunk. A task between them would be
/// resumed for each chunk too, and for the next one (`Benchmarks`, `network download`: 18,000 context switches per
/// gigabyte on the main actor instead of 6,000).
extension BodyChannel: BodyReceiver {
    func begin(resume: @escaping @Sendable () -> Void) {
        state.withLock { $0.resume = resume }
    }

    func receive(_ bytes: UnsafeRawBufferPointer, canWait: Bool) -> Bool {
        if canWait { return receive(bytes) }
        _ = keep(Data(bytes))
        return true
    }

    /// Resumes the sender of the body that this channel receives.
    func resumeSender() {
        state.withLock(\.resume)?()
    }

    /// Waits until the reader consumed everything, after the body was received.
    ///
    /// Returns `false` if there is no longer a reader, or if the task is cancelled.
    func waitUntilRead() async -> Bool {
        flush()
        _ = state.withLock { state in
            state.isPaused = state.byteCount > 0
            return state.resume.take()
        }
        return await waitForRoom()
    }
}
