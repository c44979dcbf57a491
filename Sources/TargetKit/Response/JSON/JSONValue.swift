// SPDX-License-Identifier: MIT

/// A JSON value, for reading JSON without a model.
///
/// ```swift
/// let json = try JSONValue(parsing: response.data)
/// let name = json.data.users[0].name.string
/// let total = json[path: "meta.total"].lenient.int ?? 0
/// ```
///
/// A missing value is ``null``, at any depth, so a chain needs no `?`. The names of this type's own properties
/// (`string`, `number`, `description`, …) take precedence over keys. Use `json["string"]` for such a key.
@dynamicMemberLookup
public enum JSONValue: Sendable, Hashable, Codable, CustomStringConvertible {
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

    /// Creates a string.
    package init(_ text: String) {
        self = .string(text)
    }

    /// Creates a Boolean value.
    init(_ flag: Bool) {
        self = .bool(flag)
    }

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

    /// Creates an object with these members.
    init(_ members: [String: JSONValue]) {
        self = .object(JSONObject(members.lazy.map { (key: $0.key, value: $0.value) }))
    }

    /// Creates an array of these values.
    init(_ elements: [JSONValue]) {
        self = .array(elements)
    }
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
