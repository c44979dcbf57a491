// SPDX-License-Identifier: MIT
import Foundation

extension JSONValue {
    /// The value with conversions between types: `json.count.lenient.int` is 12 for `12`, `"12"` and `12.0`.
    public var lenient: Lenient { Lenient(value: self) }

    /// Converts a value to similar types.
    ///
    /// White space around a string is ignored. A number is rounded towards zero to an integer. Arrays, objects and null are
    /// not converted.
    public struct Lenient: Sendable, Hashable {
        let value: JSONValue

        /// The text of a string, a number as in JSON, `true` or `false`.
        public var string: String? {
            switch value.content {
            case .string(let text): text
            case .number(let number): number.description
            case .bool(let flag): flag ? "true" : "false"
            case .null, .array, .object: nil
            }
        }

        /// A Boolean, whether a number is not 0, or one of the strings `true`, `yes`, `1`, `false`, `no`, `0` in any case.
        public var bool: Bool? {
            switch value.content {
            case .bool(let flag): flag
            case .number(let number): number != 0
            case .string(let text): Self.flag(Self.trimmed(text))
            case .null, .array, .object: nil
            }
        }

        /// The integer of a number, of a number in a string, or 1 and 0 for a Boolean; `nil` when it does not fit.
        public var int: Int? { integer() }

        /// The nearest `Double` to a number, to a number in a string, or 1 and 0 for a Boolean.
        public var double: Double? { number?.double }

        /// The decimal of a number, of a number in a string, or 1 and 0 for a Boolean.
        public var decimal: Decimal? { number?.decimal }

        /// The date of a string or number, in one of the formats of
        /// `JSONDecoder.DateDecodingStrategy.severalFormats(timeZone:)`; times without a zone are in UTC.
        public var date: Date? {
            switch value.content {
            case .string(let text): DateParser.date(Self.trimmed(text), zone: nil)
            case .number(let number): number.double.flatMap { DateParser.date(of: $0, zone: nil) }
            default: nil
            }
        }

        /// The URL of a string; `nil` for an empty one.
        public var url: URL? {
            value.string.flatMap { URL(string: Self.trimmed($0)) }
        }

        /// The number, the one in a string, or 1 and 0 for a Boolean.
        package var number: JSONNumber? {
            switch value.content {
            case .number(let number): number
            case .bool(let flag): flag ? 1 : 0
            case .string(let text): Self.number(Self.trimmed(text))
            case .null, .array, .object: nil
            }
        }

        func integer<Integer: FixedWidthInteger>() -> Integer? {
            guard let number else { return nil }
            if let value = number.int64 { return Integer(exactly: value) }
            if let value = number.uint64 { return Integer(exactly: value) }
            return number.double.flatMap { Integer(exactly: $0.rounded(.towardZero)) }
        }

        private static func trimmed(_ text: String) -> String {
            text.trimmingCharacters(in: .whitespacesAndNewlines)
        }

        /// A number as people and programs write it: also with a plus, without the zero before the point, with zeros in front.
        private static func number(_ text: String) -> JSONNumber? {
            if let number = JSONNumber(text: text) { return number }
            let isPlain =
                text.utf8.contains(where: \.isDigit)
                && text.utf8.allSatisfy { $0.isDigit || "+-.eE".utf8.contains($0) }
            guard isPlain else { return nil }
            return Int64(text).map { JSONNumber($0) } ?? Double(text).flatMap { JSONNumber($0) }
        }

        private static func flag(_ text: String) -> Bool? {
            switch text.lowercased() {
            case "true", "yes", "1": true
            case "false", "no", "0": false
            default: nil
            }
        }
    }
}
