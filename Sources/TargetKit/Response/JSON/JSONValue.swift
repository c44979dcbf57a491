// SPDX-License-Identifier: MIT

/// A JSON value, for writing and reading JSON without a model.
///
/// ```swift
/// let task = HTTPTask.json(["name": "tea", "sizes": [1, 2.5], "organic": true])
/// ```
///
/// TargetKitJSON parses text to such values and reads them: `json.data.users[0].name.string`.
@dynamicMemberLookup
public enum JSONValue: Sendable, Hashable, Encodable, CustomStringConvertible {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number, with its exact value.
    case number(JSONNumber)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object.
    case object(JSONObject)

    /// Creates an integer.
    public init(_ number: Int) {
        self = .number(JSONNumber(Int64(number)))
    }

    /// Creates a number; ``null`` for NaN and infinity, which JSON can't represent.
    public init(_ number: Double) {
        self = JSONNumber(number).map { .number($0) } ?? .null
    }

    /// Creates a number with all digits of a decimal; ``null`` for NaN.
    public init(_ number: Decimal) {
        self = JSONNumber(number).map { .number($0) } ?? .null
    }
}

extension JSONValue {
    /// The value of a key, which TargetKitJSON reads. Without it, `json.name` is an error that says the import.
    @available(*, unavailable, message: "import TargetKitJSON to read untyped JSON")
    public subscript(dynamicMember key: String) -> JSONValue {
        get { self }
        set { self = newValue }
    }

    /// The end of a chain where a number or a text is needed, for example `let total: Int? = json.total.lenient.int`. Without
    /// it, the error would be about the type instead of the import.
    @available(*, unavailable, message: "import TargetKitJSON to read untyped JSON, and state the type: json.total.int")
    public subscript<Value: ExpressibleByNilLiteral>(dynamicMember key: String) -> Value { nil }
}

extension JSONValue {
    /// Hashes the value. For nested arrays and objects, only the size is hashed, to save time and stack.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .array(let elements):
            hasher.combine(elements.count)
            for element in elements { element.hashSurface(into: &hasher) }
        case .object(let object): object.hash(into: &hasher)
        default: hashSurface(into: &hasher)
        }
    }

    func hashSurface(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0 as UInt8)
        case .bool(let flag): hasher.combine(flag)
        case .number(let number): hasher.combine(number)
        case .string(let text): hasher.combine(text)
        case .array(let elements): hasher.combine(elements.count)
        case .object(let object): hasher.combine(object.count)
        }
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// Creates a null from a literal.
    public init(nilLiteral: ()) {
        self = .null
    }

    /// Creates a Boolean from a literal.
    public init(booleanLiteral value: Bool) {
        self = .bool(value)
    }

    /// Creates a number from a literal.
    public init(integerLiteral value: Int64) {
        self = .number(JSONNumber(value))
    }

    /// Creates a number from a literal, or ``null`` if it exceeds `Double`.
    public init(floatLiteral value: Double) {
        self.init(value)
    }

    /// Creates a string from a literal.
    public init(stringLiteral value: String) {
        self = .string(value)
    }

    /// Creates an array from a literal.
    public init(arrayLiteral elements: JSONValue...) {
        self = .array(elements)
    }

    /// Creates an object from a literal. For duplicate keys, the last value is used.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(JSONObject(elements.lazy.map { (key: $0, value: $1) }))
    }
}

extension JSONValue {
    /// Returns the value as JSON text in UTF-8.
    ///
    /// - Parameters:
    ///   - sortedKeys: Whether keys are sorted at every level; default `false`, which preserves their order.
    ///   - pretty: Whether the text has line breaks and an indentation of two spaces; default `false`.
    public func jsonData(sortedKeys: Bool = false, pretty: Bool = false) -> Data {
        var writer = JSONWriter(sortedKeys: sortedKeys, pretty: pretty)
        writer.append(self)
        return Data(writer.json)
    }
}

extension JSONValue {
    /// The value as JSON text on one line.
    public var description: String {
        var writer = JSONWriter(sortedKeys: false, pretty: false)
        writer.append(self)
        return String(decoding: writer.json, as: UTF8.self)
    }
}

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
