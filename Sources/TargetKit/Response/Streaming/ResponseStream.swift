// SPDX-License-Identifier: MIT

import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A response whose body arrives in chunks.
///
/// ```swift
/// let stream = try await provider.stream(.export)
/// for try await line in stream.lines() { table.add(line) }
/// ```
///
/// Each chunk is requested when it is needed, so a slow reader slows down the server instead of filling the memory. The
/// body can be read only once, as chunks, ``lines(limit:)``, ``serverSentEvents(limit:)`` or
/// ``jsonLines(of:using:limit:)``. If a loop ends in the middle of a chunk, the rest of that chunk is lost.
///
/// Releasing the stream and its iterators before the end of the body, or cancelling the reading task, cancels the
/// exchange.
public struct ResponseStream: AsyncSequence, Sendable {
    /// The head as a ``Response`` without data.
    public let response: Response
    /// The body.
    public let body: ResponseBody

    init(response: Response, body: ResponseBody) {
        self.response = response
        self.body = body.refusing { response.streamFailure(ResponseStreamError.alreadyRead) }
    }

    /// Creates a stream for a test.
    public init(statusCode: Int, headers: HTTPHeaders = [:], body: ResponseBody) {
        self.init(response: Response(statusCode: statusCode, headers: headers), body: body)
    }

    /// Continues where the last iteration stopped.
    ///
    /// Its `next()` throws a ``TargetKitError`` if the connection fails, the call is cancelled, or another loop reads
    /// the body.
    public func makeAsyncIterator() -> ResponseBody.Iterator {
        body.makeAsyncIterator()
    }
}

extension Response {
    /// The error for a failure to read this response's body. Invalid content has stage `.decoding`.
    func streamFailure(_ error: any Error) -> any Error {
        guard error is ResponseStreamError else { return error }
        return TargetKitError(stage: .decoding, target: target, request: request, response: self, underlying: error)
    }
}

/// The reason why the lines or events of a body can't be read, the `underlying` error of stage `.decoding`.
package enum ResponseStreamError: Error, Sendable {
    /// A line, numbered from 1, exceeds the limit in bytes.
    case lineTooLong(number: Int, limit: Int)
    /// An event's data exceeds the limit in bytes.
    case eventTooLarge(limit: Int)
    /// A line, numbered from 1, couldn't be decoded; with the decoder's error.
    case undecodableLine(number: Int, any Error)
    /// The response is not an event stream; with its `Content-Type`.
    case notAnEventStream(contentType: String?)
    /// The body can be read only once, and another loop is reading it or read it.
    case alreadyRead
}

extension ResponseStreamError: DeveloperError, LocalizedError, ReflectsDescription {
    /// The reason in one line, without content of the body.
    package var description: String {
        switch self {
        case .lineTooLong(let number, let limit): "line \(number) is longer than the limit of \(limit) bytes"
        case .eventTooLarge(let limit): "an event is larger than the limit of \(limit) bytes"
        case .undecodableLine(let number, let error): "line \(number): \(ErrorDescription(error))"
        case .notAnEventStream(let type?): "the Content-Type is \(type.prefix(100)), not text/event-stream"
        case .notAnEventStream(nil): "the response has no Content-Type, which should be text/event-stream"
        case .alreadyRead: "the body can be read only once, and another loop is reading it or read it"
        }
    }

    /// The description.
    package var errorDescription: String? { description }
}
