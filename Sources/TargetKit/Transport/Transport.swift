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
}

/// The transport that a provider uses unless it is given another: libcurl's on Linux, URLSession's on Apple's systems.
public enum SystemTransport {
    /// The one instance that all providers share, and with it its kept-alive connections.
    public static var shared: any Transport {
        #if canImport(CTargetKitCurl)
        CurlTransport.shared
        #else
        URLSessionTransport.shared
        #endif
    }
}
