// SPDX-License-Identifier: MIT

/// Sends one request and brings back its response: the seam between TargetKit and the network.
///
/// A transport performs **exactly one** HTTP exchange. Redirects, cookies, caching, credentials and retries are TargetKit's,
/// so that they are the same with every transport: a `302` is a response like any other, and so is a `401`.
///
/// A transport of your own keeps these promises:
/// - It sends method, URL and header fields of ``TransportRequest/urlRequest`` as they are. The body is
///   ``TransportRequest/body``; the request's own `httpBody` does not count.
/// - It returns when the whole body has reached ``TransportRequest/destination``; for a stream, when the head is there.
/// - It fails with a `URLError` whose code says what happened (`.cannotConnectToHost`, `.timedOut`,
///   `.networkConnectionLost` for a body cut short, `.dataLengthExceedsMaximum` for a body over the limit, …).
/// - When the surrounding task is cancelled, it lets go of the connection and throws `CancellationError` or
///   `URLError(.cancelled)`, soon; also when the task was cancelled before the call.
/// - It reports progress in both directions, the last report of a direction before it returns.
/// - A status of 100–199 is not a response: it waits for the final one (RFC 9110 §15.2).
/// - It calls back on any thread, never with a lock held.
///
/// ```swift
/// struct EchoTransport: Transport {
///     func send(_ request: TransportRequest) async throws -> TransportResponse {
///         TransportResponse(
///             head: ResponseHead(statusCode: 200, headers: ["Content-Type": "text/plain"]),
///             body: .data(Data((request.urlRequest.url?.absoluteString ?? "").utf8))
///         )
///     }
/// }
/// ```
public protocol Transport: Sendable {
    /// Performs one exchange.
    ///
    /// - Throws: a `URLError`, or `CancellationError`.
    func send(_ request: TransportRequest) async throws -> TransportResponse

    /// Performs one exchange in a task of the caller's, which only the caller can cancel, and ends it when the handle is
    /// cancelled or times out.
    ///
    /// A provider without plugins sends in this way. The default implementation calls ``send(_:)`` in a task of its own. A
    /// transport that can end an exchange by itself saves that task: it begins the exchange, passes what ends it to
    /// ``RequestHandle/onCancel(_:)``, and waits for the end. The cancellation of the surrounding task need not be observed: it
    /// cancels the handle.
    ///
    /// - Throws: a `URLError`, or `CancellationError`.
    func send(_ request: TransportRequest, cancelledBy handle: RequestHandle) async throws -> TransportResponse
}

extension Transport {
    /// Performs the exchange in a task of its own, which is cancelled with the handle.
    public func send(
        _ request: TransportRequest,
        cancelledBy handle: RequestHandle
    ) async throws -> TransportResponse {
        try await sendInTask(request, cancelledBy: handle)
    }

    /// The default of ``send(_:cancelledBy:)``, for a transport whose own implementation is for some requests only.
    func sendInTask(
        _ request: TransportRequest,
        cancelledBy handle: RequestHandle
    ) async throws -> TransportResponse {
        let task = Task.startingNow { () async -> Result<TransportResponse, any Error> in
            do { return .success(try await send(request)) } catch { return .failure(error) }
        }
        handle.onCancel { task.cancel() }
        return try await task.value.get()
    }
}
