// SPDX-License-Identifier: MIT

/// Sends one request and returns its response: the interface between TargetKit and the network.
///
/// A transport performs **exactly one** HTTP exchange. TargetKit handles redirects, cookies, caching, credentials and
/// retries, so that they are the same with every transport: a `302` is a response like any other, and so is a `401`.
///
/// A custom transport meets these requirements:
/// - It sends the method, URL and header fields of ``TransportRequest/urlRequest`` unchanged. The body is
///   ``TransportRequest/body``; the request's own `httpBody` is ignored.
/// - It returns when the whole body has been written to ``TransportRequest/destination``; for a stream, after the head.
/// - It fails with a `URLError` (`.cannotConnectToHost`, `.timedOut`, `.networkConnectionLost` for an incomplete body,
///   `.dataLengthExceedsMaximum` for a body over the limit, …).
/// - When the surrounding task is cancelled, or was cancelled before the call, it releases the connection and promptly
///   throws `CancellationError` or `URLError(.cancelled)`.
/// - It reports progress in both directions, with the last report of each before it returns.
/// - It ignores interim responses, with a status of 100–199, and waits for the final one (RFC 9110 §15.2).
/// - It calls closures on any thread, without holding a lock.
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
    /// - Throws: A `URLError` or `CancellationError`.
    func send(_ request: TransportRequest) async throws -> TransportResponse
}

/// A provider's default transport: libcurl on Linux, URLSession on Apple's systems.
public enum SystemTransport {
    /// The instance that providers share by default, with its kept-alive connections.
    public static var shared: any Transport {
        #if canImport(CTargetKitCurl)
        CurlTransport.shared
        #else
        URLSessionTransport.shared
        #endif
    }
}
