// SPDX-License-Identifier: MIT

extension JSONValue {
    /// Decodes a value from any format.
    ///
    /// Numbers are decoded as `Int64`, `UInt64`, `Decimal` or `Double`, in this order. The decoder's key strategy isn't
    /// applied, and the order of keys is lost. For JSON text, `init(parsing:)` is much faster, and exact.
    ///
    /// - Throws: `DecodingError` if the value can't be represented as JSON.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let text = try? container.decode(String.self) {
            self = .string(text)
        } else if let flag = try? container.decode(Bool.self) {
            self = .bool(flag)
        } else if let number = try? container.decode(JSONNumber.self) {
            self = .number(number)
        } else if let elements = try? container.decode([JSONValue].self) {
            self = .array(elements)
        } else {
            self = JSONValue(try container.decode([String: JSONValue].self))
        }
    }

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
    /// Decodes a number from any format, as `Int64`, `UInt64`, `Decimal` or `Double`, in this order.
    ///
    /// - Throws: `DecodingError` if the value isn't a number, or is NaN or infinite.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int64.self) {
            self.init(number)
        } else if let number = try? container.decode(UInt64.self) {
            self.init(number)
        } else if let decimal = try? container.decode(Decimal.self), let number = Self(decimal) {
            self = number
        } else if let number = Self(try container.decode(Double.self)) {
            self = number
        } else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "JSON can't represent the number.")
        }
    }

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
    /// Decodes an object from any format, in unspecified order.
    ///
    /// - Throws: `DecodingError` if the value isn't an object.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.singleValueContainer().decode([String: JSONValue].self)
        self.init(members.lazy.map { (key: $0.key, value: $0.value) })
    }

    /// Encodes the members.
    ///
    /// - Throws: The encoder's error.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(dictionary)
    }
}

extension JSONValue {
    /// Creates a JSON value from an encodable value.
    ///
    /// - Throws: The error of the value's `encode(to:)` or the encoder.
    public init(encoding value: some Encodable, using encoder: JSONEncoder = JSONEncoder()) throws {
        self = try Self(parsing: encoder.encode(value))
    }

    /// Decodes a model from this value.
    ///
    /// - Throws: `DecodingError`.
    public func decode<Value: Decodable>(
        _ type: Value.Type,
        using decoder: JSONDecoder = JSONDecoder()
    ) throws -> Value {
        try decoder.decode(type, from: jsonData())
    }
}

/// A dynamic JSON type that is parsed without a decoder.
protocol DynamicJSON {
    /// Creates this type from a JSON value; `nil` if the value has another kind.
    init?(json: JSONValue)
}

extension JSONValue: DynamicJSON {
    init?(json: JSONValue) {
        self = json
    }
}

extension JSONObject: DynamicJSON {
    init?(json: JSONValue) {
        guard let object = json.object else { return nil }
        self = object
    }
}

extension Array: DynamicJSON where Element == JSONValue {
    init?(json: JSONValue) {
        guard let elements = json.array else { return nil }
        self = elements
    }
}

extension Dictionary: DynamicJSON where Key == String, Value == JSONValue {
    init?(json: JSONValue) {
        guard let members = json.dictionary else { return nil }
        self = members
    }
}
