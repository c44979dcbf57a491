// SPDX-License-Identifier: MIT
import TargetKit

/// A type that ``Lenient`` can always create, from a value of this type, a similar value, or a default.
///
/// Strings, numbers, `Bool`, `Decimal`, `Date`, `URL`, optionals, arrays, dictionaries and `JSONValue` conform. A
/// custom type only declares its default. The raw value of an enum is converted like other values:
/// ```swift
/// enum Status: String, LenientDecodable {
///     case active, closed, unknown
///     static let lenientDefault = Status.unknown
/// }
/// ```
public protocol LenientDecodable: Decodable, Sendable {
    /// The default, which replaces a value that is missing, null, or of another type.
    static var lenientDefault: Self { get }
}

/// A type whose values can be created from values of other types.
protocol Coercible: Decodable {
    /// Converts a value from another type, for example `"12"` to an `Int`; returns `nil` if that isn't possible. Called
    /// after plain decoding has failed.
    static func coerced(from decoder: any Decoder) -> Self?
}

/// A type whose default is its empty value or zero.
protocol DefaultInitializable: LenientDecodable {
    init()
}

extension DefaultInitializable {
    /// Zero, `false`, or the empty value.
    public static var lenientDefault: Self { Self() }
}

// MARK: Scalars

/// A type that a JSON scalar represents. Other scalars are converted as `JSONValue.lenient` describes.
protocol CoercibleScalar: Coercible {
    static func scalar(_ value: JSONValue.Lenient) -> Self?
}

extension CoercibleScalar {
    static func coerced(from decoder: any Decoder) -> Self? {
        (try? JSONValue(scalarFrom: decoder)).flatMap { scalar($0.lenient) }
    }
}

extension CoercibleScalar where Self: FixedWidthInteger {
    static func scalar(_ value: JSONValue.Lenient) -> Self? { value.integer() }
}

extension Int: CoercibleScalar, DefaultInitializable {}
extension Int8: CoercibleScalar, DefaultInitializable {}
extension Int16: CoercibleScalar, DefaultInitializable {}
extension Int32: CoercibleScalar, DefaultInitializable {}
extension Int64: CoercibleScalar, DefaultInitializable {}
extension UInt: CoercibleScalar, DefaultInitializable {}
extension UInt8: CoercibleScalar, DefaultInitializable {}
extension UInt16: CoercibleScalar, DefaultInitializable {}
extension UInt32: CoercibleScalar, DefaultInitializable {}
extension UInt64: CoercibleScalar, DefaultInitializable {}

extension String: CoercibleScalar, DefaultInitializable {
    static func scalar(_ value: JSONValue.Lenient) -> String? { value.string }
}

extension Bool: CoercibleScalar, DefaultInitializable {
    static func scalar(_ value: JSONValue.Lenient) -> Bool? { value.bool }
}

extension Double: CoercibleScalar, DefaultInitializable {
    static func scalar(_ value: JSONValue.Lenient) -> Double? { value.double }
}

extension Float: CoercibleScalar, DefaultInitializable {
    static func scalar(_ value: JSONValue.Lenient) -> Float? {
        value.double.map { Float($0) }.flatMap { $0.isFinite ? $0 : nil }
    }
}

extension Decimal: CoercibleScalar, DefaultInitializable {
    static func scalar(_ value: JSONValue.Lenient) -> Decimal? { value.decimal }
}

extension Date: CoercibleScalar, LenientDecodable {
    /// 1970-01-01, 00:00 UTC.
    public static var lenientDefault: Date { Date(timeIntervalSince1970: 0) }
    static func scalar(_ value: JSONValue.Lenient) -> Date? { value.date }
}

extension URL: CoercibleScalar, LenientDecodable {
    /// `about:blank`.
    public static var lenientDefault: URL { URL(string: "about:blank") ?? URL(fileURLWithPath: "/") }
    static func scalar(_ value: JSONValue.Lenient) -> URL? { value.url }
}

extension JSONValue: LenientDecodable {
    /// ``null``.
    public static var lenientDefault: JSONValue { .null }

    /// Reads only a scalar from a decoder, which is faster than reading arrays and objects.
    init(scalarFrom decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self = .string(text)
        } else if let flag = try? container.decode(Bool.self) {
            self = .bool(flag)
        } else {
            self = .number(try container.decode(JSONNumber.self))
        }
    }
}

// MARK: Containers

extension Optional: Coercible, LenientDecodable where Wrapped: Decodable {
    /// `nil`.
    public static var lenientDefault: Wrapped? { nil }

    static func coerced(from decoder: any Decoder) -> Wrapped?? {
        Coercion.coerced(Wrapped.self, from: decoder).map { .some($0) }
    }
}

extension Array: Coercible, LenientDecodable, DefaultInitializable where Element: Decodable {
    /// The elements that can be decoded or converted, in order.
    static func coerced(from decoder: any Decoder) -> [Element]? {
        LossyElement<Element>.elements(of: decoder, coercing: true)
    }
}

extension Set: Coercible, LenientDecodable, DefaultInitializable where Element: Decodable {
    /// The elements that can be decoded or converted.
    static func coerced(from decoder: any Decoder) -> Set<Element>? {
        LossyElement<Element>.elements(of: decoder, coercing: true).map { Set($0) }
    }
}

extension Dictionary: Coercible, LenientDecodable, DefaultInitializable where Key == String, Value: Decodable {
    /// The values that can be decoded or converted, by key.
    static func coerced(from decoder: any Decoder) -> [String: Value]? {
        LossyElement<Value>.members(of: decoder, coercing: true)
    }
}
