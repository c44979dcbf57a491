// SPDX-License-Identifier: MIT

import Foundation

/// A type that ``Lenient`` can always make a value of: from what it decodes, from something near to it, or from nothing.
///
/// Strings, numbers, `Bool`, `Decimal`, `Date`, `URL`, optionals, arrays, dictionaries and ``JSONValue`` conform. For a type of
/// one's own, the default is all that there is to write:
/// ```swift
/// enum Status: String, LenientDecodable {
///     case active, closed, unknown
///     static let lenientDefault = Status.unknown
/// }
/// ```
public protocol LenientDecodable: Decodable {
    /// What stands for a value that is missing, null, or of another kind.
    static var lenientDefault: Self { get }

    /// A value made of what is there although it is of another type, `"12"` for an `Int` for one; `nil` when nothing can be made
    /// of it. Called after plain decoding has failed.
    ///
    /// Default: an enum with raw values tries its raw value so; any other type returns `nil`.
    static func mended(from decoder: any Decoder) -> Self?
}

extension LenientDecodable {
    /// Nothing but a value of this type will do.
    public static func mended(from decoder: any Decoder) -> Self? { nil }
}

extension LenientDecodable where Self: RawRepresentable, RawValue: LenientDecodable {
    /// The case whose raw value can be made of what is there.
    public static func mended(from decoder: any Decoder) -> Self? {
        RawValue.mended(from: decoder).flatMap { Self(rawValue: $0) }
    }
}

extension Optional: LenientDecodable where Wrapped: Decodable {
    /// `nil`.
    public static var lenientDefault: Wrapped? { nil }

    /// What the wrapped type makes of what is there.
    public static func mended(from decoder: any Decoder) -> Wrapped?? {
        guard let type = Wrapped.self as? any LenientDecodable.Type else { return nil }
        guard let wrapped = type.mended(from: decoder) as? Wrapped else { return nil }
        return .some(.some(wrapped))
    }
}

extension Array: LenientDecodable where Element: Decodable {
    /// The empty array.
    public static var lenientDefault: [Element] { [] }

    /// The elements that decode or can be mended, in order. The others are left out.
    public static func mended(from decoder: any Decoder) -> [Element]? {
        LossyElement<Element>.elements(of: decoder, mending: true)?.kept
    }
}

extension Set: LenientDecodable where Element: Decodable {
    /// The empty set.
    public static var lenientDefault: Set<Element> { [] }

    /// The elements that decode or can be mended. The others are left out.
    public static func mended(from decoder: any Decoder) -> Set<Element>? {
        LossyElement<Element>.elements(of: decoder, mending: true).map { Set($0.kept) }
    }
}

extension Dictionary: LenientDecodable where Key == String, Value: Decodable {
    /// The empty dictionary.
    public static var lenientDefault: [String: Value] { [:] }

    /// The values that decode or can be mended, by their keys. The others are left out.
    public static func mended(from decoder: any Decoder) -> [String: Value]? {
        LossyElement<Value>.members(of: decoder, mending: true)?.kept
    }
}

/// A type that one scalar of JSON holds; its rules for the other scalars are those of ``JSONValue/lenient``.
protocol LenientScalar: LenientDecodable {
    static func scalar(_ value: JSONValue.Lenient) -> Self?
}

extension LenientScalar {
    /// What ``JSONValue/lenient`` makes of the scalar that is there.
    public static func mended(from decoder: any Decoder) -> Self? {
        (try? JSONValue(scalarFrom: decoder)).flatMap { scalar($0.lenient) }
    }
}

extension LenientDecodable where Self: FixedWidthInteger {
    /// 0.
    public static var lenientDefault: Self { 0 }

    /// The integer that ``JSONValue/lenient`` makes of the scalar that is there, if it fits.
    public static func mended(from decoder: any Decoder) -> Self? {
        (try? JSONValue(scalarFrom: decoder)).flatMap { $0.lenient.integer() }
    }
}

extension Int: LenientDecodable {}
extension Int8: LenientDecodable {}
extension Int16: LenientDecodable {}
extension Int32: LenientDecodable {}
extension Int64: LenientDecodable {}
extension UInt: LenientDecodable {}
extension UInt8: LenientDecodable {}
extension UInt16: LenientDecodable {}
extension UInt32: LenientDecodable {}
extension UInt64: LenientDecodable {}

extension String: LenientScalar {
    /// The empty text.
    public static var lenientDefault: String { "" }
    static func scalar(_ value: JSONValue.Lenient) -> String? { value.string }
}

extension Bool: LenientScalar {
    /// `false`.
    public static var lenientDefault: Bool { false }
    static func scalar(_ value: JSONValue.Lenient) -> Bool? { value.bool }
}

extension Double: LenientScalar {
    /// 0.
    public static var lenientDefault: Double { 0 }
    static func scalar(_ value: JSONValue.Lenient) -> Double? { value.double }
}

extension Float: LenientScalar {
    /// 0.
    public static var lenientDefault: Float { 0 }
    static func scalar(_ value: JSONValue.Lenient) -> Float? {
        value.double.map { Float($0) }.flatMap { $0.isFinite ? $0 : nil }
    }
}

extension Decimal: LenientScalar {
    /// 0.
    public static var lenientDefault: Decimal { 0 }
    static func scalar(_ value: JSONValue.Lenient) -> Decimal? { value.decimal }
}

extension Date: LenientScalar {
    /// 1970-01-01, 00:00 UTC.
    public static var lenientDefault: Date { Date(timeIntervalSince1970: 0) }
    static func scalar(_ value: JSONValue.Lenient) -> Date? { value.date }
}

extension URL: LenientScalar {
    /// `about:blank`.
    public static var lenientDefault: URL { URL(string: "about:blank") ?? URL(fileURLWithPath: "/") }
    static func scalar(_ value: JSONValue.Lenient) -> URL? { value.url }
}

extension JSONValue: LenientDecodable {
    /// ``null``.
    public static var lenientDefault: JSONValue { .null }

    /// The scalar that a decoder holds; quicker than the whole value, since an array or object is not read.
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
