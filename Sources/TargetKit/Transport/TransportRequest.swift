// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a ``Transport`` is asked to do: one HTTP exchange.
public struct TransportRequest: Sendable {
    /// Where the body's bytes come from.
    public enum Body: Sendable {
        /// No body; neither `Content-Length` nor `Transfer-Encoding` is sent, but `Content-Length: 0` for POST, PUT and PATCH.
        case none
        /// Those bytes.
        case data(Data)
        /// The bytes of a regular file, read as they are sent. A pipe or a device is refused; use a ``BodySource``
        /// instead.
        case file(URL)
        /// The bytes of a source that can be opened again, read as they are sent.
        case stream(any BodySource)
    }

    /// Where the response's body goes.
    public enum Destination: Sendable, Hashable {
        /// Into memory, at most that many bytes, counted after decoding. Default: 512 MiB, a bound that a response for people
        /// never reaches, and a runaway one does.
        case memory(limit: Int = 512 << 20)
        /// Into a file, which is replaced when the whole body has arrived, regardless of the status. ``Provider``
        /// passes a temporary file, and moves it into place when the response is accepted.
        case file(URL)
        /// To a reader, piece by piece; at most about that many bytes wait for it, and then the server has to.
        ///
        /// The transport returns at the end of the head. ``TransportRequest/timeout`` counts for the body too.
        case stream(buffer: Int)
    }

    /// Method, URL and header fields. Its `httpBody`, `httpBodyStream` and `timeoutInterval` do not count.
    public var urlRequest: URLRequest
    /// Where the body's bytes come from; default: none.
    public var body: Body
    /// Where the response's body goes; default: memory, up to 512 MiB.
    public var destination: Destination
    /// How long the whole exchange may take, to the millisecond; `nil`: the transport's own limits.
    public var timeout: Duration?
    /// Is told how many bytes have gone out and come in; on any thread, at most some 20 times a second, and always at the end.
    public var progress: (@Sendable (TransferProgress) -> Void)?

    /// A request for one exchange.
    public init(
        urlRequest: URLRequest,
        body: Body = .none,
        destination: Destination = .memory(),
        timeout: Duration? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) {
        self.urlRequest = urlRequest
        self.body = body
        self.destination = destination
        self.timeout = timeout
        self.progress = progress
    }
}

extension TransportRequest.Body {
    /// Whether the body's bytes are not in memory.
    var isReadAsItIsSent: Bool {
        switch self {
        case .none, .data: false
        case .file, .stream: true
        }
    }
}

extension TransportRequest: CustomStringConvertible, CustomReflectable {
    /// The method, URL and size, with secrets redacted.
    public var description: String {
        let url = urlRequest.url.map { RedactedURL($0).description } ?? "no URL"
        return "\(urlRequest.httpMethod ?? "GET") \(url), \(body)".inOneLine
    }

    /// Reflects only the description, so `dump` shows nothing else.
    public var customMirror: Mirror { Mirror(describing: self) }
}

extension TransportRequest.Body: CustomStringConvertible, CustomReflectable {
    /// Where the bytes are, and their number if known.
    public var description: String {
        switch self {
        case .none: "no body"
        case .data(let data): "\(data.count) bytes"
        case .file(let url): "the file \(RedactedURL(url))"
        case .stream: "a stream"
        }
    }

    /// Reflects only the description, so `dump` omits the bytes.
    public var customMirror: Mirror { Mirror(describing: self) }
}

/// How far a transfer has come, in bytes of the body.
public struct TransferProgress: Sendable, Hashable {
    /// Which body is meant.
    public enum Direction: Sendable, Hashable {
        /// The request's body, going out.
        case upload
        /// The response's body, coming in.
        case download
    }

    /// The bytes transferred so far.
    public var completed: Int64
    /// The bytes there are in all; `nil` when the other side has not said.
    public var total: Int64?
    /// Which body is meant.
    public var direction: Direction

    /// The progress of a transfer.
    public init(completed: Int64, total: Int64?, direction: Direction) {
        self.completed = completed
        self.total = total
        self.direction = direction
    }

    /// The part that is done, from 0 to 1; `nil` when the total is not known, 1 when there was nothing to transfer.
    public var fraction: Double? {
        guard let total else { return nil }
        return total <= 0 ? 1 : min(1, max(0, Double(completed) / Double(total)))
    }
}
