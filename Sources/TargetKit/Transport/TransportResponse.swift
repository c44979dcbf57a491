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
