// SPDX-License-Identifier: MIT
import Foundation

/// Why a body that comes in lines or events cannot be read on: the `underlying` error of stage `.decoding`.
public enum ResponseStreamError: Error, Sendable {
    /// The line of that number, from 1, has more bytes than the limit allows.
    case lineTooLong(number: Int, limit: Int)
    /// An event's data have more bytes than the limit allows.
    case eventTooLarge(limit: Int)
    /// The line of that number, from 1, is not the JSON that was asked for; with the decoder's error.
    case undecodableLine(number: Int, any Error)
    /// The response is no event stream; with its `Content-Type`, `nil` when it has none.
    case notAnEventStream(contentType: String?)
    /// The body can be read only once, and another loop is reading it or has read it to its end.
    case alreadyRead
}

extension ResponseStreamError: CustomStringConvertible, LocalizedError, DeveloperError, CustomReflectable {
    /// What is wrong, in one line, without what the server has sent in the body.
    public var description: String {
        switch self {
        case .lineTooLong(let number, let limit): "line \(number) is longer than the limit of \(limit) bytes"
        case .eventTooLarge(let limit): "an event is larger than the limit of \(limit) bytes"
        case .undecodableLine(let number, let error): "line \(number): \(ErrorText(error))"
        case .notAnEventStream(let type?): "the Content-Type is \(type.prefix(100)), not text/event-stream"
        case .notAnEventStream(nil): "the response has no Content-Type, which should be text/event-stream"
        case .alreadyRead: "the body can be read once, and another loop reads it or has read it"
        }
    }

    /// The description, so that `localizedDescription` says what happened.
    public var errorDescription: String? { description }

    /// Reflects only the description, so `dump` omits content that the decoder quotes.
    public var customMirror: Mirror { Mirror(describing: self) }
}
