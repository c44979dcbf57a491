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
