// SPDX-License-Identifier: MIT

/// The rules for a frame, given the previous frames (RFC 6455 §5).
struct WebSocketFrameRules: Sendable {
    var role: WebSocketRole
    var limits: WebSocketLimits
    /// Whether messages may be compressed.
    var allowsCompression: Bool
    /// Whether a message has started whose last frame hasn't arrived, and its size so far.
    var isInMessage = false
    var messageSize = 0
    /// Whether the size of that message is unknown until it is decompressed.
    var isMessageCompressed = false

    /// Checks the first byte.
    func checkKind(_ header: WebSocketFrameHeader) throws(WebSocketError) {
        let startsMessage = header.opcode == .text || header.opcode == .binary
        guard !header.isCompressed || startsMessage && allowsCompression else { throw .reservedBits }
        if header.opcode.isControl {
            guard !header.isFinal else { return }
            throw WebSocketError(.fragmentedControlFrame, "a control frame is fragmented")
        }
        guard startsMessage == isInMessage else { return }
        throw WebSocketError(
            .wrongFragmentation,
            startsMessage ? "a message begins before the previous one ends" : "a continuation frame has no message"
        )
    }

    func checkMask(_ isMasked: Bool) throws(WebSocketError) {
        switch role {
        case .client where isMasked: throw WebSocketError(.maskedFrame, "the server sent a masked frame")
        case .server where !isMasked:
            throw WebSocketError(.unmaskedFrame, "the client sent an unmasked frame")
        default: break
        }
    }

    func checkLength(_ header: WebSocketFrameHeader) throws(WebSocketError) {
        guard !header.opcode.isControl else { return }
        guard header.length <= limits.frameSize else {
            throw WebSocketError(
                .frameTooLarge,
                "a frame of \(header.length) bytes exceeds the limit of \(limits.frameSize) bytes"
            )
        }
        let isCompressed = isInMessage ? isMessageCompressed : header.isCompressed
        guard isCompressed || header.length <= limits.messageSize - messageSize else {
            throw .messageTooLarge(limit: limits.messageSize)
        }
    }
}

extension WebSocketError {
    static let reservedBits = Self(.reservedBits, "a frame has a reserved bit set")

    static func messageTooLarge(limit: Int) -> Self {
        Self(.messageTooLarge, "a message exceeds the limit of \(limit) bytes")
    }
}
