// SPDX-License-Identifier: MIT
#if !canImport(FoundationNetworking)

/// The upgrade to a WebSocket, which URLSession opens itself.
package protocol URLSessionUpgrade: ConnectionUpgrade {
    /// The maximum size of a received message in bytes.
    var messageLimit: Int { get }
}

/// Opens WebSockets of URLSession.
enum URLSessionWebSocket {
    /// The fields that URLSession sets itself.
    private static let ownFields = [
        "Connection", "Upgrade", "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Extensions",
    ]

    /// Performs the handshake of a WebSocket.
    ///
    /// - Parameters:
    ///   - idleTimeout: The timeout in seconds of a call without its own timeout.
    ///   - messageLimit: The maximum size of a received message in bytes.
    static func open(
        _ call: URLSessionCall,
        idleTimeout: TimeInterval,
        messageLimit: Int,
        in session: URLSession,
        with delegate: SessionDelegate
    ) async throws -> TransportResponse {
        var request = call.request
        for name in ownFields { request.setValue(nil, forHTTPHeaderField: name) }
        // `ws` for `http`, and `wss` for `https`. The scheme is in lowercase.
        request.url = request.url.flatMap { URL(string: "ws" + $0.absoluteString.dropFirst(4)) }
        // URLSession also applies it to the open WebSocket.
        request.timeoutInterval = URLSessionCall.longestTimeout
        let webSocket = WebSocketTaskSession(call.url)
        let timeout = Task {
            let longest = URLSessionCall.longestTimeout
            let idle = Duration.seconds(idleTimeout > 0 ? min(idleTimeout, longest) : longest)
            try await ContinuousClock().wait(for: call.timeout ?? idle)
            webSocket.failHandshake(URLSessionFailure.error(.timedOut, message: "the request timed out", for: call.url))
        }
        defer { timeout.cancel() }
        let head = try await webSocket.open {
            delegate.begin(request, webSocket, messageLimit: messageLimit, in: session)
        }
        guard head.statusCode == 101 else { return TransportResponse(head: head, body: .data(Data())) }
        return TransportResponse(head: head, body: .upgraded(WebSocketTaskConnection(webSocket)))
    }
}

/// A task of URLSession.
struct URLSessionWebSocketOperations: WebSocketTask {
    let task: URLSessionWebSocketTask

    func receive(_ completion: @escaping @Sendable (Result<WebSocketMessage, any Error>) -> Void) {
        task.receive { result in
            completion(
                result.flatMap { message in
                    switch message {
                    case .string(let text): .success(.text(text))
                    case .data(let data): .success(.data(data))
                    @unknown default: .failure(URLError(.cannotParseResponse))
                    }
                }
            )
        }
    }

    func send(_ message: WebSocketMessage, completion: @escaping @Sendable ((any Error)?) -> Void) {
        switch message {
        case .text(let text): task.send(.string(text), completionHandler: completion)
        case .data(let data): task.send(.data(data), completionHandler: completion)
        }
    }

    func ping(completion: @escaping @Sendable ((any Error)?) -> Void) {
        task.sendPing(pongReceiveHandler: completion)
    }

    func cancel(_ closing: WebSocketClosing) {
        // A frame without a code can't be sent.
        let code = closing.code == 1005 ? nil : URLSessionWebSocketTask.CloseCode(rawValue: Int(closing.code))
        task.cancel(with: code ?? .normalClosure, reason: closing.reason.isEmpty ? nil : Data(closing.reason.utf8))
    }

    func cancel() { task.cancel() }
}
#endif
