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
    package init(messageLimit: Int) {
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
extension WebSocketUpgrade: URLSessionUpgrade {}
#endif
