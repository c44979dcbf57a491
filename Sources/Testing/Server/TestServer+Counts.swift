// SPDX-License-Identifier: MIT

// The observations of this package's own tests. Waiting ends when the task is cancelled or the server stops.

extension TestServer {
    /// Starts a server with options. It calls a closure for each request.
    package convenience init(
        options: Options,
        respond: @escaping @Sendable (Request) async -> Response
    ) throws {
        try self.init(options, log: RequestLog(), responder: .closure(respond))
    }

    /// Starts a server with options that returns the same response to every request, or the next one of a sequence.
    package convenience init(options: Options, response: Response) throws {
        try self.init(options, log: RequestLog(), responder: .response(response))
    }

    /// All received requests.
    package var requests: [Request] { state.received.withLock { $0 } }

    /// The number of requests, even if they aren't stored.
    package var requestCount: Int { state.requests.value }

    /// The number of received request heads.
    package var headCount: Int { state.heads.value }

    /// The number of responses whose last step ran.
    package var responseCount: Int { state.responses.value }

    /// The number of connections that either side closed.
    package var closedConnectionCount: Int { state.closed.value }

    /// The number of open connections.
    package var openConnectionCount: Int {
        // Read first, because the other number is never smaller.
        let closed = state.closed.value
        return state.connections.value - closed
    }

    /// The number of bytes that were read, including heads.
    package var bytesReceived: Int { state.bytesReceived.value }

    /// The number of bytes that the kernel accepted.
    package var bytesSent: Int { state.bytesSent.value }

    /// The received data that isn't HTTP/1.1. The response to each is an error.
    package var violations: [String] { state.violations.elements }

    /// The request with an index in ``requests``, when it arrives.
    ///
    /// - Throws: `CancellationError` if the task is cancelled, the server stops, or requests aren't stored.
    package func request(at index: Int) async throws -> Request {
        try await state.requests.wait(for: index + 1)
        let requests = requests
        guard requests.indices.contains(index) else { throw CancellationError() }
        return requests[index]
    }

    /// Returns when a number of requests have arrived.
    package func waitForRequests(_ count: Int) async {
        try? await state.requests.wait(for: count)
    }

    /// Returns when a number of heads have arrived.
    package func waitForHeads(_ count: Int) async {
        try? await state.heads.wait(for: count)
    }

    /// Returns when the last steps of a number of responses have run.
    package func waitForResponses(_ count: Int) async {
        try? await state.responses.wait(for: count)
    }

    /// Returns when a number of connections have been accepted.
    package func waitForConnections(_ count: Int) async {
        try? await state.connections.wait(for: count)
    }

    /// Returns when either side has closed a number of connections.
    package func waitForConnections(closed count: Int) async {
        try? await state.closed.wait(for: count)
    }

    /// Returns when a number of bytes have been read.
    package func waitForBytes(received count: Int) async {
        try? await state.bytesReceived.wait(for: count)
    }

    /// Returns when the kernel accepted a number of bytes.
    package func waitForBytes(sent count: Int) async {
        try? await state.bytesSent.wait(for: count)
    }
}
