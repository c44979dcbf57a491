// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting
import TargetKitWebSocket

extension TestServer {
    /// The options with which a `TestServer` accepts a WebSocket.
    public struct WebSocketOptions: Sendable {
        /// The subprotocols that the server supports; default: none. The server chooses the first requested one that it
        /// supports.
        public var subprotocols: [String] = []
        /// Whether messages are compressed if the client offers it (RFC 7692); default `true`.
        public var compresses = true
        /// The maximum payload of a frame in bytes. Larger messages are fragmented. Default: no limit.
        public var fragmentSize = Int.max
        /// Whether the server responds to pings; default `true`.
        public var answersPings = true
        /// The size in bytes of the parts that the server sends, one every 5 milliseconds; default `nil`: output isn't
        /// split.
        public var bytesPerPart: Int?
        /// Records the client's messages and frames; default: an unused log.
        public var log = WebSocketLog()
        /// The fault in the handshake's response; default `nil`: none.
        public var handshakeFault: HandshakeFault?
        /// The compression parameters that the server chooses.
        package var deflate = PerMessageDeflate()

        /// Creates options, changed by a closure.
        public init(_ change: (inout Self) -> Void = { _ in }) {
            change(&self)
        }
    }

    /// A fault in a response that accepts a WebSocket. Each one corresponds to an error with the same name or meaning.
    public enum HandshakeFault: String, Sendable, Hashable, CaseIterable {
        /// `Sec-WebSocket-Accept` belongs to another key.
        case wrongAccept
        /// There is no `Sec-WebSocket-Accept`.
        case missingAccept
        /// There is no `Upgrade`.
        case missingUpgrade
        /// There is no `Connection`.
        case missingConnection
        /// A subprotocol that wasn't requested.
        case unrequestedSubprotocol
        /// An extension that wasn't offered.
        case unrequestedExtension
        /// The status is 200.
        case wrongStatus
        /// The head never ends.
        case endlessHead
        /// The connection is closed in the middle of the head.
        case truncatedHead

        /// The reason of the `WebSocketError` that a client reports; `nil` if it reports another error, for the status,
        /// the head, or the end of the connection.
        public var expected: WebSocketError.Reason? {
            switch self {
            case .wrongAccept, .missingAccept: .wrongAccept
            case .missingUpgrade: .wrongUpgrade
            case .missingConnection: .wrongConnection
            case .unrequestedSubprotocol: .unrequestedSubprotocol
            case .unrequestedExtension: .unrequestedExtension
            case .wrongStatus, .endlessHead, .truncatedHead: nil
            }
        }
    }
}

extension TestServer.Response {
    /// Accepts a WebSocket, and runs a script.
    ///
    /// ```swift
    /// let server = try TestServer(routes: [
    ///     .get("/echo"): .webSocket(.echo),
    ///     .get("/prices"): .webSocket(.expect("TEA"), .send("4.2"), .wait(for: .seconds(1)), .close(.goingAway)),
    ///     .get("/broken"): .webSocket(.send("1"), .fault(.maskedFrame)),
    /// ])
    /// ```
    ///
    /// After the script, the WebSocket stays open. The server always responds to pings and to the client's close frame.
    /// If the client violates the protocol, the server closes the WebSocket with the code that RFC 6455 requires. The
    /// response to a request that isn't a handshake has status 400.
    ///
    /// - Parameters:
    ///   - steps: The script.
    ///   - options: The options of the WebSocket.
    public static func webSocket(
        _ steps: TestServer.WebSocketStep...,
        options: TestServer.WebSocketOptions = TestServer.WebSocketOptions()
    ) -> Self {
        webSocket(steps, options: options)
    }

    /// Accepts a WebSocket, and runs a script. See ``webSocket(_:options:)-(TestServer.WebSocketStep...,_)``.
    public static func webSocket(
        _ steps: [TestServer.WebSocketStep],
        options: TestServer.WebSocketOptions = TestServer.WebSocketOptions()
    ) -> Self {
        [.upgrade { ServerHandshake(request: $0, options: options).upgrade(script: steps) }]
    }

    /// Accepts a WebSocket with a faulty response.
    public static func webSocket(fault: TestServer.HandshakeFault) -> Self {
        webSocket([], options: TestServer.WebSocketOptions { $0.handshakeFault = fault })
    }
}
