// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting
import TargetKitWebSocket

extension TestServer {
    /// One action of a server on a WebSocket. Steps run in sequence.
    public struct WebSocketStep: Sendable {
        enum Action: Sendable {
            case message(WebSocketMessage)
            case ping(Data)
            case pong(Data)
            case close(WebSocketCloseCode?, String)
            case receive
            case expect(WebSocketMessage)
            case respond(@Sendable (WebSocketMessage) -> [WebSocketStep])
            case echo
            case bytes([UInt8])
            case step(Step)
        }

        let action: Action

        /// Sends a text message.
        public static func send(_ text: String) -> Self { Self(action: .message(.text(text))) }

        /// Sends a binary message.
        public static func send(_ data: Data) -> Self { Self(action: .message(.data(data))) }

        /// Sends a ping. The payload is truncated to 125 bytes; default: none.
        public static func ping(_ payload: Data = Data()) -> Self { Self(action: .ping(payload.prefix(125))) }

        /// Sends an unsolicited pong. The payload is truncated to 125 bytes; default: none.
        public static func pong(_ payload: Data = Data()) -> Self { Self(action: .pong(payload.prefix(125))) }

        /// Waits for the next message.
        public static var receive: Self { Self(action: .receive) }

        /// Waits for the next message. If it isn't this text, the server closes the WebSocket with
        /// ``WebSocketCloseCode/policyViolation``, and records the failure in ``WebSocketLog/failures``.
        public static func expect(_ text: String) -> Self { Self(action: .expect(.text(text))) }

        /// Waits for the next message. If it isn't this data, the server closes the WebSocket with
        /// ``WebSocketCloseCode/policyViolation``, and records the failure in ``WebSocketLog/failures``.
        public static func expect(_ data: Data) -> Self { Self(action: .expect(.data(data))) }

        /// Waits for the next message, and continues with the steps that the closure returns. It is called on the
        /// server's thread, and must not block.
        public static func respond(
            _ steps: @escaping @Sendable (WebSocketMessage) -> [WebSocketStep]
        ) -> Self {
            Self(action: .respond(steps))
        }

        /// Echoes each message until the client closes the WebSocket.
        public static var echo: Self { Self(action: .echo) }

        /// Sends a close frame. When the client has responded, the server closes the connection.
        ///
        /// - Parameters:
        ///   - code: The code; `nil` to send neither a code nor the reason. Default: ``WebSocketCloseCode/normal``.
        ///   - reason: The reason, truncated to 123 bytes; default: none. Codes that may not be sent are sent anyway.
        public static func close(_ code: WebSocketCloseCode? = .normal, reason: String = "") -> Self {
            Self(action: .close(code, reason))
        }

        /// Sends bytes without checks, for example invalid frames.
        public static func bytes(_ bytes: [UInt8]) -> Self { Self(action: .bytes(bytes)) }

        /// Sends a frame that RFC 6455 forbids.
        public static func fault(_ fault: WebSocketFault) -> Self { Self(action: .bytes(fault.bytes)) }

        /// Waits, in real time.
        public static func wait(for duration: Duration) -> Self { Self(action: .step(.wait(for: duration))) }

        /// Waits until a closure returns. Its task is cancelled when the connection ends.
        public static func wait(until condition: @escaping @Sendable () async -> Void) -> Self {
            Self(action: .step(.wait(until: condition)))
        }

        /// Stops responding, even to pings, until the client closes the connection.
        public static var hang: Self { Self(action: .step(.hang)) }

        /// Stops reading, so that the client can't send more than the kernel's buffers hold.
        public static var stopReading: Self { Self(action: .step(.stopReading)) }

        /// Closes the server's half of the connection (TCP FIN) without a close frame, and discards what the client
        /// sends.
        public static var halfClose: Self { Self(action: .step(.halfClose)) }

        /// Closes the connection without a close frame.
        public static var disconnect: Self { Self(action: .step(.close)) }

        /// Resets the connection (TCP RST).
        public static var reset: Self { Self(action: .step(.reset)) }
    }
}
