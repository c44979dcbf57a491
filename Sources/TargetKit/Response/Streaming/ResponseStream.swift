// SPDX-License-Identifier: MIT

/// A response whose body arrives in chunks.
///
/// ```swift
/// let stream = try await provider.stream(.export)
/// for try await line in stream.lines() { table.add(line) }
/// ```
///
/// Each chunk is requested when it is needed, so a slow reader slows down the server instead of filling the memory. The
/// body can be read only once, as chunks, ``lines(limit:)`` or ``jsonLines(of:using:limit:)``, or as the events of
/// TargetKitPlugins. If a loop ends in the middle of a chunk, the rest of that chunk is lost.
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
        self.body = body.refusing { response.streamFailure(UnreadableBody.alreadyRead) }
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
    package func streamFailure(_ error: any Error) -> any Error {
        guard error is UnreadableBody else { return error }
        return TargetKitError(stage: .decoding, target: target, request: request, response: self, underlying: error)
    }
}
