// SPDX-License-Identifier: MIT

extension JSONValue {
    /// Parses JSON text in UTF-8.
    ///
    /// The parser accepts only RFC 8259. Comments, trailing commas, unescaped control characters, invalid UTF-8 and
    /// unpaired surrogates are errors. A leading byte order mark is ignored (§8.1). For duplicate keys, the first value
    /// is used, as by `JSONDecoder`. Numbers are exact.
    ///
    /// - Throws: An error with the byte offset and the expected syntax.
    public init(parsing data: Data) throws {
        self = try data.withUnsafeBytes { Self.parse($0.bindMemory(to: UInt8.self)) }.get()
    }

    /// Parses JSON text in a string, like `Data`.
    ///
    /// - Throws: An error with the offset in the string's UTF-8 and the expected syntax.
    public init(parsing text: String) throws {
        self = try ContiguousText.read(text) { Self.parse($0) }.get()
    }

    private static func parse(_ bytes: UnsafeBufferPointer<UInt8>) -> Result<JSONValue, JSONParsingError> {
        do throws(JSONParsingError) {
            var parser = try JSONParser(bytes)
            return .success(try parser.text())
        } catch {
            return .failure(error)
        }
    }

    /// Returns the value as JSON text in UTF-8.
    ///
    /// - Parameters:
    ///   - sortedKeys: Whether keys are sorted at every level; default `false`, which preserves their order.
    ///   - pretty: Whether the text has line breaks and an indentation of two spaces; default `false`.
    public func jsonData(sortedKeys: Bool = false, pretty: Bool = false) -> Data {
        var writer = JSONWriter(sortedKeys: sortedKeys, pretty: pretty)
        writer.append(self)
        return writer.json.data
    }
}

extension JSONValue {
    /// The value as JSON text on one line.
    public var description: String {
        var writer = JSONWriter(sortedKeys: false, pretty: false)
        writer.append(self)
        return writer.json.string
    }
}
