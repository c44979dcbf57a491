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

    /// In one place, so that copying a request costs one reference.
    private final class Storage: Sendable {
        let fields: Fields

        init(_ fields: Fields) {
            self.fields = fields
        }
    }

    private struct Fields: Sendable {
        var urlRequest: URLRequest
        var body: Body
        var destination: Destination
        var timeout: Duration?
        var progress: (@Sendable (TransferProgress) -> Void)?
        var hasStoredCookies = false
    }

    private var storage: Storage

    /// Method, URL and header fields. Its `httpBody`, `httpBodyStream` and `timeoutInterval` do not count.
    public var urlRequest: URLRequest {
        get { storage.fields.urlRequest }
        set { change { $0.urlRequest = newValue } }
    }
    /// Where the body's bytes come from; default: none.
    public var body: Body {
        get { storage.fields.body }
        set { change { $0.body = newValue } }
    }
    /// Where the response's body goes; default: memory, up to 512 MiB.
    public var destination: Destination {
        get { storage.fields.destination }
        set { change { $0.destination = newValue } }
    }
    /// How long the whole exchange may take, to the millisecond; `nil`: the transport's own limits.
    public var timeout: Duration? {
        get { storage.fields.timeout }
        set { change { $0.timeout = newValue } }
    }
    /// Is called with the number of bytes sent and received; on any thread, at most some 20 times a second, and always at the end.
    public var progress: (@Sendable (TransferProgress) -> Void)? {
        get { storage.fields.progress }
        set { change { $0.progress = newValue } }
    }
    /// Whether the `Cookie` field is from the cookie store, and so is replaced when a redirect is followed.
    var hasStoredCookies: Bool {
        get { storage.fields.hasStoredCookies }
        set { change { $0.hasStoredCookies = newValue } }
    }

    /// A request for one exchange.
    public init(
        urlRequest: URLRequest,
        body: Body = .none,
        destination: Destination = .memory(),
        timeout: Duration? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) {
        storage = Storage(
            Fields(urlRequest: urlRequest, body: body, destination: destination, timeout: timeout, progress: progress)
        )
    }

    private mutating func change(_ change: (inout Fields) -> Void) {
        var fields = storage.fields
        change(&fields)
        storage = Storage(fields)
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
