// SPDX-License-Identifier: MIT

/// Writes values as JSON text (RFC 8259).
struct JSONWriter: ~Copyable {
    private let sortedKeys: Bool
    private let pretty: Bool
    private(set) var json = ByteBuffer(capacity: 128)
    private var depth = 0

    init(sortedKeys: Bool, pretty: Bool) {
        self.sortedKeys = sortedKeys
        self.pretty = pretty
    }

    mutating func append(_ value: JSONValue) {
        switch value {
        case .null: json.append(literal: "null")
        case .bool(true): json.append(literal: "true")
        case .bool(false): json.append(literal: "false")
        case .number(let number): number.append(to: &json)
        case .string(let text): JSONText.append(text, to: &json)
        case .array(let elements): append(elements)
        case .object(let object): append(object)
        }
    }

    private mutating func append(_ elements: [JSONValue]) {
        json.append(UInt8(ascii: "["))
        depth += 1
        for position in elements.indices {
            startElement(isFirst: position == 0)
            append(elements[position])
        }
        depth -= 1
        if !elements.isEmpty { breakLine() }
        json.append(UInt8(ascii: "]"))
    }

    private mutating func append(_ object: JSONObject) {
        var members = object.members
        if sortedKeys { KeyOrder.sort(&members) { $0.key } }
        json.append(UInt8(ascii: "{"))
        depth += 1
        for position in members.indices {
            startElement(isFirst: position == 0)
            JSONText.append(members[position].key, to: &json)
            json.append(literal: pretty ? " : " : ":")
            append(members[position].value)
        }
        depth -= 1
        if !members.isEmpty { breakLine() }
        json.append(UInt8(ascii: "}"))
    }

    private mutating func startElement(isFirst: Bool) {
        if !isFirst { json.append(UInt8(ascii: ",")) }
        breakLine()
    }

    private mutating func breakLine() {
        guard pretty else { return }
        json.append(UInt8(ascii: "\n"))
        for _ in 0..<depth { json.append(literal: "  ") }
    }
}

/// JSON strings (RFC 8259 §7).
enum JSONText {
    /// Appends the text in quotes. Only `"`, `\` and control characters below U+0020 are escaped.
    @inline(__always)
    static func append(_ text: String, to json: inout ByteBuffer) {
        ContiguousText.read(text) { bytes in
            json.append(upTo: bytes.count * 6 + 2) { store(bytes, at: $0) }
        }
    }

    /// Stores the string in memory with a capacity of six times its bytes plus two quotes, and returns the number of
    /// bytes stored.
    private static func store(_ bytes: UnsafeBufferPointer<UInt8>, at start: UnsafeMutablePointer<UInt8>) -> Int {
        start.pointee = UInt8(ascii: "\"")
        var end = start + 1
        for byte in bytes {
            if byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
                end.pointee = byte
                end += 1
            } else {
                end += storeEscape(of: byte, at: end)
            }
        }
        end.pointee = UInt8(ascii: "\"")
        return end + 1 - start
    }

    private static func storeEscape(of byte: UInt8, at end: UnsafeMutablePointer<UInt8>) -> Int {
        let short: UInt8? =
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): byte
            case 0x08: UInt8(ascii: "b")
            case 0x09: UInt8(ascii: "t")
            case 0x0A: UInt8(ascii: "n")
            case 0x0C: UInt8(ascii: "f")
            case 0x0D: UInt8(ascii: "r")
            default: nil
            }
        end[0] = UInt8(ascii: "\\")
        if let short {
            end[1] = short
            return 2
        }
        end[1] = UInt8(ascii: "u")
        end[2] = UInt8(ascii: "0")
        end[3] = UInt8(ascii: "0")
        end[4] = UInt8(ascii: "0") + byte >> 4
        end[5] = byte & 15 < 10 ? UInt8(ascii: "0") + byte & 15 : UInt8(ascii: "a") - 10 + byte & 15
        return 6
    }
}
