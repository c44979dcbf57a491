// SPDX-License-Identifier: MIT

extension ParameterValue {
    /// A dynamic value as what it stands for.
    init(_ json: JSONValue) {
        switch json {
        case .null: self = .null
        case .bool(let flag): self = .bool(flag)
        case .number(let number): self = .init(number)
        case .string(let text): self = .text(text)
        case .array(let elements): self = .list(elements)
        case .object(let object): self = .pairs(object)
        }
    }

    /// A number in all its digits.
    init(_ number: JSONNumber) {
        switch number.form {
        case .signed(let value): self = .signed(value)
        case .unsigned(let value): self = .unsigned(value)
        case .double(let value): self = .double(value)
        case .text(let digits): self = .digits(digits)
        }
    }
}

extension JSONObject: ParameterPairs {
    func forEachParameter(sorted: Bool, _ body: (String, Any) throws -> Void) throws {
        guard sorted else {
            for member in members { try body(member.key, member.value) }
            return
        }
        var members = members
        KeyOrder.sort(&members, by: \.key)
        for member in members { try body(member.key, member.value) }
    }
}
