// SPDX-License-Identifier: MIT
import TargetKit

/// Sends the frames of a WebSocket in order.
actor FrameWriter {
    /// The maximum number of bytes of a large message that are queued at a time.
    private static let sliceSize = 256 << 10
    /// The maximum payload of a frame. Pongs are sent between the frames of a larger message.
    private static let fragmentSize = 1 << 20

    /// The maximum number of bytes that are sent on the sender's thread.
    private static let nowSize = 16 << 10

    /// A message that is being sent in slices, or waits to be sent.
    private struct Item {
        var message: WebSocketOutgoingMessage
        let completion: SendCompletion
    }

    /// Whether a close frame can be sent now.
    private enum CloseState: Sendable {
        case possible
        /// A frame is being written, or is incomplete.
        case inFrame
        /// The close frame was sent, or the connection was closed without it.
        case over
    }

    /// Whether a pong is being sent. Only one is, because a server can send pings without reading.
    private enum PongState: Sendable {
        case idle
        case sending
        /// Another pong waits.
        case waiting
    }

    private let connection: any ByteConnection
    /// Counts the slices that the system has accepted.
    private let activity: Locked<UInt64>
    private var writer: WebSocketWriter
    /// The message that is being sent in slices, followed by the waiting messages.
    private var queue: [Item] = []
    /// The pong to send at the end of the current frame, and after the pong that is being sent.
    private var pong: Data?
    /// The pings to send at the end of the current frame.
    private var pings: [(payload: Data, completion: SendCompletion)] = []
    /// The reason why nothing more can be sent.
    private var failure: (any Error)?
    /// The close frame to send at the end of the current frame.
    private var closing: WebSocketClosing?
    /// Whether a close frame can be sent, also by code outside the actor.
    private nonisolated let closeState = Locked(CloseState.possible)
    private nonisolated let pongState = Locked(PongState.idle)
    /// The number of tasks that send a message.
    private nonisolated let senderCount = Locked(0)

    init(_ connection: any ByteConnection, deflate: PerMessageDeflate?, activity: Locked<UInt64>) {
        self.connection = connection
        self.activity = activity
        writer = WebSocketWriter(role: .client, deflate: deflate, fragmentSize: Self.fragmentSize)
    }

    /// Sends a message, and returns when the system has accepted it.
    ///
    /// - Throws: A `URLError`; a ``WebSocketError`` after the close frame; `CancellationError` if the task is
    ///   cancelled. A partly sent message is still sent to its end.
    nonisolated func send(_ message: WebSocketMessage) async throws {
        try Task.checkCancellation()
        senderCount.withLock { $0 += 1 }
        defer { senderCount.withLock { $0 -= 1 } }
        let completion = SendCompletion()
        try await begin(message, completion)
        try await wait(for: completion)
    }

    /// Sends a pong, unless a newer one replaces it (RFC 6455 §5.5.3).
    func send(pong payload: Data) {
        pong = payload
        if isAtBoundary { writePong() }
    }

    /// Sends a ping, and returns when the system has accepted it.
    func send(ping payload: Data) async throws {
        try Task.checkCancellation()
        if let failure { throw failure }
        let completion = SendCompletion()
        pings.append((payload, completion))
        if isAtBoundary { writePings() }
        try await wait(for: completion)
    }

    /// Waits until the system has accepted a frame. If this side closes the connection first, the error is the reason,
    /// because nobody cancelled the call.
    private func wait(for completion: SendCompletion) async throws {
        do { try await completion.wait() } catch let error as URLError where error.code == .cancelled {
            throw failure ?? WebSocketError.alreadyClosed
        }
    }

    /// Whether a ping waits for the end of a frame.
    var hasWaitingPings: Bool { !pings.isEmpty }

    /// Sends a close frame after the current frame. Remaining messages aren't sent.
    func close(_ closing: WebSocketClosing) {
        guard failure == nil, self.closing == nil else { return }
        self.closing = closing
        if isAtBoundary { writeClose() }
    }

    /// Ends the sending of frames before the connection is closed, and returns whether the caller can send a close
    /// frame.
    nonisolated func endFrames() -> Bool {
        closeState.withLock { state in
            defer { state = .over }
            return state == .possible
        }
    }

    /// Ends the waiting messages.
    func end(with error: any Error) {
        if failure == nil { failure = error }
        for item in queue { item.completion.finish(error) }
        for ping in pings { ping.completion.finish(error) }
        (queue, pings) = ([], [])
    }
}

// MARK: - Frames

extension FrameWriter {
    private var isAtBoundary: Bool { queue.first?.message.isAtFrameBoundary ?? true }

    private func begin(_ message: WebSocketMessage, _ completion: SendCompletion) throws {
        if let failure { throw failure }
        if closing != nil { throw WebSocketError.alreadyClosed }
        if queue.isEmpty, message.byteCount <= Self.sliceSize {
            write(completion) { writer, bytes in
                switch message {
                case .text(let text): writer.write(text: text, to: &bytes)
                case .data(let data): writer.write(data: data, to: &bytes)
                }
            }
        } else {
            queue.append(Item(message: WebSocketOutgoingMessage(message), completion: completion))
            if queue.count == 1 { writeSlice() }
        }
    }

    private func write(_ completion: SendCompletion, _ frame: (inout WebSocketWriter, inout [UInt8]) -> Void) {
        var bytes: [UInt8] = []
        frame(&writer, &bytes)
        pass(bytes) { completion.finish($0) }
    }

    /// Writes frames, or a part of a frame, to the connection, without a close frame in between.
    private func pass(_ bytes: [UInt8], completion: @escaping @Sendable ((any Error)?) -> Void) {
        let isOpen = closeState.withLock { state in
            guard state != .over else { return false }
            state = .inFrame
            return true
        }
        guard isOpen else { return completion(WebSocketError.alreadyClosed) }
        // Several senders share the connection's writes, and of many bytes the rest would have to be copied.
        let isSentNow = bytes.count <= Self.nowSize && senderCount.withLock(\.self) <= 1
        let sent = isSentNow ? connection.writeNow(bytes) : 0
        if sent == bytes.count {
            completion(nil)
        } else {
            connection.write(sent > 0 ? Array(bytes[sent...]) : bytes, completion: completion)
        }
        guard isAtBoundary else { return }
        closeState.withLock { if $0 == .inFrame { $0 = .possible } }
    }

    /// Writes the next slice of the first message, and continues when the system has accepted it.
    private func writeSlice() {
        // Cancelled messages that haven't started aren't sent.
        while let first = queue.first, first.completion.isDone, !first.message.hasBegun { queue.removeFirst() }
        guard var item = queue.first else { return }
        var bytes: [UInt8] = []
        writer.write(&item.message, upTo: Self.sliceSize, to: &bytes)
        let isWritten = item.message.isWritten
        queue[0] = item
        pass(bytes) { [completion = item.completion] error in
            if isWritten || error != nil { completion.finish(error) }
            Task { await self.didWrite(error) }
        }
    }

    private func didWrite(_ error: (any Error)?) {
        if let error { return end(with: error) }
        activity.withLock { $0 += 1 }
        if let first = queue.first, first.message.isWritten { queue.removeFirst() }
        if isAtBoundary {
            writePong()
            writePings()
            if closing != nil { return writeClose() }
        }
        writeSlice()
    }

    private func writePong() {
        guard failure == nil, let payload = pong else { return }
        let isFree = pongState.withLock { state in
            defer { state = state == .idle ? .sending : .waiting }
            return state == .idle
        }
        guard isFree else { return }
        pong = nil
        var bytes: [UInt8] = []
        try? writer.write(pong: payload, to: &bytes)
        pass(bytes) { [pongState] _ in
            let isWaiting = pongState.withLock { state in
                defer { state = .idle }
                return state == .waiting
            }
            if isWaiting { Task { await self.writeNextPong() } }
        }
    }

    private func writeNextPong() {
        if isAtBoundary { writePong() }
    }

    private func writePings() {
        guard failure == nil else { return }
        for ping in pings {
            write(ping.completion) { writer, bytes in try? writer.write(ping: ping.payload, to: &bytes) }
        }
        pings = []
    }

    private func writeClose() {
        guard let closing, endFrames() else { return }
        connection.write(closing.frame) { _ in }
        end(with: WebSocketError.alreadyClosed)
    }
}

extension WebSocketMessage {
    /// The size of the payload in bytes.
    var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .data(let data): data.count
        }
    }

    /// The payload.
    var bytes: Data {
        switch self {
        case .text(let text): Data(text.utf8)
        case .data(let data): data
        }
    }
}

extension WebSocketClosing {
    /// The content that may be sent: without a code, which is 1005, if it may not be sent, and with at most 123 bytes of
    /// the reason (RFC 6455 §5.5).
    var sendable: WebSocketClosing {
        var closing = self
        if !WebSocketCloseCode(rawValue: code).maySend { closing.code = WebSocketCloseCode.noStatus.rawValue }
        while closing.reason.utf8.count > 123 { closing.reason.removeLast() }
        return closing
    }

    /// The frame of a client.
    var frame: [UInt8] {
        var writer = WebSocketWriter(role: .client)
        var bytes: [UInt8] = []
        let closing = sendable
        let code = WebSocketCloseCode(rawValue: closing.code)
        try? writer.write(close: code == .noStatus ? nil : code, reason: closing.reason, to: &bytes)
        return bytes
    }
}

extension WebSocketError {
    static let alreadyClosed = Self(.alreadyClosed, "the WebSocket is closed, or is being closed")
}
