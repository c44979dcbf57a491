// SPDX-License-Identifier: MIT
import TargetKit

/// The destination of a WebSocket's handshake, which reads the response over the connection of a transport.
///
/// A transport that implements the protocol itself doesn't call it, and returns a ``MessageConnection`` in
/// `TransportResponse.Body.upgraded`.
public final class WebSocketUpgrade: ConnectionUpgrade {
    /// The bytes after the response of a handshake.
    struct Bytes: Sendable {
        let connection: any ByteConnection
        /// The bytes that arrived together with the response.
        let received: [UInt8]
    }

    /// The maximum size of a message in bytes. A ``MessageConnection`` rejects larger ones.
    public let messageLimit: Int

    /// Creates an upgrade.
    init(messageLimit: Int) {
        self.messageLimit = messageLimit
    }

    /// Reads the response of a handshake. The body of a rejection is limited to 1 MiB.
    ///
    /// - Throws: A `URLError`, or the error of the connection.
    public func response(
        to request: URLRequest,
        over connection: any ByteConnection,
        headLimit: Int
    ) async throws -> TransportResponse {
        var reader = HandshakeReader(connection, headLimit: headLimit)
        do {
            return try await reader.response(to: request)
        } catch let failure as HandshakeReader.Failure {
            throw failure.error(for: request.url)
        }
    }
}

#if !canImport(FoundationNetworking)
extension WebSocketUpgrade: URLSessionUpgrade {
    /// The fields that URLSession sets itself.
    private static let ownFields = [
        "Connection", "Upgrade", "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Extensions",
    ]

    /// Performs the handshake of a WebSocket.
    package func response(
        to request: URLRequest,
        timeout: Duration,
        begin: (URLRequest, _ messageLimit: Int, any URLSessionWebSocketEvents) -> Void
    ) async throws -> TransportResponse {
        guard let url = request.url else { throw URLError(.badURL) }
        var request = request
        for name in Self.ownFields { request.setValue(nil, forHTTPHeaderField: name) }
        // `ws` for `http`, and `wss` for `https`. The scheme is in lowercase.
        request.url = URL(string: "ws" + url.absoluteString.dropFirst(4))
        // URLSession also applies it to the open WebSocket.
        request.timeoutInterval = 7 * 24 * 3600
        let webSocket = WebSocketTaskSession(url)
        let timer = Task {
            try await ContinuousClock().wait(for: timeout)
            webSocket.failHandshake(URLError.failure(.timedOut, message: "the request timed out", for: url))
        }
        defer { timer.cancel() }
        let head = try await webSocket.open { begin(request, messageLimit, webSocket) }
        guard head.statusCode == 101 else { return TransportResponse(head: head, body: .data(Data())) }
        return TransportResponse(head: head, body: .upgraded(WebSocketTaskConnection(webSocket)))
    }
}
#endif
