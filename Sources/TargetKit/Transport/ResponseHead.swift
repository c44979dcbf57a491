// SPDX-License-Identifier: MIT

/// The head of a response: its status and its header fields, which are only read when they are asked for.
public struct ResponseHead: Sendable {
    private enum Storage: Sendable {
        case fields(HTTPHeaders)
        case lines([UInt8])
    }

    /// The status code, 200 for one (RFC 9110 §15).
    public var statusCode: Int
    /// The version of HTTP that was spoken, `HTTP/1.1` or `HTTP/2`.
    public var httpVersion: String
    private var storage: Storage

    /// A head of those fields.
    public init(statusCode: Int, headers: HTTPHeaders = [:], httpVersion: String = "HTTP/1.1") {
        self.statusCode = statusCode
        self.httpVersion = httpVersion
        storage = .fields(headers)
    }

    /// A head whose fields are the lines as they came over the wire, without the status line: `Name: value`, each ended
    /// by CR LF or LF (RFC 9112 §5). They are taken apart when ``headers`` is read.
    public init(statusCode: Int, headerLines: [UInt8], httpVersion: String = "HTTP/1.1") {
        self.statusCode = statusCode
        self.httpVersion = httpVersion
        storage = .lines(headerLines)
    }

    /// The header fields in the order they came, repeated names each.
    ///
    /// Made anew from the received bytes at each reading: keep it if you look at several. Bytes that are not UTF-8 are read
    /// as ISO-8859-1, which RFC 9110 §5.5 names as the historical reading.
    public var headers: HTTPHeaders {
        switch storage {
        case .fields(let headers): headers
        case .lines(let bytes): HeaderLines(bytes).headers
        }
    }
}

extension ResponseHead: CustomStringConvertible, CustomReflectable {
    /// The version and the status.
    public var description: String { "\(httpVersion) \(statusCode)" }

    /// Reflects only the description, so `dump` shows nothing else.
    public var customMirror: Mirror { Mirror(describing: self) }
}
