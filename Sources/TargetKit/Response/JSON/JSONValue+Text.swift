// SPDX-License-Identifier: MIT
import Foundation

extension JSONValue {
    /// Parses JSON text.
    ///
    /// The text is UTF-8 and follows RFC 8259 strictly: comments, trailing commas and bare control characters are errors. A
    /// byte order mark is ignored (§8.1). The last member with a key is kept. Invalid UTF-8 and unpaired surrogates are
    /// errors. Numbers keep all their digits.
    ///
    /// - Throws: An error whose description is the offset of the first invalid byte and what was expected there.
    public init(parsing data: Data) throws {
        try self.init(parsing: data, options: JSONParsingOptions())
    }

    /// Parses JSON text by the same rules.
    package init(parsing text: String) throws(JSONParsingError) {
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

    /// The value as JSON text in UTF-8.
    ///
    /// - Parameters:
    ///   - sortedKeys: Whether keys are sorted at every level; default: no.
    ///   - pretty: Whether the text is broken into lines and indented by two spaces; default: no.
    public func jsonData(sortedKeys: Bool = false, pretty: Bool = false) -> Data {
        var writer = JSONWriter(sortedKeys: sortedKeys, pretty: pretty)
        writer.append(self)
        return writer.json.data
    }
}

extension JSONValue: CustomStringConvertible {
    /// The value as JSON text in one line.
    public var description: String {
        var writer = JSONWriter(sortedKeys: false, pretty: false)
        writer.append(self)
        return writer.json.string
    }
}
