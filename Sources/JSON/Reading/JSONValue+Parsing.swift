// SPDX-License-Identifier: MIT
import TargetKit

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
}

extension JSONValue {
    /// Creates a JSON value from an encodable value.
    ///
    /// - Throws: The error of the value's `encode(to:)` or the encoder.
    public init(encoding value: some Encodable, using encoder: JSONEncoder = JSONEncoder()) throws {
        self = try Self(parsing: encoder.encode(value))
    }

    /// Decodes a model from this value.
    ///
    /// - Throws: `DecodingError`.
    public func decode<Value: Decodable>(
        _ type: Value.Type,
        using decoder: JSONDecoder = JSONDecoder()
    ) throws -> Value {
        try decoder.decode(type, from: jsonData())
    }
}
