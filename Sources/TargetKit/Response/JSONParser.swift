// SPDX-License-Identifier: MIT

/// Reads a JSON text (RFC 8259) into a value, byte by byte and once.
struct JSONParser: ~Copyable {
    private let start: UnsafePointer<UInt8>
    let end: UnsafePointer<UInt8>
    var cursor: UnsafePointer<UInt8>
    /// Bytes of a string that holds escapes.
    var unescaped = ByteBuffer(capacity: 0)
    private let maximumDepth: Int
    private var depth = 0
    private var elements = MoveStack<JSONValue>()
    private var members = MoveStack<JSONObject.Member>()

    /// A parser over bytes that outlive it.
    init(_ bytes: UnsafeBufferPointer<UInt8>, options: JSONParsingOptions) throws(JSONParsingError) {
        if let limit = options.maximumSize, bytes.count > limit {
            throw JSONParsingError(.shorterText, at: max(limit, 0))
        }
        guard let base = bytes.baseAddress else { throw JSONParsingError(.value, at: 0) }
        start = base
        end = base + bytes.count
        let hasMark = bytes.count >= 3 && base[0] == 0xEF && base[1] == 0xBB && base[2] == 0xBF
        cursor = hasMark ? base + 3 : base
        maximumDepth = min(options.maximumDepth, JSONParsingOptions.deepest)
    }

    /// The one value of the text.
    mutating func text() throws(JSONParsingError) -> JSONValue {
        let value = try value()
        skipSpace()
        guard cursor == end else { throw error(.endOfText) }
        return value
    }

    private mutating func value() throws(JSONParsingError) -> JSONValue {
        skipSpace()
        guard cursor < end else { throw error(.value) }
        switch cursor.pointee {
        case UInt8(ascii: "\""): return .string(try string().text)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
        case UInt8(ascii: "{"): return .object(try object())
        case UInt8(ascii: "["): return .array(try array())
        case UInt8(ascii: "t"): return try literal("true", as: .bool(true))
        case UInt8(ascii: "f"): return try literal("false", as: .bool(false))
        case UInt8(ascii: "n"): return try literal("null", as: .null)
        default: throw error(.value)
        }
    }

    private mutating func array() throws(JSONParsingError) -> [JSONValue] {
        try enter()
        let first = elements.count
        if take(UInt8(ascii: "]")) {
            depth -= 1
            return []
        }
        repeat {
            elements.push(try value())
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw error(.commaOrArrayEnd) }
        depth -= 1
        return elements.take(from: first)
    }

    private mutating func object() throws(JSONParsingError) -> JSONObject {
        try enter()
        let first = members.count
        if take(UInt8(ascii: "}")) {
            depth -= 1
            return JSONObject()
        }
        var seen = SeenKeys()
        repeat {
            let key = try key()
            let value = try value()
            add(key, value, from: first, seen: &seen)
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw error(.commaOrObjectEnd) }
        depth -= 1
        return JSONObject(unique: members.take(from: first), positions: seen.positions)
    }

    private mutating func key() throws(JSONParsingError) -> ScannedString {
        skipSpace()
        guard cursor < end, cursor.pointee == UInt8(ascii: "\"") else { throw error(.key) }
        let key = try string()
        guard take(UInt8(ascii: ":")) else { throw error(.colon) }
        return key
    }

    /// What is known about the keys of an object that is being read.
    private struct SeenKeys {
        /// One bit for each mark that a key had.
        var marks: UInt64 = 0
        /// The position of each key, once there are many.
        var positions: [String: Int]?
    }

    /// Adds a member, or puts its value in the place of the one that has the key already.
    @inline(__always)
    private mutating func add(_ key: ScannedString, _ value: JSONValue, from first: Int, seen: inout SeenKeys) {
        let bit: UInt64 = 1 &<< UInt64(key.mark)
        let isNew = seen.marks & bit == 0 && key.isPlain && seen.positions == nil
        // A key beyond ASCII may equal one of other bytes (`\u{212A}` is `K`), so from then on every key is compared.
        seen.marks |= key.isPlain ? bit : ~0
        if !isNew || members.count - first >= JSONObject.longestList {
            addSlowly(key.text, value, from: first, seen: &seen)
        } else {
            members.push(JSONObject.Member(key: key.text, value: value))
        }
    }

    private mutating func addSlowly(_ key: String, _ value: JSONValue, from first: Int, seen: inout SeenKeys) {
        let count = members.count - first
        if seen.positions == nil, count >= JSONObject.longestList {
            seen.positions = members.read(from: first) { members in
                Dictionary(members.enumerated().map { ($1.key, $0) }) { first, _ in first }
            }
        }
        let position =
            seen.positions.map { $0[key] }
            ?? members.read(from: first) { members in members.firstIndex { $0.key == key } }
        if let position {
            members.replace(at: first + position, with: JSONObject.Member(key: key, value: value))
        } else {
            seen.positions?[key] = count
            members.push(JSONObject.Member(key: key, value: value))
        }
    }

    private mutating func literal(_ text: StaticString, as value: JSONValue) throws(JSONParsingError) -> JSONValue {
        let length = text.utf8CodeUnitCount
        for offset in 0..<length where cursor + offset >= end || cursor[offset] != text.utf8Start[offset] {
            throw error(.value)
        }
        cursor += length
        return value
    }

    /// Goes into the array or object that begins here.
    private mutating func enter() throws(JSONParsingError) {
        guard depth < maximumDepth else { throw error(.lessNesting) }
        depth += 1
        cursor += 1
    }

    @inline(__always)
    private mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard cursor < end, cursor.pointee == byte else { return false }
        cursor += 1
        return true
    }

    @inline(__always)
    private mutating func skipSpace() {
        while cursor < end, cursor.pointee <= 0x20, cursor.pointee.isJSONSpace { cursor += 1 }
    }

    func error(_ reason: JSONParsingError.Reason) -> JSONParsingError {
        JSONParsingError(reason, at: cursor - start)
    }
}
