// SPDX-License-Identifier: MIT

/// Switches a connection to another protocol, such as a WebSocket (RFC 9110 §7.8).
///
/// A transport with ``Transport/upgradesConnections`` calls it within ``Transport/send(_:)``, for a request with
/// ``TransportRequest/Destination/upgrade(_:)``. Plugins process the returned response like any other.
public protocol ConnectionUpgrade: Sendable {
    /// Reads the response to a request with an `Upgrade` field, from a connection to which the transport sent the head
    /// of the request over HTTP/1.1.
    ///
    /// The transport's timeouts apply until this method returns. After a timeout or a cancellation, reading throws the
    /// error. The connection of any other response than an upgraded one must be released.
    ///
    /// - Parameters:
    ///   - request: The request that was sent.
    ///   - connection: The connection. Its first bytes are those of the response.
    ///   - headLimit: The maximum size in bytes of the response's head and the heads of interim responses.
    /// - Returns: If the server switches protocols, with status 101, a response with the body
    ///   ``TransportResponse/Body/upgraded(_:)``.
    /// - Throws: A `URLError`, or the error of the connection.
    func response(
        to request: URLRequest,
        over connection: any ByteConnection,
        headLimit: Int
    ) async throws -> TransportResponse
}

/// The bytes of an upgraded connection.
///
/// Releasing the connection closes it.
public protocol ByteConnection: AnyObject, Sendable {
    /// Waits for bytes, and returns all received ones; `nil` when the server ends its side or the connection is closed.
    /// One task can read at a time.
    ///
    /// While no task reads, the transport buffers a limited number of bytes, and then stops reading from the server.
    ///
    /// - Throws: A `URLError`; `CancellationError` when the task is cancelled.
    func read() async throws -> [UInt8]?

    /// Starts sending bytes after the bytes of earlier calls. Any thread may write.
    ///
    /// A sender that doesn't wait for the completion before it sends more uses memory for all that waits.
    ///
    /// - Parameters:
    ///   - bytes: The bytes to send.
    ///   - completion: Called once, on any thread, when the system has accepted the bytes, or with a `URLError`.
    func write(_ bytes: [UInt8], completion: @escaping @Sendable ((any Error)?) -> Void)

    /// Sends bytes as far as the system takes them at once, unless earlier ones wait to be sent.
    ///
    /// This saves a lone sender the wait for the thread on which ``write(_:completion:)`` sends. Senders that wait
    /// together are better served by that method, which sends their bytes together. Default: sends nothing.
    ///
    /// - Returns: The number of bytes that were sent; 0 also if the connection is closed or lost.
    func writeNow(_ bytes: [UInt8]) -> Int

    /// Closes the connection, without waiting. Waiting tasks end. Has no effect on a closed connection.
    ///
    /// - Parameter bytes: The bytes to send first, after queued bytes, as far as the system accepts them immediately.
    func close(sending bytes: [UInt8])
}

extension ByteConnection {
    /// Sends nothing.
    public func writeNow(_ bytes: [UInt8]) -> Int { 0 }
}
