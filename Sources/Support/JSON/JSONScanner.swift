// SPDX-License-Identifier: MIT

/// Validates JSON text (RFC 8259), and finds values in it without creating them.
///
/// Nesting is limited only by memory, and half a surrogate pair is allowed, as in the grammar (RFC 8259 §8.2, §9), unless
/// it is limited.
package struct JSONScanner: ~Copyable {
    private var reader: JSONReader
    private let maximumDepth: Int
    /// The number of arrays and objects around the cursor.
    private var depth = 0
    /// Whether each of the innermost 64 is an object, one bit each; the lowest is the innermost.
    private var kinds: UInt64 = 0
    /// The bits of the enclosing ones.
    private var outerKinds: [UInt64] = []

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
        if reader.cursor.pointee == UInt8(ascii: "{") { return try enterMember(key) }
        if reader.cursor.pointee == UInt8(ascii: "["), let position = JSONPath.index(key) {
            return try enterElement(position)
        }
        try skipValue()
        return false
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

    private mutating func enterMember(_ key: String) throws(JSONParsingError) -> Bool {
        try enter(isObject: true)
        if reader.take(UInt8(ascii: "}")) {
            leave()
            return false
        }
        while true {
            if try self.key(equals: key) { return true }
            try skipValue()
            guard reader.take(UInt8(ascii: ",")) else {
                try skipEnd()
                return false
            }
        }
    }

    private mutating func enterElement(_ position: Int) throws(JSONParsingError) -> Bool {
        try enter(isObject: false)
        if reader.take(UInt8(ascii: "]")) {
            leave()
            return false
        }
        for _ in 0..<position {
            try skipValue()
            guard reader.take(UInt8(ascii: ",")) else {
                try skipEnd()
                return false
            }
        }
        return true
    }

    private mutating func skipValue() throws(JSONParsingError) {
        let outer = depth
        try skipInnermostValue()
        try skipRest(to: outer)
    }

    /// Skips what follows a value, to the end of the arrays and objects at more than a depth.
    private mutating func skipRest(to outer: Int) throws(JSONParsingError) {
        while depth > outer {
            if reader.take(UInt8(ascii: ",")) {
                if kinds & 1 == 1 { try skipKey() }
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
        guard depth < maximumDepth else { throw reader.error(.lessNesting) }
        if depth > 0, depth % 64 == 0 { outerKinds.append(kinds) }
        kinds = kinds << 1 | (isObject ? 1 : 0)
        depth += 1
        reader.cursor += 1
    }

    private mutating func leave() {
        depth -= 1
        kinds = depth > 0 && depth % 64 == 0 ? outerKinds.popLast() ?? 0 : kinds >> 1
    }

    /// Skips the end of the innermost array or object.
    private mutating func skipEnd() throws(JSONParsingError) {
        let isObject = kinds & 1 == 1
        guard reader.take(isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
            throw reader.error(isObject ? .commaOrObjectEnd : .commaOrArrayEnd)
        }
        leave()
    }
}
