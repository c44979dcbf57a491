// SPDX-License-Identifier: MIT

/// Writes values as JSON text (RFC 8259).
struct JSONWriter {
    private let sortedKeys: Bool
    private let pretty: Bool
    private(set) var json: [UInt8] = []
    private var depth = 0

    init(sortedKeys: Bool, pretty: Bool) {
        self.sortedKeys = sortedKeys
        self.pretty = pretty
    }

    @inline(never)
    mutating func append(_ value: JSONValue) {
        switch value {
        case .null: json += "null".utf8
        case .bool(let flag): json += (flag ? "true" : "false").utf8
        case .number(let number): json += number.description.utf8
        case .string(let text): append(text)
        case .array(let elements): append(elements)
        case .object(let object): append(object)
        }
    }

    private mutating func append(_ elements: [JSONValue]) {
        json.append(UInt8(ascii: "["))
        depth += 1
        for (position, element) in elements.enumerated() {
            startElement(isFirst: position == 0)
            append(element)
        }
        depth -= 1
        if !elements.isEmpty { breakLine() }
        json.append(UInt8(ascii: "]"))
    }

    private mutating func append(_ object: JSONObject) {
        let members = sortedKeys ? object.members.sortedByKey() : object.members
        json.append(UInt8(ascii: "{"))
        depth += 1
        for (position, member) in members.enumerated() {
            startElement(isFirst: position == 0)
            append(member.key)
            json += (pretty ? " : " : ":").utf8
            append(member.value)
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
        for _ in 0..<depth { json += "  ".utf8 }
    }

    /// Appends a text in quotes (RFC 8259 §7). Only `"`, `\` and control characters below U+0020 are escaped.
    private mutating func append(_ text: String) {
        json.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): json += #"\""#.utf8
            case UInt8(ascii: "\\"): json += #"\\"#.utf8
            case 0x08: json += #"\b"#.utf8
            case 0x09: json += #"\t"#.utf8
            case 0x0A: json += #"\n"#.utf8
            case 0x0C: json += #"\f"#.utf8
            case 0x0D: json += #"\r"#.utf8
            case ..<0x20: json += (#"\u00"# + (byte < 0x10 ? "0" : "") + String(byte, radix: 16)).utf8
            default: json.append(byte)
            }
        }
        json.append(UInt8(ascii: "\""))
    }
}
