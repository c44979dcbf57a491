// SPDX-License-Identifier: MIT
import Foundation

/// A message that is written in slices, so that a large one isn't copied at once.
///
/// ```swift
/// var message = WebSocketOutgoingMessage(data: file)
/// while !message.isWritten {
///     writer.write(&message, upTo: 256 << 10, to: &output)
///     try await flush(&output)
/// }
/// ```
struct WebSocketOutgoingMessage: Sendable {
    fileprivate let opcode: WebSocketOpcode
    fileprivate let bytes: Data
    fileprivate var position = 0
    /// The rest of the current frame's payload in bytes, and its mask.
    fileprivate var frameRest = 0
    fileprivate var mask: WebSocketMask?
    fileprivate(set) var hasBegun = false
    fileprivate var isCompressed = false

    init(text: String) {
        opcode = .text
        bytes = Data(text.utf8)
    }

    init(data: Data) {
        opcode = .binary
        bytes = data
    }

    /// The number of bytes of the message, before compression, that aren't written.
    var remaining: Int { bytes.count - position }
    /// Whether the whole message is written.
    var isWritten: Bool { hasBegun && remaining == 0 }
    /// Whether a control frame may be written now. No other message may be, until this one is written.
    var isAtFrameBoundary: Bool { frameRest == 0 }
}

extension WebSocketWriter {
    /// Appends the next slice of a message.
    ///
    /// - Parameter byteCount: The most bytes of the message to write; at least 1. A compressed message becomes a frame
    ///   for each slice.
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

    /// Writes a part of one frame, with its header if that is new.
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
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[position..<(position + count)])) }
    }
}
