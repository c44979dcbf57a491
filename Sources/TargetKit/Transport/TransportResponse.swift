// SPDX-License-Identifier: MIT
import Foundation

/// What a ``Transport`` brings back: the head of the response and its body.
public struct TransportResponse: Sendable {
    /// Where the body is.
    public enum Body: Sendable {
        /// The body's bytes, decoded from gzip and the like; empty when there was none.
        case data(Data)
        /// The file that holds the body.
        case file(URL)
        /// The pieces as they come.
        case stream(ResponseBody)
    }

    /// Status, header fields and version.
    public var head: ResponseHead
    /// Where the body is.
    public var body: Body
    /// How long each step took, where the transport knows.
    public var metrics: TransportMetrics?
    /// Whether it is a stub's sample.
    var isSample = false

    /// A response.
    public init(head: ResponseHead, body: Body, metrics: TransportMetrics? = nil) {
        self.head = head
        self.body = body
        self.metrics = metrics
    }
}

extension TransportResponse.Body: CustomStringConvertible, CustomReflectable {
    /// Where the bytes are, and their number if known.
    public var description: String {
        switch self {
        case .data(let data): "\(data.count) bytes"
        case .file(let url): "the file \(url.path)"
        case .stream: "a stream"
        }
    }

    /// Reflects only the description, so `dump` omits the bytes.
    public var customMirror: Mirror { Mirror(describing: self) }
}

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

/// Takes apart the header lines of a response (RFC 9112 §5).
struct HeaderLines {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The fields in order. A line that starts with white space goes on with the one before it (obsolete line folding,
    /// RFC 9112 §5.2); a line without a colon is passed over.
    var headers: HTTPHeaders {
        var headers = HTTPHeaders()
        for line in bytes.split(separator: 0x0A) {
            let isFolded = line.first == 0x20 || line.first == 0x09
            let line = trimmed(line)
            if isFolded, !line.isEmpty, let last = headers.fields.indices.last {
                headers.fields[last].value += " " + text(line)
            } else if let colon = line.firstIndex(of: 0x3A) {
                headers.add(text(line[..<colon]), value: text(trimmed(line[line.index(after: colon)...])))
            }
        }
        return headers
    }

    private func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D }
        var line = line.drop(while: isSpace)
        while let last = line.last, isSpace(last) { line.removeLast() }
        return line
    }

    private func text(_ bytes: ArraySlice<UInt8>) -> String {
        if let text = String(bytes: bytes, encoding: .utf8) { return text }
        return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}
