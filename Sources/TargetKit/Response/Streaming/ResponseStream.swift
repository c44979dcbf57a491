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
    /// Bytes as they came, decoded; never empty.
    public typealias Element = Data

    /// The head as a ``Response`` without data, to be looked at as any other: `try stream.response.filterSuccessful()`.
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

    /// The version of HTTP that is spoken, `HTTP/1.1` or `HTTP/2`.
    public var httpVersion: String { response.httpVersion }

    /// The request that was answered, as it went out: the last one, when redirects were followed.
    public var request: URLRequest? { response.request }

    /// The way from the URL that was asked for to the one that answered; empty when that is the same.
    public var redirects: [Redirect] { response.redirects }

    /// Foundation's form of the head, made when it is asked for; `nil` when there is no URL to make it with.
    public var httpResponse: HTTPURLResponse? { response.httpResponse }

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
