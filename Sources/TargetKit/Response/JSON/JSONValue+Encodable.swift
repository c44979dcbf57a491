// SPDX-License-Identifier: MIT

extension JSONValue {
    /// Encodes the value in any format. The encoder's key strategy isn't applied.
    ///
    /// - Throws: The encoder's error.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let flag): try container.encode(flag)
        case .number(let number): try container.encode(number)
        case .string(let text): try container.encode(text)
        case .array(let elements): try container.encode(elements)
        case .object(let object): try container.encode(object.dictionary)
        }
    }
}

extension JSONNumber {
    /// Encodes the number as the first of `Int64`, `UInt64`, `Double` and `Decimal` that represents it exactly,
    /// otherwise as the nearest `Double` or `Decimal`.
    ///
    /// - Throws: The encoder's error, or `EncodingError` for a number that exceeds `Decimal` and `Double`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch form {
        case .signed(let value): try container.encode(value)
        case .unsigned(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .text:
            if let decimal, decimal.isFinite {
                try container.encode(decimal)
            } else if let double {
                try container.encode(double)
            } else {
                let context = EncodingError.Context(
                    codingPath: encoder.codingPath,
                    debugDescription: "The number exceeds the range of Decimal and Double."
                )
                throw EncodingError.invalidValue(self, context)
            }
        }
    }
}

extension JSONObject {
    /// Encodes the members.
    ///
    /// - Throws: The encoder's error.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(dictionary)
    }
}
