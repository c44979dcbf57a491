// SPDX-License-Identifier: MIT

import Foundation

extension JSONValue: Codable {
    /// The value that a decoder of any format holds.
    ///
    /// A number is asked for as `Int64`, `UInt64`, `Decimal` and `Double`, in this order. Keys come as they are, whatever the
    /// decoder's key strategy, and without their order. From JSON text `init(parsing:)` is many times as
    /// quick, and exact.
    ///
    /// - Throws: `DecodingError` when it is none of JSON's values.
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

    /// Gives the value to an encoder of any format. Keys go as they are, whatever the encoder's key strategy.
    ///
    /// - Throws: What the encoder throws.
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

extension JSONNumber: Codable {
    /// The number that a decoder of any format holds; asked for as `Int64`, `UInt64`, `Decimal` and `Double`, in this order.
    ///
    /// - Throws: `DecodingError` when it is no number, or NaN or infinite.
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
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "JSON has no such number.")
        }
    }

    /// Gives the number to an encoder: as the first of `Int64`, `UInt64`, `Double` and `Decimal` that holds it exactly, else as
    /// the nearest of the last two.
    ///
    /// - Throws: What the encoder throws, and `EncodingError` for a number beyond `Decimal` and `Double`.
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
                    debugDescription: "The number is beyond Decimal and Double."
                )
                throw EncodingError.invalidValue(self, context)
            }
        }
    }
}

extension JSONObject: Codable {
    /// The members that a decoder of any format holds, in no particular order.
    ///
    /// - Throws: `DecodingError` when it is no object.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.singleValueContainer().decode([String: JSONValue].self)
        self.init(members.lazy.map { (key: $0.key, value: $0.value) })
    }

    /// Gives the members to an encoder.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(dictionary)
    }
}

extension JSONValue {
    /// The JSON value of anything that can be encoded.
    ///
    /// - Throws: What the value's `encode(to:)` or the encoder throws.
    public init(encoding value: some Encodable, using encoder: JSONEncoder = JSONEncoder()) throws {
        self = try Self(parsing: encoder.encode(value))
    }

    /// This value as a model.
    ///
    /// - Throws: `DecodingError`.
    public func decode<Value: Decodable>(
        _ type: Value.Type,
        using decoder: JSONDecoder = JSONDecoder()
    ) throws -> Value {
        try decoder.decode(type, from: jsonData())
    }
}

/// A type that is JSON without a model, so that it is read without a decoder.
protocol DynamicJSON {
    /// The same value in this type; `nil` when it is of another kind.
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
