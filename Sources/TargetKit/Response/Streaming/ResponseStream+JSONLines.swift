// SPDX-License-Identifier: MIT

extension ResponseStream {
    /// The values of a body with one JSON text per line (NDJSON, JSON Lines), as they arrive.
    ///
    /// Lines end like those of ``lines(limit:)``. Empty lines and lines with only spaces and tabs are ignored.
    ///
    /// - Parameters:
    ///   - type: The type to decode each line as.
    ///   - decoder: The decoder; default `nil`, which means the decoder of the target or the provider if it is a
    ///     `JSONDecoder`, or else one with default settings.
    ///   - limit: The maximum size of a line in bytes; default 1 MiB. A line that is longer or can't be decoded ends
    ///     the sequence with an error of stage `.decoding`.
    public func jsonLines<Value: Decodable & Sendable>(
        of type: Value.Type,
        using decoder: JSONDecoder? = nil,
        limit: Int = 1 << 20
    ) -> Elements<Value> {
        let decoder = response.decoder(decoder) as? JSONDecoder ?? Response.plainDecoder
        let parser = LineParser(limit: limit) { line -> Value? in
            line.allSatisfy(\.isSpaceOrTab)
                ? nil : try Response.value(Value.self, from: Data(line), atKeyPath: nil, using: decoder)
        }
        return Elements(response: response, body: body, parser: parser)
    }
}
