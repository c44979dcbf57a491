// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

/// The bytes that the loop and the tasks of an upgraded connection exchange, which is the only state that they share.
final class CurlChannel: Sendable {
    /// The number of unread bytes at which the loop stops reading.
    private static let limit = 256 << 10

    /// The completion handler for when the system has accepted the bytes up to a position.
    private struct Writer: Sendable {
        let end: Int64
        let completion: @Sendable ((any Error)?) -> Void
    }

    private enum Handshake: Sendable {
        case running
        case ended
        case interrupted(any Error)
    }

    private struct State: Sendable {
        var handshake = Handshake.running
        var received: [UInt8] = []
        /// Whether the loop has stopped reading.
        var isPaused = false
        var reader: UnsafeContinuation<[UInt8]?, any Error>?
        /// The socket while tasks can write to it; -1: only the loop writes.
        var socket: Int32 = -1
        var outgoing: [UInt8] = []
        /// The number of bytes that were ever passed to be written.
        var queuedCount: Int64 = 0
        var writers: [Writer] = []
        /// The end of reading.
        var readEnd: Result<Void, any Error>?
        /// The reason why nothing more can be written.
        var writeError: (any Error)?
        var isClosing = false
        /// Whether the loop has been notified of work.
        var isLoopTold = false

        /// Returns whether to notify the loop of work.
        mutating func tellsLoop() -> Bool {
            defer { isLoopTold = true }
            return !isLoopTold
        }

        /// Takes the received bytes, after which there is room for more.
        mutating func takeReceived() -> [UInt8] {
            isPaused = false
            var taken: [UInt8] = []
            swap(&taken, &received)
            return taken
        }
    }

    /// The number of the connection in the loop.
    let number: Int
    private let commandQueue: CurlCommandQueue
    private let state = Locked(State())

    init(_ commandQueue: CurlCommandQueue, number: Int) {
        self.commandQueue = commandQueue
        self.number = number
    }

    private func tellLoop() {
        commandQueue.post(.work(self))
    }
}

// MARK: - The tasks

extension CurlChannel {
    func read() async throws -> [UInt8]? {
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                var tellsLoop = false
                let result = state.withLock { state -> Result<[UInt8]?, any Error>? in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if !state.received.isEmpty {
                        tellsLoop = state.isPaused && state.tellsLoop()
                        return .success(state.takeReceived())
                    }
                    if let end = state.readEnd { return end.map { nil } }
                    state.reader = continuation
                    return nil
                }
                if tellsLoop { tellLoop() }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            state.withLock { $0.reader.take() }?.resume(throwing: CancellationError())
        }
    }

    func write(_ bytes: [UInt8], completion: @escaping @Sendable ((any Error)?) -> Void) {
        if bytes.isEmpty { return completion(nil) }
        let (error, tellsLoop) = state.withLock { state -> ((any Error)?, Bool) in
            if let error = state.writeError { return (error, false) }
            // The caller's array becomes the loop's, without a copy.
            if state.outgoing.isEmpty { state.outgoing = bytes } else { state.outgoing += bytes }
            state.queuedCount += Int64(bytes.count)
            state.writers.append(Writer(end: state.queuedCount, completion: completion))
            return (nil, state.tellsLoop())
        }
        if tellsLoop { tellLoop() }
        if let error { completion(error) }
    }

    /// Writes to the socket on the caller's thread, which saves two thread switches.
    func writeNow(_ bytes: [UInt8]) -> Int {
        state.withLock { state in
            // The last writer remains until the loop has written its bytes.
            guard state.socket >= 0, state.writers.isEmpty, !state.isClosing, state.writeError == nil else { return 0 }
            // After an error, the loop encounters it again and reports it.
            return bytes.withUnsafeBytes { max(0, ccurl_send_now(state.socket, $0.baseAddress, $0.count)) }
        }
    }

    /// Ends the handshake, whose timeouts don't apply any more.
    ///
    /// - Throws: The error with which the loop interrupted it.
    func endHandshake() throws {
        let tellsLoop = try state.withLock { state in
            if case .interrupted(let error) = state.handshake { throw error }
            state.handshake = .ended
            return state.tellsLoop()
        }
        if tellsLoop { tellLoop() }
    }

    func close(sending bytes: [UInt8]) {
        let tellsLoop = state.withLock { state in
            guard !state.isClosing, state.writeError == nil || state.readEnd == nil else { return false }
            state.isClosing = true
            state.outgoing.append(contentsOf: bytes)
            state.queuedCount += Int64(bytes.count)
            return state.tellsLoop()
        }
        if tellsLoop { tellLoop() }
    }
}

// MARK: - The loop

extension CurlChannel {
    /// Returns the work that the tasks requested since the last call: to resume reading, because there is room for more
    /// bytes, or to close the connection.
    func takeWork() -> (resumes: Bool, isClosing: Bool) {
        state.withLock { state in
            state.isLoopTold = false
            return (!state.isPaused, state.isClosing)
        }
    }

    /// Whether the tasks ended the handshake.
    var hasEndedHandshake: Bool {
        state.withLock { if case .ended = $0.handshake { true } else { false } }
    }

    /// Interrupts the handshake, and returns `false` if it has ended.
    func interruptHandshake(with error: any Error) -> Bool {
        state.withLock { state in
            guard case .running = state.handshake else { return false }
            state.handshake = .interrupted(error)
            return true
        }
    }

    /// Sets the socket to which the tasks can write, too. It must be open until ``keepSocket()`` is called.
    func shareSocket(_ descriptor: Int32) {
        state.withLock { $0.socket = descriptor }
    }

    /// Leaves the socket to the loop, which can close it then.
    func keepSocket() {
        state.withLock { $0.socket = -1 }
    }

    /// Moves the bytes to write into an empty array that retains its capacity.
    func takeOutgoing(_ bytes: inout [UInt8]) {
        state.withLock { swap(&$0.outgoing, &bytes) }
    }

    /// Completes the writes whose bytes the system has accepted.
    ///
    /// - Parameter count: The number of bytes that were ever written.
    func didWrite(upTo count: Int64) {
        let done = state.withLock { state -> [Writer] in
            // All of them in most cases, without a copy.
            if let last = state.writers.last, last.end <= count {
                var all: [Writer] = []
                swap(&all, &state.writers)
                return all
            }
            let done = Array(state.writers.prefix { $0.end <= count })
            state.writers.removeFirst(done.count)
            return done
        }
        for writer in done { writer.completion(nil) }
    }

    /// Copies received bytes, and returns `false` if the loop must stop reading.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        state.withLock { state in
            state.received.append(contentsOf: bytes)
            state.isPaused = state.received.count >= Self.limit
            return !state.isPaused
        }
    }

    /// Passes the bytes that arrived together to the waiting reader, and returns whether this made room.
    func flush() -> Bool {
        let delivery = state.withLock { state -> (UnsafeContinuation<[UInt8]?, any Error>, [UInt8])? in
            guard !state.received.isEmpty, let reader = state.reader.take() else { return nil }
            return (reader, state.takeReceived())
        }
        guard let (reader, bytes) = delivery else { return false }
        reader.resume(returning: bytes)
        return true
    }

    /// Ends reading after the received bytes.
    func endReading(_ result: Result<Void, any Error>) {
        let (reader, end) = state.withLock { state in
            let end = state.readEnd ?? result
            state.readEnd = end
            return (state.received.isEmpty ? state.reader.take() : nil, end)
        }
        reader?.resume(with: end.map { nil })
    }

    /// Ends the connection, so that nothing more can be read or written.
    func end(with error: any Error) {
        let (writers, isClosing) = state.withLock { state in
            if state.writeError == nil { state.writeError = error }
            state.outgoing = []
            defer { state.writers = [] }
            return (state.writers, state.isClosing)
        }
        for writer in writers { writer.completion(error) }
        // The server's regular end, and the bytes before it, can still be read.
        endReading(isClosing ? .success(()) : .failure(error))
    }
}

/// An upgraded connection of libcurl, which is closed when the object is released.
final class CurlByteConnection: ByteConnection {
    let channel: CurlChannel

    init(_ channel: CurlChannel) {
        self.channel = channel
    }

    deinit {
        channel.close(sending: [])
    }

    func read() async throws -> [UInt8]? {
        try await channel.read()
    }

    func write(_ bytes: [UInt8], completion: @escaping @Sendable ((any Error)?) -> Void) {
        channel.write(bytes, completion: completion)
    }

    func writeNow(_ bytes: [UInt8]) -> Int {
        channel.writeNow(bytes)
    }

    func close(sending bytes: [UInt8]) {
        channel.close(sending: bytes)
    }
}
#endif
