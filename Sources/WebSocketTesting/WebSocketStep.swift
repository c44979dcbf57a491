// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting
import TargetKitWebSocket

extension TestServer {
    /// One thing that a server does on a WebSocket. Steps run one after another.
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

        /// Sends a ping, whose payload is cut off after 125 bytes; default: none.
        public static func ping(_ payload: Data = Data()) -> Self { Self(action: .ping(payload.prefix(125))) }

        /// Sends a pong that no ping asked for. Its payload is cut off after 125 bytes; default: none.
        public static func pong(_ payload: Data = Data()) -> Self { Self(action: .pong(payload.prefix(125))) }

        /// Waits for the next message.
        public static var receive: Self { Self(action: .receive) }

        /// Waits for the next message. If it isn't this text, the server closes the WebSocket with
        /// ``WebSocketCloseCode/policyViolation``, and adds to ``WebSocketLog/failures``.
        public static func expect(_ text: String) -> Self { Self(action: .expect(.text(text))) }

        /// Waits for the next message. If it isn't this data, the server closes the WebSocket with
        /// ``WebSocketCloseCode/policyViolation``, and adds to ``WebSocketLog/failures``.
        public static func expect(_ data: Data) -> Self { Self(action: .expect(.data(data))) }

        /// Waits for the next message, and continues with the steps that the closure returns. It is called on the
        /// server's thread, and must not block.
        public static func respond(
            _ steps: @escaping @Sendable (WebSocketMessage) -> [WebSocketStep]
        ) -> Self {
            Self(action: .respond(steps))
        }

        /// Sends each message back until the client closes the WebSocket.
        public static var echo: Self { Self(action: .echo) }

        /// Sends a close frame. When the client has answered, the server closes the connection.
        ///
        /// - Parameters:
        ///   - code: The code; `nil`: neither a code nor the reason. Default: ``WebSocketCloseCode/normal``.
        ///   - reason: The reason; default: none. What exceeds 123 bytes is left out, and a code that may not be sent
        ///     is sent nevertheless.
        public static func close(_ code: WebSocketCloseCode? = .normal, reason: String = "") -> Self {
            Self(action: .close(code, reason))
        }

        /// Sends bytes, which aren't checked, so that they can be invalid frames.
        public static func bytes(_ bytes: [UInt8]) -> Self { Self(action: .bytes(bytes)) }

        /// Sends what RFC 6455 forbids.
        public static func fault(_ fault: WebSocketFault) -> Self { Self(action: .bytes(fault.bytes)) }

        /// Waits, in real time.
        public static func wait(for duration: Duration) -> Self { Self(action: .step(.wait(for: duration))) }

        /// Waits until a closure returns. Its task is cancelled when the connection ends.
        public static func wait(until condition: @escaping @Sendable () async -> Void) -> Self {
            Self(action: .step(.wait(until: condition)))
        }

        /// Does nothing more, not even answer pings, until the client closes the connection.
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
