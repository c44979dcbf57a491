// SPDX-License-Identifier: MIT

/// Sends one request and returns its response. This is the interface between TargetKit and the network.
///
/// A transport performs **exactly one** HTTP exchange. TargetKit handles redirects, cookies, caching, credentials and
/// retries for all transports. For a transport, a `302` or a `401` is a response like any other.
///
/// A custom transport meets these requirements:
/// - It sends the method, URL and header fields of ``TransportRequest/urlRequest`` unchanged. The body is
///   ``TransportRequest/body``; the request's own `httpBody` is ignored.
/// - It returns when the whole body is written to ``TransportRequest/destination``; for a stream, after the head.
/// - It fails with a `URLError` (`.cannotConnectToHost`, `.timedOut`, `.networkConnectionLost` for an incomplete body,
///   `.dataLengthExceedsMaximum` for a body over the limit, …).
/// - If the surrounding task is cancelled, even before the call, it releases the connection and promptly throws
///   `CancellationError` or `URLError(.cancelled)`.
/// - It reports progress in both directions, first of the upload, then of the download, with the last report of each
///   before it returns.
/// - It ignores interim responses, with a status of 100–199, and waits for the final one (RFC 9110 §15.2).
/// - It calls closures on any thread, without holding a lock.
///
/// ```swift
/// struct EchoTransport: Transport {
///     func send(_ request: TransportRequest) async throws -> TransportResponse {
///         let head = ResponseHead(statusCode: 200, headers: ["Content-Type": "text/plain"])
///         let text = request.urlRequest.url?.absoluteString ?? ""
///         return TransportResponse(head: head, body: .data(Data(text.utf8)))
///     }
/// }
/// ```
public protocol Transport: Sendable {
    /// Performs one exchange.
    ///
    /// - Throws: A `URLError` or `CancellationError`.
    func send(_ request: TransportRequest) async throws -> TransportResponse

    /// Whether the transport reports interim responses, with a status of 100–199; default `false`.
    /// `ResumableUpload.http` of TargetKitTransfers needs them to send the content in its first request.
    ///
    /// A transport that wraps another transport returns that transport's value if it passes on the ``TransportRequest``
    /// or a changed copy of it.
    var reportsInterimResponses: Bool { get }

    /// Whether the transport can return a body that arrives while it is read
    /// (``TransportRequest/Destination/stream(buffer:)``); default `true`. Resumable downloads of TargetKitTransfers
    /// need this.
    ///
    /// A transport that wraps another transport returns that transport's value.
    var streamsResponses: Bool { get }

    /// Whether the transport can return the connection itself after a response with status 101
    /// (``TransportRequest/Destination/upgrade(_:)``), which WebSockets need.
    ///
    /// The default is `false`. A transport that wraps another one returns the other's value, if it passes on the
    /// response's body unchanged.
    var upgradesConnections: Bool { get }
}

extension Transport {
    /// `false`.
    public var reportsInterimResponses: Bool { false }

    /// `true`.
    public var streamsResponses: Bool { true }

    /// `false`.
    public var upgradesConnections: Bool { false }
}
