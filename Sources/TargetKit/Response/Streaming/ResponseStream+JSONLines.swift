// SPDX-License-Identifier: MIT
import Foundation

extension ResponseStream {
    /// The values of a body with one JSON text on each line (NDJSON, JSON Lines), as they arrive.
    ///
    /// Lines end like those of ``lines(limit:)``. Lines that are empty, or contain only spaces and tabs, are ignored.
    ///
    /// - Parameters:
    ///   - type: The type to decode each line as.
    ///   - decoder: Default `nil`: the target's, otherwise the provider's, otherwise a plain one.
    ///   - limit: The maximum size of a line in bytes; default 1 MiB. A longer line, and one that is not such a value, ends
    ///     the sequence with an error of stage `.decoding`.
    public func jsonLines<Value: Decodable & Sendable>(
        of type: Value.Type,
        using decoder: JSONDecoder? = nil,
        limit: Int = 1 << 20
    ) -> Elements<Value> {
        let parser = JSONLineParser<Value>(decoder: response.decoder(decoder), splitter: LineSplitter(limit: limit))
        return Elements(response: response, body: body, parser: parser)
    }
}

/// Decodes each line.
private struct JSONLineParser<Value: Decodable & Sendable>: BodyParser {
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

    /// The bytes of the line; `nil` if it is blank.
    private static func content(_ line: UnsafeRawBufferPointer) -> Data? {
        line.allSatisfy { $0 == 0x20 || $0 == 0x09 } ? nil : Data(line)
    }
}
