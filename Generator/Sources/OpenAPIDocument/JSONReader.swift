// SPDX-License-Identifier: MIT

/// Reads JSON text (RFC 8259) and keeps the order of members, which `JSONSerialization` doesn't.
struct JSONReader {
    private let bytes: [UInt8]
    private var position = 0

    /// Reads the one value of a text.
    static func read(_ text: String) throws(SyntaxError) -> Node {
        var reader = JSONReader(bytes: Array(text.utf8))
        let value = try reader.value(depth: 0)
        reader.skipSpace()
        guard reader.position == reader.bytes.count else { throw reader.error("there is more text after the value") }
        return value
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private func error(_ message: String) -> SyntaxError {
        let read = bytes[..<min(position, bytes.count)]
        let line = read.count { $0 == UInt8(ascii: "\n") } + 1
        let start = read.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return SyntaxError(line: line, column: read.count - start + 1, message: message)
    }

    private mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    private mutating func value(depth: Int) throws(SyntaxError) -> Node {
        guard depth < 256 else { throw error("more than 256 levels") }
        skipSpace()
        guard position < bytes.count else { throw error("the text ends where a value is expected") }
        switch bytes[position] {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t") where take("true"): return .bool(true)
        case UInt8(ascii: "f") where take("false"): return .bool(false)
        case UInt8(ascii: "n") where take("null"): return .null
        default: return try number()
        }
    }

    private mutating func take(_ word: StaticString) -> Bool {
        let end = position + word.utf8CodeUnitCount
        let expected = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard end <= bytes.count, bytes[position..<end].elementsEqual(expected) else { return false }
        position = end
        return true
    }

    private mutating func object(depth: Int) throws(SyntaxError) -> Node {
        var members = Node.Members()
        position += 1
        skipSpace()
        if take("}") { return .object(members) }
        while true {
            skipSpace()
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
                throw error("a member's name in quotes is expected")
            }
            let name = try string()
            skipSpace()
            guard take(":") else { throw error("a colon is expected after “\(name)”") }
            members[name] = try value(depth: depth + 1)
            skipSpace()
            if take("}") { return .object(members) }
            guard take(",") else { throw error("a comma or a closing brace is expected") }
        }
    }

    private mutating func array(depth: Int) throws(SyntaxError) -> Node {
        var elements: [Node] = []
        position += 1
        skipSpace()
        if take("]") { return .array(elements) }
        while true {
            elements.append(try value(depth: depth + 1))
            skipSpace()
            if take("]") { return .array(elements) }
            guard take(",") else { throw error("a comma or a closing bracket is expected") }
        }
    }

    private mutating func number() throws(SyntaxError) -> Node {
        let start = position
        while position < bytes.count, "+-.eE0123456789".utf8.contains(bytes[position]) { position += 1 }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        guard YAMLScalar.isJSONNumber(text) else {
            position = start
            throw error("a value is expected")
        }
        return .number(text)
    }

    private mutating func string() throws(SyntaxError) -> String {
        position += 1
        let start = position
        while position < bytes.count, bytes[position] != UInt8(ascii: "\""), bytes[position] != UInt8(ascii: "\\") {
            position += 1
        }
        var text = String(decoding: bytes[start..<position], as: UTF8.self)
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return text
            case UInt8(ascii: "\\"):
                text.unicodeScalars.append(try escape())
            default:
                let start = position
                while position < bytes.count, bytes[position] != UInt8(ascii: "\""),
                    bytes[position] != UInt8(ascii: "\\")
                {
                    position += 1
                }
                text += String(decoding: bytes[start..<position], as: UTF8.self)
            }
        }
        throw error("the text ends within a string")
    }

    private mutating func escape() throws(SyntaxError) -> Unicode.Scalar {
        guard position + 1 < bytes.count else { throw error("the text ends within a string") }
        let letter = bytes[position + 1]
        position += 2
        switch letter {
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
        case UInt8(ascii: "u"):
            var code = UInt32(try unit())
            if (0xD800...0xDBFF).contains(code), take("\\u") {
                let low = UInt32(try unit())
                if (0xDC00...0xDFFF).contains(low) { code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00) }
            }
            return Unicode.Scalar(code) ?? "\u{FFFD}"
        default: throw error("an unknown escape in a string")
        }
    }

    private mutating func unit() throws(SyntaxError) -> UInt16 {
        let end = position + 4
        guard end <= bytes.count, let unit = UInt16(String(decoding: bytes[position..<end], as: UTF8.self), radix: 16)
        else { throw error("four hexadecimal digits are expected after “\\u”") }
        position = end
        return unit
    }
}

/// Text that is neither JSON nor YAML, and where.
struct SyntaxError: Error {
    let line: Int
    let column: Int
    let message: String
}
