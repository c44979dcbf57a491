// SPDX-License-Identifier: MIT
import Foundation

/// A place in a JSON value: keys and array indices with dots between them, `data.items.0.name`. A dot that belongs to a key is
/// written `\.`, a backslash `\\`. An empty text is the whole value.
///
/// The bytes of the value are found without decoding what lies around it. An index is a number from 0 on; in an object it is
/// a key like any other.
public struct JSONPath: Sendable, Hashable {
    package let keys: [String]

    /// The place that a text names. Every text names one.
    public init(_ text: String) {
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

    /// The bytes of the value at this place.
    ///
    /// - Throws: `DecodingError`, whose coding path ends where the way was lost.
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

    struct PathKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ key: String) { stringValue = key }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

extension JSONPath: ExpressibleByStringLiteral {
    /// The place that a text in the source names.
    public init(stringLiteral text: String) {
        self.init(text)
    }
}

extension JSONPath {
    /// The array index that a key writes: digits alone, so neither `+1` nor `-1`.
    static func index(_ key: String) -> Int? {
        key.utf8.allSatisfy(\.isDigit) ? Int(key) : nil
    }
}
