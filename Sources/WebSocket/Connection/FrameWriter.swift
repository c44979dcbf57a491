// SPDX-License-Identifier: MIT
import TargetKit

/// Sends the frames of a WebSocket in order.
actor FrameWriter {
    /// The most bytes of a large message that wait to be sent at a time.
    private static let sliceSize = 256 << 10
    /// The largest payload of a frame. Pings are answered between the frames of a larger message.
    private static let fragmentSize = 1 << 20

    /// A message that is sent in slices, or waits for one.
    private struct Item {
        var message: WebSocketOutgoingMessage
        let completion: SendCompletion
    }

    /// Whether a close frame can be sent now.
    private enum CloseState: Sendable {
        case possible
        /// A frame is being passed to the connection, or is incomplete.
        case inFrame
        /// It was sent, or the connection was closed without it.
        case over
    }

    private let connection: any ByteConnection
    private var writer: WebSocketWriter
    /// The message that is being sent in slices, then those that wait for its end.
    private var queue: [Item] = []
    /// The pong to send at the end of the current frame.
    private var pong: Data?
    /// Why nothing can be sent any more.
    private var failure: (any Error)?
    /// The close frame to send at the end of the current frame.
    private var closing: WebSocketClosing?
    /// Whether a close frame can be sent, also by those who don't wait for the actor.
    private nonisolated let closeState = Locked(CloseState.possible)

    init(_ connection: any ByteConnection, deflate: PerMessageDeflate?) {
        self.connection = connection
        writer = WebSocketWriter(role: .client, deflate: deflate, fragmentSize: Self.fragmentSize)
    }

    /// Sends a message, and returns when the system has taken it.
    ///
    /// - Throws: A `URLError`; a ``WebSocketError`` after the close frame; `CancellationError` if the task is
    ///   cancelled. A message of which a part was sent is then sent nevertheless.
    func send(_ message: WebSocketMessage) async throws {
        try Task.checkCancellation()
        if let failure { throw failure }
        if closing != nil { throw WebSocketError.alreadyClosed }
        // Begins before it waits, because a closure that waits isn't isolated to this actor.
        let completion = SendCompletion()
        begin(message, completion)
        try await completion.wait()
    }

    /// Sends a pong, unless a newer one replaces it (RFC 6455 §5.5.3).
    func send(pong payload: Data) {
        pong = payload
        if isAtBoundary { writePong() }
    }

    /// Sends a ping, and returns when the system has taken it.
    func send(ping payload: Data) async throws {
        try Task.checkCancellation()
        if let failure { throw failure }
        guard isAtBoundary else { return }
        let completion = SendCompletion()
        write(completion) { writer, bytes in try? writer.write(ping: payload, to: &bytes) }
        try await completion.wait()
    }

    /// Sends a close frame at the end of the current frame. Messages that aren't sent by then aren't sent.
    func close(_ closing: WebSocketClosing) {
        guard failure == nil, self.closing == nil else { return }
        self.closing = closing
        if isAtBoundary { writeClose() }
    }

    /// Ends the sending of frames by those who close the connection; returns whether they can send a close frame
    /// before.
    nonisolated func endFrames() -> Bool {
        closeState.withLock { state in
            defer { state = .over }
            return state == .possible
        }
    }

    /// Ends the messages that wait.
    func end(with error: any Error) {
        if failure == nil { failure = error }
        for item in queue { item.completion.finish(error) }
        queue = []
    }
}

// MARK: - Frames

extension FrameWriter {
    private var isAtBoundary: Bool { queue.first?.message.isAtFrameBoundary ?? true }

    private func begin(_ message: WebSocketMessage, _ completion: SendCompletion) {
        if queue.isEmpty, message.byteCount <= Self.sliceSize {
            write(completion) { writer, bytes in
                switch message {
                case .text(let text): writer.write(text: text, to: &bytes)
                case .data(let data): writer.write(data: data, to: &bytes)
                }
            }
        } else {
            let outgoing =
                switch message {
                case .text(let text): WebSocketOutgoingMessage(text: text)
                case .data(let data): WebSocketOutgoingMessage(data: data)
                }
            queue.append(Item(message: outgoing, completion: completion))
            if queue.count == 1 { writeSlice() }
        }
    }

    private func write(_ completion: SendCompletion?, _ frame: (inout WebSocketWriter, inout [UInt8]) -> Void) {
        var bytes: [UInt8] = []
        frame(&writer, &bytes)
        pass(bytes) { completion?.finish($0) }
    }

    /// Passes frames, or a part of one, to the connection. No close frame comes between.
    private func pass(_ bytes: [UInt8], completion: @escaping @Sendable ((any Error)?) -> Void) {
        let isOpen = closeState.withLock { state in
            guard state != .over else { return false }
            state = .inFrame
            return true
        }
        guard isOpen else { return completion(WebSocketError.alreadyClosed) }
        connection.write(bytes, completion: completion)
        guard isAtBoundary else { return }
        closeState.withLock { if $0 == .inFrame { $0 = .possible } }
    }

    /// Writes the next slice of the first message; when the system has taken it, the next one follows.
    private func writeSlice() {
        // What is no longer wanted and hasn't begun isn't sent.
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
        if let first = queue.first, first.message.isWritten { queue.removeFirst() }
        if isAtBoundary {
            writePong()
            if closing != nil { return writeClose() }
        }
        writeSlice()
    }

    private func writePong() {
        guard failure == nil, let payload = pong.take() else { return }
        write(nil) { writer, bytes in try? writer.write(pong: payload, to: &bytes) }
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
    /// The frame of a client. A code that may not be sent becomes an empty frame, and a long reason is cut.
    var frame: [UInt8] {
        var writer = WebSocketWriter(role: .client)
        var bytes: [UInt8] = []
        let code = WebSocketCloseCode(rawValue: code)
        var reason = reason
        while reason.utf8.count > 123 { reason.removeLast() }
        try? writer.write(close: code.maySend ? code : nil, reason: reason, to: &bytes)
        return bytes
    }
}

extension WebSocketError {
    static let alreadyClosed = Self(.alreadyClosed, "the WebSocket is closed, or is being closed")
}
