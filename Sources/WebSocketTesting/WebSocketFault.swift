// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting
import TargetKitWebSocket

extension TestServer {
    /// Frames that RFC 6455 forbids a server to send.
    public enum WebSocketFault: String, Sendable, Hashable, CaseIterable {
        /// A masked text message.
        case maskedFrame
        /// A text message with the second reserved bit.
        case reservedBits
        /// A frame with the opcode 3.
        case reservedOpcode
        /// A control frame with the opcode 11.
        case reservedControlOpcode
        /// A ping without the bit that ends a message.
        case fragmentedControlFrame
        /// A ping of 126 bytes.
        case controlFrameTooLong
        /// A continuation without a message.
        case unexpectedContinuation
        /// The beginning of a message, and then another message.
        case interleavedMessages
        /// A text message that isn't UTF-8.
        case invalidUTF8
        /// The first half of a text message that isn't valid UTF-8. The rest never arrives.
        case invalidUTF8InFragment
        /// A length of 5 in two bytes.
        case longLengthEncoding
        /// A length above 63 bits.
        case invalidLength
        /// The header of a message of 2^62 bytes. The message never arrives.
        case hugeFrame
        /// A close frame with the code 1005.
        case invalidCloseCode
        /// A close frame with one byte.
        case invalidClosePayload
        /// A close frame whose reason isn't UTF-8.
        case invalidCloseReason
        /// A message marked as compressed, with invalid data.
        case invalidCompressedData
        /// A close frame, and then a text message.
        case dataAfterClose

        /// The error that a client reports. Without compression, ``invalidCompressedData`` is
        /// ``WebSocketError/Reason/reservedBits``.
        public var expected: WebSocketError.Reason {
            switch self {
            case .maskedFrame: .maskedFrame
            case .reservedBits: .reservedBits
            case .reservedOpcode, .reservedControlOpcode: .reservedOpcode
            case .fragmentedControlFrame: .fragmentedControlFrame
            case .controlFrameTooLong: .controlFrameTooLong
            case .unexpectedContinuation, .interleavedMessages: .wrongFragmentation
            case .invalidUTF8, .invalidUTF8InFragment, .invalidCloseReason: .invalidUTF8
            case .longLengthEncoding, .invalidLength: .invalidLength
            case .hugeFrame: .frameTooLarge
            case .invalidCloseCode: .invalidCloseCode
            case .invalidClosePayload: .invalidClosePayload
            case .invalidCompressedData: .invalidCompressedData
            case .dataAfterClose: .dataAfterClose
            }
        }

        /// The frames.
        var bytes: [UInt8] {
            switch self {
            case .maskedFrame: [0x81, 0x82, 1, 2, 3, 4, 0x69, 0x6B]
            case .reservedBits: [0xA1, 0x02, 0x68, 0x69]
            case .reservedOpcode: [0x83, 0x00]
            case .reservedControlOpcode: [0x8B, 0x00]
            case .fragmentedControlFrame: [0x09, 0x00]
            case .controlFrameTooLong: [0x89, 126, 0, 126] + [UInt8](repeating: 0, count: 126)
            case .unexpectedContinuation: [0x80, 0x02, 0x68, 0x69]
            case .interleavedMessages: [0x01, 0x01, 0x68, 0x81, 0x01, 0x69]
            case .invalidUTF8: [0x81, 0x02, 0xC0, 0x80]
            case .invalidUTF8InFragment: [0x01, 0x02, 0xF4, 0x90]
            case .longLengthEncoding: [0x82, 126, 0, 5, 1, 2, 3, 4, 5]
            case .invalidLength: [0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0]
            case .hugeFrame: [0x82, 127, 0x40, 0, 0, 0, 0, 0, 0, 0]
            case .invalidCloseCode: [0x88, 0x02, 0x03, 0xED]
            case .invalidClosePayload: [0x88, 0x01, 0x03]
            case .invalidCloseReason: [0x88, 0x03, 0x03, 0xE8, 0xFF]
            case .invalidCompressedData: [0xC2, 0x01, 0xFF]
            case .dataAfterClose: [0x88, 0x02, 0x03, 0xE8, 0x81, 0x02, 0x68, 0x69]
            }
        }
    }
}
