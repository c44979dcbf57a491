// SPDX-License-Identifier: MIT
import TargetKit

/// Sends the handshake of a WebSocket, and stores the connection that it opens.
struct WebSocketDriver: TransferDriver {
    /// The WebSocket of the last attempt.
    let session = Locked<WebSocketSession?>(nil)
    let clock: any Clock<Duration>

    func response(to request: URLRequest, over exchanges: CallExchanges) async throws -> Response {
        try check(request, exchanges)
        let options = exchanges.context.options
        let deflate = options.webSocketCompression && PerMessageDeflate.isAvailable ? PerMessageDeflate() : nil
        let handshake = WebSocketHandshake(subprotocols: options.webSocketSubprotocols, deflate: deflate)
        var request = request
        for field in handshake.headers.fields { request.setValue(field.value, forHTTPHeaderField: field.name.rawValue) }
        var prepared = try await exchanges.prepare(request)
        prepared.destination = .upgrade(WebSocketUpgrade(messageLimit: options.webSocketLimits.messageSize))
        let opened = Locked<(any MessageConnection)?>(nil)
        let response = try await exchanges.send(prepared, validation: .codes([101])) { [clock] result in
            var result = result
            guard result.response.head.statusCode == 101 else { return result }
            guard case .upgraded(let connection) = result.response.body else { throw URLError(.cannotParseResponse) }
            let head = result.response.head
            result.response.body = .data(Data())
            do throws(WebSocketError) {
                let messages = try Self.messages(of: connection, after: head, handshake, options, clock)
                opened.withLock { $0 = messages }
            } catch {
                throw Self.failure(error, of: result, exchanges.context)
            }
            return result
        }
        guard let connection = opened.withLock({ $0 }) else { throw URLError(.cannotParseResponse) }
        try keep(connection, response, exchanges)
        return response
    }

    private func check(_ request: URLRequest, _ exchanges: CallExchanges) throws(WebSocketError) {
        guard !exchanges.isStubbed else {
            throw WebSocketError(
                .invalidRequest,
                "a sample can't respond to a WebSocket; use a StubWebSocket as the provider's transport"
            )
        }
        guard request.httpMethod ?? "GET" == "GET", request.httpBody == nil else {
            throw WebSocketError(.invalidRequest, "the request of a WebSocket must be a GET without a body")
        }
        guard exchanges.transport.upgradesConnections else {
            throw WebSocketError(
                .invalidRequest,
                "the transport \(type(of: exchanges.transport)) can't open WebSockets; use the default transport, or one "
                    + "whose upgradesConnections is true"
            )
        }
        let subprotocols = exchanges.context.options.webSocketSubprotocols
        guard Set(subprotocols).count == subprotocols.count else {
            throw WebSocketError(.invalidRequest, "a subprotocol is requested twice (RFC 6455 §4.1); remove one")
        }
        for name in subprotocols where !name.isToken {
            throw WebSocketError(
                .invalidRequest,
                "the subprotocol \(name.debugDescription) isn't a token (RFC 6455 §4.1); use letters, digits and some "
                    + "punctuation, without spaces and commas"
            )
        }
    }

    /// The error of a handshake whose response isn't accepted, with the response.
    private static func failure(
        _ error: WebSocketError,
        of result: ExchangeResult,
        _ context: RequestContext
    ) -> TargetKitError {
        let head = result.response.head
        return TargetKitError(
            stage: .transport,
            target: context.target,
            request: result.request,
            response: Response(
                statusCode: head.statusCode,
                headers: head.headers,
                request: result.request,
                metrics: result.response.metrics
            ),
            underlying: error
        )
    }

    private static func messages(
        of connection: any Sendable,
        after head: ResponseHead,
        _ handshake: WebSocketHandshake,
        _ options: CallOptions,
        _ clock: any Clock<Duration>
    ) throws(WebSocketError) -> (any MessageConnection)? {
        guard let bytes = connection as? WebSocketUpgrade.Bytes else { return connection as? any MessageConnection }
        let agreement = try handshake.check(head)
        return FrameConnection(
            FrameSession(
                bytes.connection,
                agreement,
                options.webSocketLimits,
                received: bytes.received,
                clock: clock
            )
        )
    }

    private func keep(
        _ connection: any MessageConnection,
        _ response: Response,
        _ exchanges: CallExchanges
    ) throws {
        let session = WebSocketSession(connection, response, exchanges.context, clock: clock)
        let entry = exchanges.keep(
            onShutdown: { Task { await session.close(.goingAway) } },
            onCancel: { session.cancel(with: CancellationError()) }
        )
        guard let entry else {
            connection.cancel(.goingAway)
            throw TargetKitError(stage: .shutDown, target: exchanges.context.target)
        }
        session.begin(as: entry, heartbeat: exchanges.context.options.webSocketHeartbeat)
        self.session.withLock { $0 = session }
    }
}
