// SPDX-License-Identifier: MIT

/// A key path in a JSON value, with keys and array indices separated by dots, for example `data.items.0.name`. In a
/// key, a dot is escaped as `\.` and a backslash as `\\`. An empty key path refers to the whole value.
///
/// The value is found without decoding the rest of the JSON, which is only validated. Indices start at 0; in an object,
/// a number is a key.
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
        // A key can begin with a scalar that combines with the dot before it.
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\" where !isEscaped:
                isEscaped = true
                continue
            case "." where !isEscaped: keys.append("")
            default: keys[keys.count - 1].unicodeScalars.append(scalar)
            }
            isEscaped = false
        }
        self.keys = keys
    }

    /// Returns the bytes of the value at this key path. For duplicate keys, it is the first value.
    ///
    /// - Parameter validatesRest: Whether the JSON must be valid to its end; default `true`. If `false`, the text after
    ///   the value isn't read.
    /// - Throws: `DecodingError`: `.dataCorrupted` with the byte offset if the JSON is invalid, or else `.keyNotFound`,
    ///   whose coding path ends at the first missing key or index.
    package func value(in data: Data, validatesRest: Bool = true) throws -> Data {
        try data.withUnsafeBytes { bytes in
            let bytes = bytes.bindMemory(to: UInt8.self)
            var missing: Int?
            var range = 0..<0
            do throws(JSONParsingError) {
                var scanner = try JSONScanner(bytes)
                for depth in keys.indices where missing == nil {
                    if try !scanner.enter(keys[depth]) { missing = depth }
                }
                if missing == nil { range = try scanner.value() }
                if validatesRest || missing != nil { try scanner.finish() }
            } catch {
                throw DecodingError(error)
            }
            if let missing { throw notFound(missing) }
            return Data(bytes[range])
        }
    }

    private func notFound(_ depth: Int) -> DecodingError {
        let path: [any CodingKey] = keys[..<depth].map { PathKey($0) }
        let context = DecodingError.Context(codingPath: path, debugDescription: "No value for this key or index.")
        return .keyNotFound(PathKey(keys[depth]), context)
    }
}

extension JSONPath {
    /// The array index of a key, which consists of digits only.
    package static func index(_ key: String) -> Int? {
        FieldParser.number(key).flatMap { Int(exactly: $0) }
    }
}

extension DecodingError {
    /// The error for a text that isn't JSON.
    package init(_ error: JSONParsingError) {
        let context = Context(codingPath: [], debugDescription: error.description, underlyingError: error)
        self = .dataCorrupted(context)
    }

    /// This error with a prefix added to its coding path.
    package func below(_ keys: [String]) -> DecodingError {
        guard !keys.isEmpty else { return self }
        return changed { context in
            Context(
                codingPath: keys.map { PathKey($0) } + context.codingPath,
                debugDescription: context.debugDescription,
                underlyingError: context.underlyingError
            )
        }
    }

    /// This error with another context.
    package func changed(_ change: (Context) -> Context) -> DecodingError {
        switch self {
        case .keyNotFound(let key, let context): .keyNotFound(key, change(context))
        case .valueNotFound(let type, let context): .valueNotFound(type, change(context))
        case .typeMismatch(let type, let context): .typeMismatch(type, change(context))
        case .dataCorrupted(let context): .dataCorrupted(change(context))
        @unknown default: self
        }
    }
}
