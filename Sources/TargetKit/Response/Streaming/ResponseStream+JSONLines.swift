// SPDX-License-Identifier: MIT
import Foundation

extension ResponseStream {
    /// The values of a body that has one JSON text on each line (NDJSON, JSON Lines), as they come.
    ///
    /// Lines end as those of ``lines(limit:)`` do. A line that is empty, or nothing but spaces and tabs, is passed
    /// over.
    ///
    /// - Parameters:
    ///   - type: What each line is decoded to.
    ///   - decoder: Default `nil`: the target's, else the provider's; a plain one for a stream that was made by hand.
    ///   - limit: How many bytes a line may have; default 1 MiB. A longer one ends the sequence with
    ///     ``ResponseStreamError/lineTooLong(number:limit:)``.
    public func jsonLines<Value: Decodable & Sendable>(
        of type: Value.Type,
        using decoder: JSONDecoder? = nil,
        limit: Int = 1 << 20
    ) -> JSONLines<Value> {
        JSONLines(response: response, body: body, decoder: response.decoder(decoder), limit: limit)
    }

    /// The values on the lines of a ``ResponseStream``.
    public struct JSONLines<Value: Decodable & Sendable>: AsyncSequence, Sendable {
        /// What a line was decoded to.
        public typealias Element = Value

        let response: Response
        let body: ResponseBody
        let decoder: JSONDecoder
        let limit: Int

        /// Reads the values; those that another iterator has taken are gone.
        public func makeAsyncIterator() -> Iterator {
            let parser = JSONLineParser<Value>(decoder: decoder, splitter: LineSplitter(limit: limit))
            return Iterator(body: ParsedBody(body, of: response, by: parser))
        }
    }
}

extension ResponseStream.JSONLines {
    /// Reads ``ResponseStream/JSONLines``.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var body: ParsedBody<JSONLineParser<Value>>

        /// The next value; `nil` at the end, and after a failure.
        ///
        /// - Throws: ``TargetKitError``; of stage `.decoding`, with ``ResponseStreamError/undecodableLine(number:_:)``
        ///   in it, when a line is not such a value, and as the call's failures are when the body breaks off.
        public mutating func next() async throws -> Value? {
            try await next(isolation: nil)
        }

        /// The same on the caller's actor, so that only a piece that has yet to come costs a change of threads.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Value? {
            try await body.next(isolation: actor)
        }
    }
}

/// Decodes lines, each by itself.
private struct JSONLineParser<Value: Decodable & Sendable>: PieceParser {
    let decoder: JSONDecoder
    var splitter: LineSplitter

    mutating func append(_ piece: Data) { splitter.append(piece) }

    mutating func next() throws -> Value? {
        while let line = try splitter.next(Self.content) {
            guard let line else { continue }
            do {
                return try decoder.decode(Value.self, from: line)
            } catch {
                throw ResponseStreamError.undecodableLine(number: splitter.lineCount, error)
            }
        }
        return nil
    }

    mutating func finish() throws -> Value? {
        splitter.finish()
        return try next()
    }

    mutating func close() { splitter.close() }

    /// The line's bytes; `nil` when it is blank.
    private static func content(_ line: UnsafeRawBufferPointer) -> Data? {
        line.allSatisfy { $0 == 0x20 || $0 == 0x09 } ? nil : Data(line)
    }
}
