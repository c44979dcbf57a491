// SPDX-License-Identifier: MIT

import Foundation

/// A key path in a JSON value, with keys and array indices separated by dots, for example `data.items.0.name`. In a
/// key, a dot is escaped as `\.` and a backslash as `\\`. An empty key path refers to the whole value.
///
/// The value is found without decoding the rest of the JSON. Indices start at 0; in an object, a number is a key.
package struct JSONPath: Sendable, Hashable {
    package let keys: [String]

    /// Creates a key path. Every text is valid.
    package init(_ text: String) {
        guard !text.isEmpty else {
            keys = []
            return
        }
        var keys = [""]
        var isEscaped = false
        for character in text {
            switch character {
            case "\\" where !isEscaped:
                isEscaped = true
                continue
            case "." where !isEscaped: keys.append("")
            default: keys[keys.count - 1].append(character)
            }
            isEscaped = false
        }
        self.keys = keys
    }

    init(keys: [String]) {
        self.keys = keys
    }

    /// Returns the bytes of the value at this key path.
    ///
    /// - Throws: `DecodingError`, whose coding path ends at the first missing key or index.
    package func value(in data: Data) throws -> Data {
        try data.withUnsafeBytes(value(in:))
    }

    private func value(in bytes: UnsafeRawBufferPointer) throws -> Data {
        var scanner = JSONScanner(bytes)
        for depth in keys.indices {
            guard try scanner.enter(keys[depth]) else { throw notFound(depth) }
        }
        return Data(try scanner.value())
    }

    private func notFound(_ depth: Int) -> DecodingError {
        let path: [any CodingKey] = keys[..<depth].map { PathKey($0) }
        let context = DecodingError.Context(codingPath: path, debugDescription: "No value for this key or index.")
        return .keyNotFound(PathKey(keys[depth]), context)
    }

    package struct PathKey: CodingKey {
        package let stringValue: String
        package var intValue: Int? { nil }

        package init(_ key: String) { stringValue = key }
        package init(stringValue: String) { self.stringValue = stringValue }
        package init?(intValue: Int) { nil }
    }
}

extension JSONPath {
    /// The array index of a key, which consists of digits only.
    package static func index(_ key: String) -> Int? {
        key.utf8.allSatisfy(\.isDigit) ? Int(key) : nil
    }
}

/// Scans JSON text (RFC 8259) without creating values.
struct JSONScanner {
    private let bytes: UnsafeRawBufferPointer
    private var index = 0

    /// Creates a scanner and skips a byte order mark (RFC 8259 §8.1).
    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
    }

    /// Advances to the value of a key or index of the object or array at the cursor.
    ///
    /// - Returns: `false` if there is no such value, or no object or array.
    mutating func enter(_ key: String) throws -> Bool {
        skipSpace()
        switch peek() {
        case UInt8(ascii: "{"): return try enterMember(key)
        case UInt8(ascii: "["): return try JSONPath.index(key).map { try enterElement($0) } ?? false
        default: return false
        }
    }

    /// Returns the bytes of the value at the cursor.
    mutating func value() throws -> Slice<UnsafeRawBufferPointer> {
        skipSpace()
        let start = index
        try skipValue()
        return bytes[start..<index]
    }

    private mutating func enterMember(_ key: String) throws -> Bool {
        index += 1
        skipSpace()
        while peek() == UInt8(ascii: "\"") {
            let found = try string() == key
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw corrupted }
            if found { return true }
            try skipValue()
            guard takeComma() else { return false }
        }
        return false
    }

    private mutating func enterElement(_ position: Int) throws -> Bool {
        index += 1
        skipSpace()
        guard position >= 0, peek() != UInt8(ascii: "]") else { return false }
        for _ in 0..<position {
            try skipValue()
            guard takeComma() else { return false }
        }
        return true
    }

    private mutating func takeComma() -> Bool {
        skipSpace()
        guard take(UInt8(ascii: ",")) else { return false }
        skipSpace()
        return true
    }

    /// Skips a value without recursion, so that nesting uses no stack.
    private mutating func skipValue() throws {
        var depth = 0
        repeat {
            skipSpace()
            switch peek() {
            case nil: throw corrupted
            case UInt8(ascii: "\""): _ = try stringRange()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                index += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard depth > 0 else { throw corrupted }
                depth -= 1
                index += 1
            case UInt8(ascii: ","), UInt8(ascii: ":"):
                guard depth > 0 else { throw corrupted }
                index += 1
            default: skipScalar()
            }
        } while depth > 0
    }

    private mutating func skipScalar() {
        while let byte = peek(), !" \t\r\n,:]}[{\"".utf8.contains(byte) { index += 1 }
    }

    private mutating func string() throws -> String {
        let range = try stringRange()
        let content = bytes[(range.lowerBound + 1)..<(range.upperBound - 1)]
        guard content.contains(UInt8(ascii: "\\")) else { return String(decoding: content, as: UTF8.self) }
        guard case .string(let text)? = try? JSONValue(parsing: Data(bytes[range])) else { throw corrupted }
        return text
    }

    private mutating func stringRange() throws -> Range<Int> {
        let start = index
        index += 1
        while let byte = peek() {
            index += byte == UInt8(ascii: "\\") ? 2 : 1
            if byte == UInt8(ascii: "\"") { return start..<index }
        }
        throw corrupted
    }

    private mutating func skipSpace() {
        while let byte = peek(), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        index += 1
        return true
    }

    private func peek() -> UInt8? {
        index < bytes.count ? bytes[index] : nil
    }

    private var corrupted: DecodingError {
        .dataCorrupted(.init(codingPath: [], debugDescription: "The JSON is invalid at byte \(index)."))
    }
}

extension DecodingError {
    /// This error with a prefix added to its coding path.
    func below(_ keys: [String]) -> DecodingError {
        guard !keys.isEmpty else { return self }
        func moved(_ context: Context) -> Context {
            let path: [any CodingKey] = keys.map { JSONPath.PathKey($0) }
            return Context(
                codingPath: path + context.codingPath,
                debugDescription: context.debugDescription,
                underlyingError: context.underlyingError
            )
        }
        switch self {
        case .keyNotFound(let key, let context): return .keyNotFound(key, moved(context))
        case .valueNotFound(let type, let context): return .valueNotFound(type, moved(context))
        case .typeMismatch(let type, let context): return .typeMismatch(type, moved(context))
        case .dataCorrupted(let context): return .dataCorrupted(moved(context))
        @unknown default: return self
        }
    }
}
