// SPDX-License-Identifier: MIT
import TargetKit

/// A protocol violation of the peer, or an invalid request or message of the app.
///
/// ```swift
/// if error.reason == .messageTooLarge { print(error) }
/// // "a message of 20000000 bytes exceeds the limit of 16777216 bytes"
/// ```
public struct WebSocketError: LocalizedError, Sendable, Hashable {
    /// The reason for the error.
    public enum Reason: Sendable, Hashable, CaseIterable {
        /// The server switched protocols with HTTP/1.0 (RFC 6455 §4.1).
        case handshakeRefused
        /// The response lacks `Upgrade: websocket` (RFC 6455 §4.1).
        case wrongUpgrade
        /// The response lacks `Connection: Upgrade` (RFC 6455 §4.1).
        case wrongConnection
        /// `Sec-WebSocket-Accept` doesn't belong to the request's key (RFC 6455 §4.1).
        case wrongAccept
        /// The server chose a subprotocol that wasn't requested (RFC 6455 §4.1).
        case unrequestedSubprotocol
        /// The server chose an extension that wasn't offered, or with invalid parameters (RFC 6455 §9.1).
        case unrequestedExtension
        /// The request can't be sent, for example because of its URL or a line break in a header field.
        case invalidRequest
        /// A reserved bit is set (RFC 6455 §5.2).
        case reservedBits
        /// The opcode is reserved (RFC 6455 §5.2).
        case reservedOpcode
        /// A server's frame is masked (RFC 6455 §5.1).
        case maskedFrame
        /// A client's frame isn't masked (RFC 6455 §5.1).
        case unmaskedFrame
        /// A length isn't encoded in the fewest bytes, or exceeds 63 bits (RFC 6455 §5.2).
        case invalidLength
        /// A continuation without a message, or a new message before the end of the last one (RFC 6455 §5.4).
        case wrongFragmentation
        /// A control frame exceeds 125 bytes (RFC 6455 §5.5).
        case controlFrameTooLong
        /// A control frame is fragmented (RFC 6455 §5.5).
        case fragmentedControlFrame
        /// A text message or a close reason isn't UTF-8 (RFC 6455 §8.1).
        case invalidUTF8
        /// The code of a close frame may not be sent (RFC 6455 §7.4).
        case invalidCloseCode
        /// The payload of a close frame has one byte, or its reason is longer than 123 bytes (RFC 6455 §5.5.1).
        case invalidClosePayload
        /// A frame exceeds the limit (RFC 6455 §10.4).
        case frameTooLarge
        /// A message exceeds the limit (RFC 6455 §10.4).
        case messageTooLarge
        /// A compressed message can't be decompressed (RFC 7692 §7.2.2).
        case invalidCompressedData
        /// Bytes follow a close frame (RFC 6455 §5.5.1).
        case dataAfterClose
        /// The connection ended without a close frame (RFC 6455 §7.1.5).
        case closedWithoutCloseFrame
        /// The server closed the WebSocket with a code that indicates an error.
        case closedByServer
        /// Nothing can be sent, because a close frame was sent or received.
        case alreadyClosed
        /// Another task waits for the next message.
        case alreadyRead
        /// No pong arrived in time.
        case noPong
    }

    /// The reason for the error.
    public var reason: Reason
    /// One sentence in lowercase, without a period. It contains no payload.
    public var message: String
    /// The code with which the server closed the WebSocket, for ``Reason/closedByServer``; otherwise `nil`.
    public internal(set) var serverCode: WebSocketCloseCode?

    /// Creates an error.
    public init(_ reason: Reason, _ message: String) {
        self.reason = reason
        self.message = message
    }

    /// The code of the close frame to send for this error; `nil` if there is no open WebSocket to close (RFC 6455
    /// §7.4.1). After ``Reason/closedWithoutCloseFrame`` it is ``WebSocketCloseCode/abnormal``, which is never sent.
    public var closeCode: WebSocketCloseCode? {
        switch reason {
        case .handshakeRefused, .wrongUpgrade, .wrongConnection, .wrongAccept, .unrequestedSubprotocol,
            .unrequestedExtension, .invalidRequest, .closedByServer, .alreadyClosed,
            .alreadyRead:
            nil
        case .reservedBits, .reservedOpcode, .maskedFrame, .unmaskedFrame, .invalidLength, .wrongFragmentation,
            .controlFrameTooLong, .fragmentedControlFrame, .invalidCloseCode, .invalidClosePayload, .dataAfterClose:
            .protocolError
        case .invalidUTF8, .invalidCompressedData: .invalidPayload
        case .frameTooLarge, .messageTooLarge: .messageTooBig
        case .closedWithoutCloseFrame: .abnormal
        case .noPong: .goingAway
        }
    }

    /// The message.
    public var errorDescription: String? { message }
}

extension WebSocketError: ErrorWithKind, ReflectsDescription {
    /// The message.
    public var description: String { message }

    /// The kind of the failure.
    package var kind: TargetKitError.Kind? {
        switch reason {
        case .messageTooLarge, .frameTooLarge: .tooLarge
        case .invalidRequest: .invalidRequest
        case .noPong: .timedOut
        default: .connectionLost
        }
    }
}
