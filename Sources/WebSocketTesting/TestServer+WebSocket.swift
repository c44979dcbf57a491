// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting
import TargetKitWebSocket

extension TestServer {
    /// How a `TestServer` accepts a WebSocket.
    public struct WebSocketOptions: Sendable {
        /// The subprotocols that the server speaks. It chooses the first requested one of these; default: none.
        public var subprotocols: [String] = []
        /// Whether messages are compressed if the client offers it (RFC 7692); default `true`.
        public var compresses = true
        /// The largest payload of a frame in bytes. Larger messages are fragmented. Default: no limit.
        public var fragmentSize = Int.max
        /// Whether the server answers pings; default `true`.
        public var answersPings = true
        /// Splits what the server sends into parts of this many bytes, one every 5 milliseconds; default `nil`: it
        /// doesn't.
        public var bytesPerPart: Int?
        /// Records what the client sends; default: a log that isn't used otherwise.
        public var log = WebSocketLog()
        /// What is wrong in the response of the handshake; default `nil`: nothing.
        public var handshakeFault: HandshakeFault?
        /// The parameters that the server chooses of an offer to compress messages.
        package var deflate = PerMessageDeflate()

        /// Creates options, changed by a closure.
        public init(_ change: (inout Self) -> Void = { _ in }) {
            change(&self)
        }
    }

    /// What can be wrong in a response that accepts a WebSocket. Each has an error of the same name or meaning.
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

        /// The reason of the `WebSocketError` that a client reports; `nil` if it reports another error: of the status, the
        /// head, or the end of the connection.
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
    /// After the script, the WebSocket stays open. The server always answers pings and the client's close frame, and
    /// closes the WebSocket with the code that RFC 6455 asks for if the client violates the protocol. A request that
    /// isn't a handshake gets the status 400.
    ///
    /// - Parameters:
    ///   - steps: The script.
    ///   - options: How the WebSocket is accepted.
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

    /// Accepts a WebSocket by a response with a fault.
    public static func webSocket(fault: TestServer.HandshakeFault) -> Self {
        webSocket([], options: TestServer.WebSocketOptions { $0.handshakeFault = fault })
    }
}
