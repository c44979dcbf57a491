// SPDX-License-Identifier: MIT
import TargetKit

/// A single-pass parser of JSON text (RFC 8259).
struct JSONParser: ~Copyable {
    private var reader: JSONReader
    private var elements = MoveStack<JSONValue>()
    private var members = MoveStack<JSONObject.Element>()
    /// Up to this number of members, comparing keys is faster than hashing them.
    private static let longestList = 12
    /// The current nesting depth.
    private var depth = 0
    /// The innermost array or object.
    private var container = Container()
    /// The enclosing arrays and objects. They are on the heap, because the thread's stack may be small.
    private var outer = MoveStack<Container>()

    /// An array or object that is being parsed. If it were private, debug builds would fail in Swift 6.3.1 ("Global is
    /// external").
    struct Container {
        var isObject = false
        /// The offset of its first element or member.
        var first = 0
        /// The key of the next value.
        var key = ScannedString(text: "", isPlain: true, mark: 0)
        /// A bit set of the marks of all keys.
        var marks: UInt64 = 0
        /// The position of each key, in a large object.
        var positions: [String: Int]?
    }

    /// Creates a parser. The bytes must outlive it.
    init(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONParsingError) {
        reader = try JSONReader(bytes, allowsHalfPairs: false)
    }

    /// Parses the text.
    mutating func text() throws(JSONParsingError) -> JSONValue {
        var value = try innermostValue()
        while depth > 0 {
            add(value)
            if reader.take(UInt8(ascii: ",")) {
                if container.isObject { container.key = try key() }
                value = try innermostValue()
            } else {
                value = try containerEnd()
            }
        }
        try reader.finish()
        return value
    }

    /// Enters arrays and objects until it reaches a scalar, or an empty array or object.
    private mutating func innermostValue() throws(JSONParsingError) -> JSONValue {
        while true {
            reader.skipSpace()
            guard reader.cursor < reader.end else { throw reader.error(.value) }
            switch reader.cursor.pointee {
            case UInt8(ascii: "\""): return .string(try reader.string().text)
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try reader.number())
            case UInt8(ascii: "{"):
                try enter(isObject: true)
                if reader.take(UInt8(ascii: "}")) { return leave(with: .object([:])) }
                container.key = try key()
            case UInt8(ascii: "["):
                try enter(isObject: false)
                if reader.take(UInt8(ascii: "]")) { return leave(with: .array([])) }
            case UInt8(ascii: "t"): return try literal("true", as: .bool(true))
            case UInt8(ascii: "f"): return try literal("false", as: .bool(false))
            case UInt8(ascii: "n"): return try literal("null", as: .null)
            default: throw reader.error(.value)
            }
        }
    }

    /// Enters the array or object at the cursor.
    private mutating func enter(isObject: Bool) throws(JSONParsingError) {
        guard depth < JSONReader.maximumDepth else { throw reader.error(.lessNesting) }
        if depth > 0 { outer.push(container) }
        container = Container(isObject: isObject, first: isObject ? members.count : elements.count)
        depth += 1
        reader.cursor += 1
    }

    private mutating func leave(with value: JSONValue) -> JSONValue {
        depth -= 1
        if let next = outer.pop() { container = next }
        return value
    }

    /// Returns the array or object that ends at the cursor.
    private mutating func containerEnd() throws(JSONParsingError) -> JSONValue {
        if container.isObject {
            guard reader.take(UInt8(ascii: "}")) else { throw reader.error(.commaOrObjectEnd) }
            let members = members.take(from: container.first)
            return leave(with: .object(JSONObject(unique: members, positions: container.positions)))
        } else {
            guard reader.take(UInt8(ascii: "]")) else { throw reader.error(.commaOrArrayEnd) }
            return leave(with: .array(elements.take(from: container.first)))
        }
    }

    private mutating func key() throws(JSONParsingError) -> ScannedString {
        reader.skipSpace()
        guard reader.cursor < reader.end, reader.cursor.pointee == UInt8(ascii: "\"") else { throw reader.error(.key) }
        let key = try reader.string()
        guard reader.take(UInt8(ascii: ":")) else { throw reader.error(.colon) }
        return key
    }

    /// Adds a value to the innermost array or object.
    @inline(__always)
    private mutating func add(_ value: JSONValue) {
        guard container.isObject else {
            elements.push(value)
            return
        }
        let bit: UInt64 = 1 &<< UInt64(container.key.mark)
        let isNew = container.marks & bit == 0 && container.key.isPlain && container.positions == nil
        // A non-ASCII key may equal a key with different bytes (`\u{212A}` is `K`), so every further key is compared.
        container.marks |= container.key.isPlain ? bit : ~0
        if isNew, members.count - container.first < Self.longestList {
            members.push((container.key.text, value))
        } else {
            addComparing(value)
        }
    }

    /// Adds a member unless its key exists. The first value of a key is used, as by `JSONDecoder`.
    private mutating func addComparing(_ value: JSONValue) {
        let first = container.first
        let key = container.key.text
        let count = members.count - first
        if container.positions == nil, count >= Self.longestList {
            container.positions = members.read(from: first) { members in
                Dictionary(members.enumerated().map { ($1.key, $0) }) { first, _ in first }
            }
        }
        let exists =
            container.positions.map { $0[key] != nil }
            ?? members.read(from: first) { members in members.contains { $0.key == key } }
        guard !exists else { return }
        container.positions?[key] = count
        members.push((key, value))
    }

    private mutating func literal(_ text: StaticString, as value: JSONValue) throws(JSONParsingError) -> JSONValue {
        try reader.skipLiteral(text)
        return value
    }
}

/// A stack of values for arrays. Each array is created when its length is known, with one allocation, by moving the
/// values without reference counting.
struct MoveStack<Element>: ~Copyable {
    private var base: UnsafeMutablePointer<Element>
    private var capacity: Int
    private(set) var count = 0

    init() {
        capacity = 64
        base = .allocate(capacity: capacity)
    }

    deinit {
        base.deinitialize(count: count)
        base.deallocate()
    }

    @inline(__always)
    mutating func push(_ element: consuming Element) {
        if count == capacity { grow() }
        (base + count).initialize(to: element)
        count += 1
    }

    /// Removes and returns the last value, or `nil`.
    @inline(__always)
    mutating func pop() -> Element? {
        guard count > 0 else { return nil }
        count -= 1
        return (base + count).move()
    }

    /// Removes and returns the values from an offset on.
    @inline(__always)
    mutating func take(from start: Int) -> [Element] {
        let length = count - start
        guard length > 0 else { return [] }
        let source = base + start
        count = start
        return Array(unsafeUninitializedCapacity: length) { buffer, initialized in
            buffer.baseAddress?.moveInitialize(from: source, count: length)
            initialized = length
        }
    }

    /// Calls a closure with the values from an offset on.
    @inline(__always)
    borrowing func read<Result>(from start: Int, _ body: (UnsafeBufferPointer<Element>) -> Result) -> Result {
        body(UnsafeBufferPointer(start: base + start, count: count - start))
    }

    private mutating func grow() {
        let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: base, count: count)
        base.deallocate()
        base = larger
        capacity *= 2
    }
}
