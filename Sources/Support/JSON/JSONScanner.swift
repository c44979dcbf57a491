// SPDX-License-Identifier: MIT

/// Validates JSON text (RFC 8259), and finds values in it without creating them.
///
/// Nesting is limited only by memory, and half a surrogate pair is allowed, as in the grammar (RFC 8259 §8.2, §9), unless
/// it is limited.
package struct JSONScanner: ~Copyable {
    private var reader: JSONReader
    private let maximumDepth: Int
    /// Whether each of the arrays and objects around the cursor is an object.
    private var areObjects: [Bool] = []

    /// Creates a scanner. The bytes must outlive it.
    ///
    /// - Parameter isLimited: Whether nesting deeper than `JSONReader.maximumDepth` and half a surrogate pair are errors,
    ///   as they are for `JSONDecoder` and for the parser of TargetKitJSON; default `false`.
    init(_ bytes: UnsafeBufferPointer<UInt8>, isLimited: Bool = false) throws(JSONParsingError) {
        reader = try JSONReader(bytes, allowsHalfPairs: !isLimited)
        maximumDepth = isLimited ? JSONReader.maximumDepth : .max
    }

    /// The syntax error of a text; `nil` if it is valid to its end.
    package static func error(in data: Data, isLimited: Bool = false) -> JSONParsingError? {
        data.withUnsafeBytes { bytes in
            do throws(JSONParsingError) {
                var scanner = try JSONScanner(bytes.bindMemory(to: UInt8.self), isLimited: isLimited)
                try scanner.skipValue()
                try scanner.finish()
                return nil
            } catch {
                return error
            }
        }
    }

    /// Advances to the value of a key or index of the object or array at the cursor. If there is none, it skips the
    /// value at the cursor and returns `false`.
    mutating func enter(_ key: String) throws(JSONParsingError) -> Bool {
        reader.skipSpace()
        guard reader.cursor < reader.end else { throw reader.error(.value) }
        let isObject = reader.cursor.pointee == UInt8(ascii: "{")
        let position = reader.cursor.pointee == UInt8(ascii: "[") ? JSONPath.index(key) : nil
        guard isObject || position != nil else {
            try skipValue()
            return false
        }
        try enter(isObject: isObject)
        if reader.take(isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
            leave()
            return false
        }
        var index = 0
        while true {
            if try isObject ? self.key(equals: key) : index == position { return true }
            try skipValue()
            guard reader.take(UInt8(ascii: ",")) else {
                try skipEnd()
                return false
            }
            index += 1
        }
    }

    /// Skips the value at the cursor, and returns the offsets of its bytes.
    mutating func value() throws(JSONParsingError) -> Range<Int> {
        reader.skipSpace()
        let start = reader.offset
        try skipValue()
        return start..<reader.offset
    }

    /// Validates the rest of the text after a value.
    mutating func finish() throws(JSONParsingError) {
        try skipRest(to: 0)
        try reader.finish()
    }

    private mutating func skipValue() throws(JSONParsingError) {
        let outer = areObjects.count
        try skipInnermostValue()
        try skipRest(to: outer)
    }

    /// Skips what follows a value, to the end of the arrays and objects at more than a depth.
    private mutating func skipRest(to outer: Int) throws(JSONParsingError) {
        while areObjects.count > outer {
            if reader.take(UInt8(ascii: ",")) {
                if areObjects.last == true { try skipKey() }
                try skipInnermostValue()
            } else {
                try skipEnd()
            }
        }
    }

    /// Enters arrays and objects until it has skipped a scalar, or an empty array or object.
    private mutating func skipInnermostValue() throws(JSONParsingError) {
        while true {
            reader.skipSpace()
            guard reader.cursor < reader.end else { throw reader.error(.value) }
            switch reader.cursor.pointee {
            case UInt8(ascii: "\""):
                try reader.skipString()
                return
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try reader.skipNumber()
            case UInt8(ascii: "{"):
                try enter(isObject: true)
                if reader.take(UInt8(ascii: "}")) { return leave() }
                try skipKey()
            case UInt8(ascii: "["):
                try enter(isObject: false)
                if reader.take(UInt8(ascii: "]")) { return leave() }
            case UInt8(ascii: "t"): return try reader.skipLiteral("true")
            case UInt8(ascii: "f"): return try reader.skipLiteral("false")
            case UInt8(ascii: "n"): return try reader.skipLiteral("null")
            default: throw reader.error(.value)
            }
        }
    }

    private mutating func skipKey() throws(JSONParsingError) {
        reader.skipSpace()
        guard reader.cursor < reader.end, reader.cursor.pointee == UInt8(ascii: "\"") else { throw reader.error(.key) }
        try reader.skipString()
        guard reader.take(UInt8(ascii: ":")) else { throw reader.error(.colon) }
    }

    private mutating func key(equals key: String) throws(JSONParsingError) -> Bool {
        reader.skipSpace()
        let start = reader.cursor
        try skipKey()
        let quoted = UnsafeBufferPointer(start: start, count: reader.cursor - start)
        guard let last = quoted.lastIndex(of: UInt8(ascii: "\"")) else { return false }
        let content = quoted[1..<last]
        guard content.contains(UInt8(ascii: "\\")) else { return String(decoding: content, as: UTF8.self) == key }
        return (try? JSONDecoder().decode(String.self, from: Data(quoted[...last]))) == key
    }

    private mutating func enter(isObject: Bool) throws(JSONParsingError) {
        guard areObjects.count < maximumDepth else { throw reader.error(.lessNesting) }
        areObjects.append(isObject)
        reader.cursor += 1
    }

    private mutating func leave() { _ = areObjects.popLast() }

    /// Skips the end of the innermost array or object.
    private mutating func skipEnd() throws(JSONParsingError) {
        let isObject = areObjects.last == true
        guard reader.take(isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
            throw reader.error(isObject ? .commaOrObjectEnd : .commaOrArrayEnd)
        }
        leave()
    }
}
