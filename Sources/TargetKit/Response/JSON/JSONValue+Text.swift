// SPDX-License-Identifier: MIT
import Foundation

extension JSONValue {
    /// The value that a JSON text holds.
    ///
    /// The text is UTF-8 and keeps to RFC 8259 strictly: no comments, no commas too many, no bare control characters; a
    /// byte order mark in front is passed over (§8.1). Of members with the same key the last counts. Broken UTF-8 and
    /// half surrogate pairs are errors, not replaced. Numbers are kept exactly.
    ///
    /// - Throws: ``JSONParsingError``, which says at which byte and what was expected.
    public init(parsing data: Data) throws(JSONParsingError) {
        try self.init(parsing: data, options: JSONParsingOptions())
    }

    /// Parses a string of JSON, with the same rules.
    ///
    /// - Throws: ``JSONParsingError`` with the offset in the string's UTF-8 and the expected syntax.
    public init(parsing text: String) throws(JSONParsingError) {
        let result = ContiguousText.read(text) { Self.parse($0, options: JSONParsingOptions()) }
        self = try result.get()
    }

    /// Parses JSON text within limits.
    package init(parsing data: Data, options: JSONParsingOptions) throws(JSONParsingError) {
        let result = data.withUnsafeBytes { bytes in
            Self.parse(bytes.bindMemory(to: UInt8.self), options: options)
        }
        self = try result.get()
    }

    private static func parse(
        _ bytes: UnsafeBufferPointer<UInt8>,
        options: JSONParsingOptions
    ) -> Result<JSONValue, JSONParsingError> {
        do throws(JSONParsingError) {
            var parser = try JSONParser(bytes, options: options)
            return .success(try parser.text())
        } catch {
            return .failure(error)
        }
    }

    /// Returns the value as JSON text in UTF-8.
    ///
    /// - Parameters:
    ///   - sortedKeys: Whether keys are sorted at every level; default: no, their order is kept.
    ///   - pretty: Whether the text has line breaks and an indentation of two spaces; default: no.
    public func jsonData(sortedKeys: Bool = false, pretty: Bool = false) -> Data {
        var writer = JSONWriter(sortedKeys: sortedKeys, pretty: pretty)
        writer.append(self)
        return writer.json.data
    }
}

extension JSONValue: CustomStringConvertible {
    /// The value as JSON text on one line.
    public var description: String {
        var writer = JSONWriter(sortedKeys: false, pretty: false)
        writer.append(self)
        return writer.json.string
    }
}
