// SPDX-License-Identifier: MIT
#if !canImport(FoundationNetworking)

/// The upgrade to a WebSocket, whose protocol a task of URLSession implements.
package protocol URLSessionUpgrade: ConnectionUpgrade {
    /// Performs the handshake of a WebSocket.
    ///
    /// - Parameters:
    ///   - request: The request, with an `http` or `https` URL.
    ///   - timeout: The timeout of the handshake.
    ///   - begin: Starts a task, which reports its events.
    func response(
        to request: URLRequest,
        timeout: Duration,
        begin: (URLRequest, _ messageLimit: Int, any URLSessionWebSocketEvents) -> Void
    ) async throws -> TransportResponse
}

/// Receives the events of a task for a WebSocket.
package protocol URLSessionWebSocketEvents: Sendable {
    /// Notes that the task was created. It isn't started yet.
    func didCreate(_ task: URLSessionWebSocketTask)

    /// Notes the end of a successful handshake.
    func didOpen(_ head: ResponseHead, subprotocol: String?)

    /// Notes the close frame of the server.
    func didClose(_ code: URLSessionWebSocketTask.CloseCode, reason: Data?)

    /// Notes the end of the task.
    ///
    /// - Parameter head: The head of the response to the handshake; `nil` if there was none.
    func didComplete(_ head: ResponseHead?, error: (any Error)?)

    /// Ends the WebSocket, because the transport was shut down, or the server isn't trusted.
    func fail(_ error: any Error)
}
#endif
