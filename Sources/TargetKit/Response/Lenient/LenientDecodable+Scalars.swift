// SPDX-License-Identifier: MIT
import Foundation

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
