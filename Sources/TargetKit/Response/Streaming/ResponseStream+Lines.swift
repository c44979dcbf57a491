// SPDX-License-Identifier: MIT
import Foundation

extension ResponseStream {
    /// The body's lines, each of up to 1 MiB; as ``lines(limit:)`` has them.
    public var lines: Lines { lines(limit: 1 << 20) }

    /// The body's lines as they come, without their ends.
    ///
    /// LF, CR and CR LF end a line. Empty lines are given too, and what follows the last end when it is not empty. The
    /// bytes are read as UTF-8: what is not becomes U+FFFD, and a byte order mark before the first line is dropped.
    ///
    /// - Parameter limit: How many bytes a line may have, so that a line without an end cannot fill the memory; a
    ///   longer one ends the sequence with ``ResponseStreamError/lineTooLong(number:limit:)``.
    public func lines(limit: Int) -> Lines {
        Lines(response: response, body: body, limit: limit)
    }

    /// The lines of a ``ResponseStream``.
    public struct Lines: AsyncSequence, Sendable {
        /// A line without its end.
        public typealias Element = String

        let response: Response
        let body: ResponseBody
        let limit: Int

        /// Reads the lines; those that another iterator has taken are gone.
        public func makeAsyncIterator() -> Iterator {
            Iterator(body: ParsedBody(body, of: response, by: LineParser(splitter: LineSplitter(limit: limit))))
        }
    }
}

extension ResponseStream.Lines {
    /// Reads ``ResponseStream/Lines``.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var body: ParsedBody<LineParser>

        /// The next line; `nil` at the end, and after a failure.
        ///
        /// - Throws: ``TargetKitError``; of stage `.decoding` when a line is over the limit, and as the call's failures
        ///   are when the body breaks off.
        public mutating func next() async throws -> String? {
            try await next(isolation: nil)
        }

        /// The same on the caller's actor, so that only a piece that has yet to come costs a change of threads.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> String? {
            try await body.next(isolation: actor)
        }
    }
}

/// Makes texts of lines.
private struct LineParser: PieceParser {
    var splitter: LineSplitter

    mutating func append(_ piece: Data) { splitter.append(piece) }

    mutating func next() throws -> String? {
        try splitter.next { String(decoding: $0, as: UTF8.self) }
    }

    mutating func finish() throws -> String? {
        splitter.finish()
        return try next()
    }

    mutating func close() { splitter.close() }
}
