// SPDX-License-Identifier: MIT
import Foundation

/// A place in a JSON text: keys and array indices with dots between them, `data.items.0.name`. A dot that belongs to a key is
/// written `\.`.
///
/// The bytes of the value are found without decoding what lies around it.
package struct JSONPath: Sendable, Hashable {
    package let keys: [String]

    package init(_ text: String) {
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

    private struct PathKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ key: String) { stringValue = key }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
