// SPDX-License-Identifier: MIT
import TargetKit

/// A message that is written in slices, so that a large message isn't copied as a whole.
///
/// ```swift
/// var message = WebSocketOutgoingMessage(.data(file))
/// while !message.isWritten {
///     writer.write(&message, upTo: 256 << 10, to: &output)
///     try await flush(&output)
/// }
/// ```
struct WebSocketOutgoingMessage: Sendable {
    fileprivate let opcode: WebSocketOpcode
    fileprivate var content: WebSocketMessage
    fileprivate let byteCount: Int
    fileprivate var position = 0
    /// The remaining bytes of the current frame's payload, and its mask.
    fileprivate var frameRest = 0
    fileprivate var mask: WebSocketMask?
    fileprivate(set) var hasBegun = false
    fileprivate var isCompressed = false

    init(_ message: WebSocketMessage) {
        switch message {
        case .text(var text):
            text.makeContiguousUTF8()
            (opcode, content) = (.text, .text(text))
        case .data:
            (opcode, content) = (.binary, message)
        }
        byteCount = message.byteCount
    }

    /// The number of unwritten bytes of the message, before compression.
    var remaining: Int { byteCount - position }
    /// Whether the whole message is written.
    var isWritten: Bool { hasBegun && remaining == 0 }
    /// Whether a control frame may be written now. Other messages must wait until this one is written.
    var isAtFrameBoundary: Bool { frameRest == 0 }
}

extension WebSocketWriter {
    /// Appends the next slice of a message.
    ///
    /// - Parameter byteCount: The maximum number of bytes of the message to write, at least 1. Each slice of a
    ///   compressed message is a frame.
    mutating func write(_ message: inout WebSocketOutgoingMessage, upTo byteCount: Int, to output: inout [UInt8]) {
        guard !message.isWritten else { return }
        let limit = max(1, byteCount)
        if !message.hasBegun { message.isCompressed = shouldCompress(message.remaining) }
        if message.isCompressed {
            writeCompressed(&message, upTo: limit, to: &output)
        } else {
            var rest = limit
            repeat {
                let start = message.position
                writeSlice(&message, upTo: rest, to: &output)
                rest -= message.position - start
            } while rest > 0 && !message.isWritten
        }
    }

    /// Writes a part of one frame, with the header of a new frame.
    private mutating func writeSlice(
        _ message: inout WebSocketOutgoingMessage,
        upTo byteCount: Int,
        to output: inout [UInt8]
    ) {
        if message.frameRest == 0 {
            var header = WebSocketFrameHeader(opcode: message.hasBegun ? .continuation : message.opcode)
            header.length = min(message.remaining, fragmentSize)
            header.isFinal = header.length == message.remaining
            let key = nextKey()
            header.write(maskingKey: key, to: &output)
            message.mask = key.map(WebSocketMask.init)
            message.frameRest = header.length
            message.hasBegun = true
        }
        let count = min(message.frameRest, byteCount)
        message.slice(count) { append($0, mask: &message.mask, to: &output) }
        message.position += count
        message.frameRest -= count
    }

    private mutating func writeCompressed(
        _ message: inout WebSocketOutgoingMessage,
        upTo byteCount: Int,
        to output: inout [UInt8]
    ) {
        let count = min(message.remaining, byteCount)
        let isLast = count == message.remaining
        let opcode = message.hasBegun ? .continuation : message.opcode
        message.slice(count) { bytes in
            let header = WebSocketFrameHeader(opcode: opcode, isFinal: isLast, isCompressed: !message.hasBegun)
            writeCompressed(header, bytes, to: &output)
        }
        message.position += count
        message.hasBegun = true
    }
}

extension WebSocketOutgoingMessage {
    /// Passes the next bytes to a closure.
    fileprivate func slice(_ count: Int, _ body: (UnsafeRawBufferPointer) -> Void) {
        let range = position..<(position + count)
        switch content {
        case .text(var text):
            // Without a copy, because the text is contiguous.
            text.withUTF8 { body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer($0)[range])) }
        case .data(let data):
            data.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[range])) }
        }
    }
}
