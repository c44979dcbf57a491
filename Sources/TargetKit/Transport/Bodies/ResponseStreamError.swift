// SPDX-License-Identifier: MIT

/// The reason why the lines or events of a body can't be read, the `underlying` error of stage `.decoding`.
package enum ResponseStreamError: Error, Sendable {
    /// A line, numbered from 1, exceeds the limit in bytes.
    case lineTooLong(number: Int, limit: Int)
    /// An event's data exceeds the limit in bytes.
    case eventTooLarge(limit: Int)
    /// A line, numbered from 1, couldn't be decoded; with the decoder's error.
    case undecodableLine(number: Int, any Error)
    /// The response isn't an event stream; with its `Content-Type`.
    case notAnEventStream(contentType: String?)
    /// The body can be read only once, and another loop is reading it or read it.
    case alreadyRead
}

extension ResponseStreamError: DescribedError {
    /// The reason in one line, without content of the body.
    var redactedDescription: String {
        switch self {
        case .lineTooLong(let number, let limit): "line \(number) is longer than the limit of \(limit) bytes"
        case .eventTooLarge(let limit): "an event is larger than the limit of \(limit) bytes"
        case .undecodableLine(let number, let error): "line \(number): \(ErrorDescription(error))"
        case .notAnEventStream(let type?): "the Content-Type is \(type.prefix(100)), not text/event-stream"
        case .notAnEventStream(nil): "the response has no Content-Type; it should be text/event-stream"
        case .alreadyRead: "the body can be read only once, and another loop has started to read it"
        }
    }
}
