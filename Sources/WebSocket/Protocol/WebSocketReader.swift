// SPDX-License-Identifier: MIT
import Foundation

/// Reads frames from bytes that arrive in arbitrary chunks, and joins them to messages (RFC 6455 §5).
///
/// It stores at most one message, whose memory grows with the received bytes. A frame or message above a limit is
/// rejected when its header arrives. After an error, the reader stops.
package struct WebSocketReader {
    /// A partly received message.
    private struct Message {
        var isText: Bool
        var isCompressed: Bool
    }

    private let deflate: PerMessageDeflate?
    private let rules: WebSocketFrameRules
    /// The incomplete header of a frame.
    private var partialHeader: [UInt8] = []
    /// The frame whose payload is arriving, and the remaining size of the payload.
    private var frame: WebSocketFrameHeader?
    private var remaining = 0
    private var message: Message?
    private let messageBytes = MessageBytes()
    private var controlBytes: [UInt8] = []
    private var utf8 = UTF8Check()
    private var failure: WebSocketError?
    #if os(Linux)
    private var inflater: MessageInflater?
    #endif
    /// Whether a close frame has arrived.
    private(set) var isClosed = false

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - role: The side that reads. A client expects unmasked frames, and a server masked ones.
    ///   - deflate: The negotiated compression; default: none.
    package init(role: WebSocketRole, limits: WebSocketLimits = WebSocketLimits(), deflate: PerMessageDeflate? = nil) {
        self.deflate = deflate
        rules = WebSocketFrameRules(role: role, limits: limits.clamped, allowsCompression: deflate != nil)
    }

    /// Reads bytes, and passes each message and each control frame to the closure as soon as it is complete.
    ///
    /// - Throws: The first protocol violation, after the preceding events, and again on each further call. Bytes after
    ///   a valid close frame are ``WebSocketError/Reason/dataAfterClose``.
    package mutating func read(
        _ bytes: UnsafeRawBufferPointer,
        _ event: (WebSocketEvent) throws(WebSocketError) -> Void
    ) throws(WebSocketError) {
        if let failure { throw failure }
        do {
            var input = bytes
            while !input.isEmpty {
                if frame == nil {
                    guard try readHeader(&input) else { return }
                    if try readWholeMessage(&input, event) { continue }
                }
                try readPayload(&input)
                if remaining == 0 { try finishFrame(event) }
            }
        } catch {
            failure = error
            messageBytes.removeAll()
            throw error
        }
    }

    /// Checks that the connection may end here.
    ///
    /// - Throws: ``WebSocketError/Reason/closedWithoutCloseFrame`` if no close frame has arrived.
    func finish() throws(WebSocketError) {
        if let failure { throw failure }
        guard !isClosed else { return }
        let isInMessage = frame != nil || message != nil || !partialHeader.isEmpty
        let place = isInMessage ? " in the middle of a message" : ""
        throw WebSocketError(.closedWithoutCloseFrame, "the connection ended\(place) without a close frame")
    }
}

// MARK: - Headers

extension WebSocketReader {
    /// Reads a header; returns `false` if bytes are missing.
    private mutating func readHeader(_ input: inout UnsafeRawBufferPointer) throws(WebSocketError) -> Bool {
        guard !isClosed else { throw WebSocketError(.dataAfterClose, "data follows the close frame") }
        var rules = rules
        rules.isInMessage = message != nil
        rules.isMessageCompressed = message?.isCompressed == true
        rules.messageSize = messageBytes.count
        if partialHeader.isEmpty, let (header, size) = try WebSocketFrameHeader.parse(input, rules: rules) {
            input.skip(size)
            begin(header)
            return true
        }
        while let byte = input.first {
            partialHeader.append(byte)
            input.skip(1)
            let parsed = try partialHeader.withUnsafeBufferPointer { (bytes) throws(WebSocketError) in
                try WebSocketFrameHeader.parse(UnsafeRawBufferPointer(bytes), rules: rules)
            }
            guard let parsed else { continue }
            partialHeader.removeAll(keepingCapacity: true)
            begin(parsed.header)
            // A frame without a payload is already complete.
            return true
        }
        return false
    }

    private mutating func begin(_ header: WebSocketFrameHeader) {
        frame = header
        remaining = header.length
        if header.opcode == .text || header.opcode == .binary {
            message = Message(isText: header.opcode == .text, isCompressed: header.isCompressed)
        }
    }
}

// MARK: - Payloads

extension WebSocketReader {
    /// Reads a message that arrived as one complete frame, without an intermediate copy, and returns whether there was
    /// one.
    private mutating func readWholeMessage(
        _ input: inout UnsafeRawBufferPointer,
        _ event: (WebSocketEvent) throws(WebSocketError) -> Void
    ) throws(WebSocketError) -> Bool {
        guard let frame, frame.isFinal, !frame.isCompressed, frame.mask == nil, input.count >= remaining,
            frame.opcode == .text || frame.opcode == .binary
        else { return false }
        let payload = UnsafeRawBufferPointer(rebasing: input[..<remaining])
        input.skip(remaining)
        self.frame = nil
        message = nil
        remaining = 0
        if frame.opcode == .binary {
            try event(.data(Data(payload)))
        } else if let text = String(exactly: payload) {
            try event(.text(text))
        } else {
            try checkText(payload)
            try checkTextEnd()
        }
        return true
    }

    /// Reads the available part of the frame's payload.
    private mutating func readPayload(_ input: inout UnsafeRawBufferPointer) throws(WebSocketError) {
        guard let frame else { return }
        let piece = UnsafeRawBufferPointer(rebasing: input[..<min(remaining, input.count)])
        input.skip(piece.count)
        remaining -= piece.count
        if frame.opcode.isControl {
            appendControl(piece)
        } else if message?.isCompressed == true {
            try inflate(piece)
        } else {
            let start = messageBytes.count
            try messageBytes.append(piece.count, limit: rules.limits.messageSize) { (memory) throws(WebSocketError) in
                copy(piece, to: memory)
                return piece.count
            }
            if message?.isText == true {
                try checkText(UnsafeRawBufferPointer(rebasing: messageBytes.bytes[start...]))
            }
        }
    }

    private mutating func copy(_ piece: UnsafeRawBufferPointer, to memory: UnsafeMutableRawBufferPointer) {
        guard let base = memory.baseAddress else { return }
        if frame?.mask?.apply(to: piece, into: base) == nil { memory.copyMemory(from: piece) }
    }

    private mutating func appendControl(_ piece: UnsafeRawBufferPointer) {
        let start = controlBytes.count
        controlBytes.append(contentsOf: piece)
        controlBytes.withUnsafeMutableBytes { bytes in
            frame?.mask?.apply(to: UnsafeMutableRawBufferPointer(rebasing: bytes[start...]))
        }
    }

    /// Validates the text at the end of the message's bytes.
    private mutating func checkText(_ bytes: UnsafeRawBufferPointer) throws(WebSocketError) {
        guard let index = utf8.firstInvalid(in: bytes) else { return }
        let offset = max(0, messageBytes.count - bytes.count) + index
        throw WebSocketError(.invalidUTF8, "a text message isn't UTF-8 at byte \(offset)")
    }

    private mutating func checkTextEnd() throws(WebSocketError) {
        guard utf8.isAtBoundary else {
            throw WebSocketError(.invalidUTF8, "a text message ends in the middle of a character")
        }
        utf8 = UTF8Check()
    }
}

// MARK: - The end of a frame

extension WebSocketReader {
    private mutating func finishFrame(
        _ event: (WebSocketEvent) throws(WebSocketError) -> Void
    ) throws(WebSocketError) {
        guard let frame else { return }
        self.frame = nil
        guard !frame.opcode.isControl else {
            let payload = controlBytes
            controlBytes.removeAll(keepingCapacity: true)
            return try finishControl(frame.opcode, payload, event)
        }
        guard frame.isFinal, let message else { return }
        if message.isCompressed { try finishInflating() }
        self.message = nil
        guard message.isText else { return try event(.data(messageBytes.takeData())) }
        let isASCII = utf8.isASCII
        try checkTextEnd()
        let text = messageBytes.text(isASCII: isASCII)
        messageBytes.removeAll()
        try event(.text(text))
    }

    private mutating func finishControl(
        _ opcode: WebSocketOpcode,
        _ payload: [UInt8],
        _ event: (WebSocketEvent) throws(WebSocketError) -> Void
    ) throws(WebSocketError) {
        switch opcode {
        case .ping: try event(.ping(Data(payload)))
        case .pong: try event(.pong(Data(payload)))
        default:
            let close = try closeEvent(payload)
            isClosed = true
            try event(close)
        }
    }

    /// Parses the payload of a close frame (RFC 6455 §5.5.1).
    private func closeEvent(_ payload: [UInt8]) throws(WebSocketError) -> WebSocketEvent {
        guard !payload.isEmpty else { return .close(nil, "") }
        guard payload.count >= 2 else {
            throw WebSocketError(.invalidClosePayload, "the payload of a close frame has one byte")
        }
        let code = WebSocketCloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        guard code.maySend else {
            throw WebSocketError(.invalidCloseCode, "a close frame has the code \(code), which may not be sent")
        }
        guard let reason = payload.withUnsafeBytes({ String(exactly: UnsafeRawBufferPointer(rebasing: $0[2...])) })
        else { throw WebSocketError(.invalidUTF8, "the reason of a close frame isn't UTF-8") }
        return .close(code, reason)
    }
}

// MARK: - Compressed messages

extension WebSocketReader {
    /// The size of the buffer for unmasked bytes before decompression.
    private static let scratchSize = 16 << 10

    private mutating func inflate(_ piece: UnsafeRawBufferPointer) throws(WebSocketError) {
        var rest = piece
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.scratchSize))
            rest.skip(part.count)
            guard frame?.mask != nil else {
                try inflateUnmasked(part)
                continue
            }
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: part.count, alignment: 8)
            defer { memory.deallocate() }
            copy(part, to: memory)
            try inflateUnmasked(UnsafeRawBufferPointer(memory))
        }
    }

    #if os(Linux)
    private mutating func inflateUnmasked(_ bytes: UnsafeRawBufferPointer) throws(WebSocketError) {
        try makeInflater().inflate(bytes, into: messageBytes, limit: rules.limits.messageSize) {
            (output) throws(WebSocketError) in
            if message?.isText == true { try checkText(output) }
        }
    }

    private mutating func finishInflating() throws(WebSocketError) {
        try makeInflater().finish(into: messageBytes, limit: rules.limits.messageSize) {
            (output) throws(WebSocketError) in
            if message?.isText == true { try checkText(output) }
        }
    }

    private mutating func makeInflater() throws(WebSocketError) -> MessageInflater {
        if let inflater { return inflater }
        let bits = rules.role == .client ? deflate?.serverWindowBits : deflate?.clientWindowBits
        let isReset = rules.role == .client ? deflate?.serverNoContextTakeover : deflate?.clientNoContextTakeover
        guard let created = MessageInflater(windowBits: bits ?? 15, isContextKept: isReset == false) else {
            throw WebSocketError(.invalidCompressedData, "a message is compressed, but zlib isn't available")
        }
        inflater = created
        return created
    }
    #else
    private mutating func inflateUnmasked(_ bytes: UnsafeRawBufferPointer) throws(WebSocketError) {
        try finishInflating()
    }

    private mutating func finishInflating() throws(WebSocketError) {
        throw WebSocketError(.invalidCompressedData, "a message is compressed, but zlib isn't available")
    }
    #endif
}

extension UnsafeRawBufferPointer {
    /// Removes bytes at the start.
    fileprivate mutating func skip(_ byteCount: Int) {
        self = UnsafeRawBufferPointer(rebasing: self[byteCount...])
    }
}

extension String {
    /// Decodes UTF-8; `nil` if the bytes aren't valid.
    init?(exactly bytes: UnsafeRawBufferPointer) {
        // Decoding repairs invalid bytes, so the text then differs from the bytes.
        var text = String(decoding: bytes, as: UTF8.self)
        let isExact = text.withUTF8 { decoded in
            guard decoded.count == bytes.count, let left = decoded.baseAddress, let right = bytes.baseAddress else {
                return decoded.count == bytes.count
            }
            return memcmp(left, right, bytes.count) == 0
        }
        guard isExact else { return nil }
        self = text
    }
}
