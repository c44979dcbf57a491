// SPDX-License-Identifier: MIT

import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A response whose head is there and whose body comes piece by piece.
///
/// ```swift
/// let stream = try await provider.stream(.export)
/// for try await line in stream.lines { table.add(line) }
/// ```
///
/// A piece is only asked for when it is needed, so a slow reader holds up the server and not the memory. The body can
/// be read once, as pieces, ``lines``, ``serverSentEvents`` or ``jsonLines(of:using:limit:)``: a loop that is left in
/// the middle of a piece takes the rest of that piece with it.
///
/// Whoever lets go of the stream before its end, and of the loops over it, ends the exchange; so does cancelling the
/// task that reads.
public struct ResponseStream: AsyncSequence, Sendable {
    /// The head as a ``Response`` without data, to be looked at as any other: `try stream.response.filter()`.
    public let response: Response
    /// The body.
    public let body: ResponseBody

    init(response: Response, body: ResponseBody) {
        self.response = response
        self.body = body.refusing { response.streamFailure(ResponseStreamError.alreadyRead) }
    }

    /// A stream made by hand, for a test.
    public init(statusCode: Int, headers: HTTPHeaders = [:], body: ResponseBody) {
        self.init(response: Response(statusCode: statusCode, headers: headers), body: body)
    }

    /// The status code, 200 for one (RFC 9110 §15).
    public var statusCode: Int { response.statusCode }

    /// The header fields, read from the received bytes each time: keep the list if you look at several.
    public var headers: HTTPHeaders { response.headers }

    /// Continues where the last iteration stopped.
    ///
    /// Its `next()` throws a ``TargetKitError`` when the connection fails, the call is cancelled, or another loop reads
    /// the body.
    public func makeAsyncIterator() -> ResponseBody.Iterator {
        body.makeAsyncIterator()
    }
}

extension Response {
    /// The failure of reading this response's body: what is wrong with its content has stage `.decoding`.
    func streamFailure(_ error: any Error) -> any Error {
        guard error is ResponseStreamError else { return error }
        return TargetKitError(stage: .decoding, target: target, request: request, response: self, underlying: error)
    }
}

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

extension ResponseStreamError: DeveloperError, ReflectsDescription {
    /// What is wrong, in one line, without what the server has sent in the body.
    public var description: String {
        switch self {
        case .lineTooLong(let number, let limit): "line \(number) is longer than the limit of \(limit) bytes"
        case .eventTooLarge(let limit): "an event is larger than the limit of \(limit) bytes"
        case .undecodableLine(let number, let error): "line \(number): \(ErrorDescription(error))"
        case .notAnEventStream(let type?): "the Content-Type is \(type.prefix(100)), not text/event-stream"
        case .notAnEventStream(nil): "the response has no Content-Type, which should be text/event-stream"
        case .alreadyRead: "the body can be read once, and another loop reads it or has read it"
        }
    }

    /// The description, so that `localizedDescription` says what happened.
    public var errorDescription: String? { description }
}
