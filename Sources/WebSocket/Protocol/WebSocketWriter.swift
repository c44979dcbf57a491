// SPDX-License-Identifier: MIT
import Foundation

/// Writes messages and control frames (RFC 6455 §5).
package struct WebSocketWriter {
    private let role: WebSocketRole
    private let deflate: PerMessageDeflate?
    let fragmentSize: Int
    private var random: any RandomNumberGenerator
    private var spareKey: UInt32?
    private var compressed: [UInt8] = []
    #if os(Linux)
    private var deflater: MessageDeflater?
    #endif

    /// The capacity that is retained for the next compressed message.
    private static let keptCapacity = 4 << 10

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - role: The side that writes. A client masks its frames.
    ///   - deflate: The negotiated compression; default: none.
    ///   - fragmentSize: The maximum payload of a frame in bytes; larger messages are fragmented. Default: no limit.
    ///   - random: Generates the masking keys, which must be unpredictable (RFC 6455 §10.3). Default: the system's
    ///     generator.
    package init(
        role: WebSocketRole,
        deflate: PerMessageDeflate? = nil,
        fragmentSize: Int = .max,
        random: any RandomNumberGenerator = SystemRandomNumberGenerator()
    ) {
        self.role = role
        self.deflate = deflate
        self.fragmentSize = max(1, fragmentSize)
        self.random = random
    }

    /// Appends a text message.
    package mutating func write(text: String, to output: inout [UInt8]) {
        var text = text
        text.withUTF8 { write(.text, UnsafeRawBufferPointer($0), to: &output) }
    }

    /// Appends a binary message.
    package mutating func write(data: some ContiguousBytes, to output: inout [UInt8]) {
        data.withUnsafeBytes { write(.binary, $0, to: &output) }
    }

    /// Appends a ping.
    ///
    /// - Throws: ``WebSocketError/Reason/controlFrameTooLong`` if the payload exceeds 125 bytes.
    package mutating func write(ping payload: Data, to output: inout [UInt8]) throws(WebSocketError) {
        try writeControl(.ping, payload, to: &output)
    }

    /// Appends a pong.
    ///
    /// - Throws: ``WebSocketError/Reason/controlFrameTooLong`` if the payload exceeds 125 bytes.
    package mutating func write(pong payload: Data, to output: inout [UInt8]) throws(WebSocketError) {
        try writeControl(.pong, payload, to: &output)
    }

    /// Appends a close frame.
    ///
    /// - Parameter code: The code; `nil` sends neither a code nor the reason.
    /// - Throws: ``WebSocketError/Reason/invalidCloseCode`` if the code may not be sent;
    ///   ``WebSocketError/Reason/invalidClosePayload`` if the reason exceeds 123 bytes of UTF-8.
    package mutating func write(
        close code: WebSocketCloseCode?,
        reason: String = "",
        to output: inout [UInt8]
    ) throws(WebSocketError) {
        guard let code else { return try writeControl(.close, Data(), to: &output) }
        guard code.maySend else {
            throw WebSocketError(.invalidCloseCode, "the close code \(code) may not be sent")
        }
        let payload = Data([UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xFF)] + reason.utf8)
        guard payload.count <= WebSocketFrameHeader.maximumControlLength else {
            throw WebSocketError(.invalidClosePayload, "the reason of a close frame exceeds 123 bytes")
        }
        try writeControl(.close, payload, to: &output)
    }

    private mutating func writeControl(
        _ opcode: WebSocketOpcode,
        _ payload: Data,
        to output: inout [UInt8]
    ) throws(WebSocketError) {
        guard payload.count <= WebSocketFrameHeader.maximumControlLength else {
            throw WebSocketError(.controlFrameTooLong, "the payload of a control frame exceeds 125 bytes")
        }
        payload.withUnsafeBytes { writeFrame(WebSocketFrameHeader(opcode: opcode), $0, to: &output) }
    }
}

// MARK: - Messages and frames

extension WebSocketWriter {
    private mutating func write(
        _ opcode: WebSocketOpcode,
        _ payload: UnsafeRawBufferPointer,
        to output: inout [UInt8]
    ) {
        if shouldCompress(payload.count) {
            let header = WebSocketFrameHeader(opcode: opcode, isCompressed: true)
            writeCompressed(header, payload, to: &output)
        } else {
            writeFrames(WebSocketFrameHeader(opcode: opcode), payload, to: &output)
        }
    }

    /// Whether a message of a size is compressed.
    mutating func shouldCompress(_ byteCount: Int) -> Bool {
        #if os(Linux)
        guard let deflate, byteCount > 0, byteCount >= deflate.minimumSize else { return false }
        if deflater == nil {
            deflater = MessageDeflater(
                windowBits: role == .client ? deflate.clientWindowBits : deflate.serverWindowBits,
                isContextKept: !(role == .client ? deflate.clientNoContextTakeover : deflate.serverNoContextTakeover)
            )
        }
        return deflater != nil
        #else
        return false
        #endif
    }

    /// Writes a compressed message or a part of it. The header indicates whether the part is the last one.
    mutating func writeCompressed(
        _ header: WebSocketFrameHeader,
        _ payload: UnsafeRawBufferPointer,
        to output: inout [UInt8]
    ) {
        #if os(Linux)
        var bytes = compressed
        compressed = []
        bytes.removeAll(keepingCapacity: true)
        deflater?.deflate(payload, isLast: header.isFinal, into: &bytes)
        bytes.withUnsafeBytes { writeFrames(header, $0, to: &output) }
        if bytes.capacity <= Self.keptCapacity { compressed = bytes }
        #endif
    }

    /// Writes a message or a part of it, in several frames if it exceeds the fragment size.
    private mutating func writeFrames(
        _ header: WebSocketFrameHeader,
        _ payload: UnsafeRawBufferPointer,
        to output: inout [UInt8]
    ) {
        var first = header
        var rest = payload[...]
        while rest.count > fragmentSize {
            first.isFinal = false
            writeFrame(first, UnsafeRawBufferPointer(rebasing: rest.prefix(fragmentSize)), to: &output)
            rest = rest.dropFirst(fragmentSize)
            first = WebSocketFrameHeader(opcode: .continuation)
        }
        first.isFinal = header.isFinal
        writeFrame(first, UnsafeRawBufferPointer(rebasing: rest), to: &output)
    }

    private mutating func writeFrame(
        _ header: WebSocketFrameHeader,
        _ payload: UnsafeRawBufferPointer,
        to output: inout [UInt8]
    ) {
        var header = header
        header.length = payload.count
        let key = nextKey()
        header.write(maskingKey: key, to: &output)
        var mask = key.map(WebSocketMask.init)
        append(payload, mask: &mask, to: &output)
    }

    /// Appends bytes, masked if there is a mask.
    func append(_ bytes: UnsafeRawBufferPointer, mask: inout WebSocketMask?, to output: inout [UInt8]) {
        let start = output.count
        output.append(contentsOf: bytes)
        guard var key = mask else { return }
        output.withUnsafeMutableBytes { key.apply(to: UnsafeMutableRawBufferPointer(rebasing: $0[start...])) }
        mask = key
    }

    /// The key of the next frame; `nil` for a server.
    mutating func nextKey() -> UInt32? {
        guard role == .client else { return nil }
        if let key = spareKey {
            spareKey = nil
            return key
        }
        let bits = random.next()
        spareKey = UInt32(truncatingIfNeeded: bits >> 32)
        return UInt32(truncatingIfNeeded: bits)
    }
}
