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
    ///   - limit: The maximum size of a line in bytes; default 1 MiB. A longer line, and one that is not such a value,
    ///     ends the sequence with an error of stage `.decoding`.
    public func jsonLines<Value: Decodable & Sendable>(
        of type: Value.Type,
        using decoder: JSONDecoder? = nil,
        limit: Int = 1 << 20
    ) -> Elements<Value> {
        let decoder = response.decoder(decoder)
        let parser = LineParser(limit: limit) { line -> Value? in
            line.allSatisfy(\.isSpaceOrTab) ? nil : try decoder.decode(Value.self, from: Data(line))
        }
        return Elements(response: response, body: body, parser: parser)
    }
}
