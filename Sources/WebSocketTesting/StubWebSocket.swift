// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting
import TargetKitWebSocket

/// A transport that simulates a WebSocket server in a test. It opens no connection, and runs a script for each
/// WebSocket.
///
/// ```swift
/// let server = StubWebSocket(clock: clock) { client in
///     try await client.expect(.text(#"{"subscribe":"TEA"}"#))
///     client.send(#"{"symbol":"TEA","price":4.2}"#)
///     try await client.wait(for: .seconds(60))
///     client.close(1001)
/// }
/// let provider = Provider<Feed>(transport: server, clock: clock)
/// let socket = try await provider.webSocket(.feed)
/// ```
///
/// The handshake passes through all plugins. When the script returns, the WebSocket is closed with 1000, unless it was
/// closed before. An error that it throws ends the connection. The response to other requests is a 404.
public final class StubWebSocket: Transport {
    private struct State: Sendable {
        var requests: [URLRequest] = []
        var failures: [String] = []
    }

    private let clock: any Clock<Duration>
    private let handshake: @Sendable (URLRequest) throws -> SampleResponse?
    private let script: @Sendable (StubWebSocketClient) async throws -> Void
    private let state = Locked(State())

    /// Creates a server.
    ///
    /// - Parameters:
    ///   - clock: Measures the waits of the script; default: the continuous clock.
    ///   - handshake: Returns a response to reject a handshake, or `nil` to accept it, or throws the error of the
    ///     connection. Default: accepts all handshakes.
    ///   - script: The actions of the server for each WebSocket.
    public init(
        clock: any Clock<Duration> = ContinuousClock(),
        handshake: @escaping @Sendable (URLRequest) throws -> SampleResponse? = { _ in nil },
        script: @escaping @Sendable (StubWebSocketClient) async throws -> Void
    ) {
        self.clock = clock
        self.handshake = handshake
        self.script = script
    }

    /// The requests of all handshakes in order, including rejected ones.
    public var requests: [URLRequest] { state.withLock(\.requests) }

    /// The unmet expectations of scripts; empty in a passing test.
    public var failures: [String] { state.withLock(\.failures) }

    /// `true`.
    public var upgradesConnections: Bool { true }

    /// Responds to a handshake.
    ///
    /// - Throws: The error of `handshake`, or `CancellationError`.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        try Task.checkCancellation()
        guard case .upgrade = request.destination else {
            return TransportResponse(head: ResponseHead(statusCode: 404), body: .data(Data()))
        }
        state.withLock { $0.requests.append(request.urlRequest) }
        if let refusal = try handshake(request.urlRequest) {
            return try await StubTransport(refusal, clock: clock).send(request)
        }
        let offered = request.urlRequest.value(forHTTPHeaderField: "Sec-WebSocket-Protocol") ?? ""
        let subprotocol = offered.split(separator: ",").first?.trimmingCharacters(in: .whitespaces)
        let channel = StubWebSocketChannel()
        let connection = StubWebSocketConnection(channel, subprotocol: subprotocol)
        let client = StubWebSocketClient(request: request.urlRequest, channel: channel, clock: clock)
        let task = Task { [script, state] in
            do {
                try await script(client)
                channel.end(.success(WebSocketClosing(code: 1000)))
            } catch {
                if let failure = error as? ExpectationFailure {
                    state.withLock { $0.failures.append(failure.description) }
                }
                channel.end(.failure(error is URLError ? error : URLError(.networkConnectionLost)))
            }
        }
        channel.onClose { task.cancel() }
        let headers: HTTPHeaders = ["Upgrade": "websocket", "Connection": "Upgrade"]
        return TransportResponse(
            head: ResponseHead(statusCode: 101, headers: headers),
            body: .upgraded(connection)
        )
    }
}

/// The server side of a WebSocket, for the script of a ``StubWebSocket``.
public struct StubWebSocketClient: Sendable {
    /// The request of the handshake.
    public let request: URLRequest
    let channel: StubWebSocketChannel
    let clock: any Clock<Duration>

    /// Waits for the next message of the client, and returns it.
    ///
    /// - Throws: `CancellationError` when the client closes the WebSocket.
    public func receive() async throws -> WebSocketMessage {
        guard let message = try await channel.sent.next() else { throw CancellationError() }
        return message
    }

    /// Waits for the next message of the client, and checks that it is the expected one.
    ///
    /// - Throws: An error that describes both messages, which is also added to ``StubWebSocket/failures``.
    public func expect(_ expected: WebSocketMessage) async throws {
        let message: WebSocketMessage
        do { message = try await receive() } catch {
            throw ExpectationFailure("Expected \(expected.content), but the client closed the WebSocket.")
        }
        guard message != expected else { return }
        throw ExpectationFailure("Expected \(expected.content), but the client sent \(message.content).")
    }

    /// Sends a text message.
    public func send(_ text: String) {
        channel.received.add(.text(text))
    }

    /// Sends a binary message.
    public func send(_ data: Data) {
        channel.received.add(.data(data))
    }

    /// Waits on the clock of the ``StubWebSocket``.
    public func wait(for time: Duration) async throws {
        try await clock.wait(for: time)
    }

    /// Sets whether the server responds to pings; default: `true`. Without pongs, a heartbeat ends the WebSocket.
    public func setAnswersPings(_ answers: Bool) {
        channel.setAnswersPings(answers)
    }

    /// Closes the WebSocket.
    public func close(_ code: UInt16 = 1000, reason: String = "") {
        channel.end(.success(WebSocketClosing(code: code, reason: reason)))
    }

    /// Ends the connection without a close frame.
    public func fail(_ code: URLError.Code = .networkConnectionLost) {
        channel.end(.failure(URLError(code)))
    }
}

extension WebSocketMessage {
    fileprivate var content: String {
        switch self {
        case .text(let text): "the text \(text.debugDescription)"
        case .data(let data): "\(data.count) bytes of data"
        }
    }
}
