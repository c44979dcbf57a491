// SPDX-License-Identifier: MIT
import TargetKit

extension JSONValue {
    /// Conversions of this value to related types. For example, `json.count.lenient.int` is 12 for `12`, `"12"` and
    /// `12.0`.
    public var lenient: Lenient { Lenient(value: self) }

    /// Conversions of a JSON value to related types.
    ///
    /// Surrounding white space in a string is ignored. Numbers are truncated to integers. Arrays, objects and null
    /// aren't converted.
    public struct Lenient: Sendable, Hashable {
        let value: JSONValue

        /// The string, the JSON text of a number, or `true` or `false`.
        public var string: String? {
            switch value {
            case .string(let text): text
            case .number(let number): number.description
            case .bool(let flag): flag ? "true" : "false"
            case .null, .array, .object: nil
            }
        }

        /// The Boolean value; for a number, whether it is nonzero; for a string, the value of `true`, `yes`, `1`,
        /// `false`, `no` or `0` in any letter case.
        public var bool: Bool? {
            switch value {
            case .bool(let flag): flag
            case .number(let number): number != 0
            case .string(let text): Self.flag(Self.trimmed(text))
            case .null, .array, .object: nil
            }
        }

        /// The integer of a number, also in a string, or 1 or 0 for a Boolean value; `nil` if it is out of range.
        public var int: Int? { integer() }

        /// The nearest `Double` to a number, also in a string, or 1 or 0 for a Boolean value.
        public var double: Double? { number?.double }

        /// The decimal of a number, also in a string, or 1 or 0 for a Boolean value.
        public var decimal: Decimal? { number?.decimal }

        /// The date of a string or number in a format of `JSONDecoder.DateDecodingStrategy.severalFormats`. Times
        /// without a time zone are UTC.
        public var date: Date? {
            switch value {
            case .string(let text): DateParser.date(Self.trimmed(text), zone: nil)
            case .number(let number): number.double.flatMap { DateParser.date(of: $0, zone: nil) }
            default: nil
            }
        }

        /// The URL of a string; `nil` for an empty string.
        public var url: URL? {
            value.string.flatMap { URL(string: Self.trimmed($0)) }
        }

        /// The number, also in a string, or 1 or 0 for a Boolean value.
        var number: JSONNumber? {
            switch value {
            case .number(let number): number
            case .bool(let flag): flag ? 1 : 0
            case .string(let text): Self.number(Self.trimmed(text))
            case .null, .array, .object: nil
            }
        }

        func integer<Integer: FixedWidthInteger>() -> Integer? {
            // A fraction may have more digits than a `Double`.
            guard let number = number.map({ $0.wholePart ?? $0 }) else { return nil }
            if let value = number.int64 { return Integer(exactly: value) }
            if let value = number.uint64 { return Integer(exactly: value) }
            return number.double.flatMap { Integer(exactly: $0.rounded(.towardZero)) }
        }

        private static func trimmed(_ text: String) -> String {
            text.trimmingCharacters(in: .whitespacesAndNewlines)
        }

        /// Parses a number, which may have a plus sign or leading zeros, or no digit before the decimal point.
        private static func number(_ text: String) -> JSONNumber? {
            if let number = JSONNumber(text: text) { return number }
            let isPlain =
                text.utf8.contains(where: \.isDigit)
                && text.utf8.allSatisfy { $0.isDigit || "+-.eE".utf8.contains($0) }
            guard isPlain else { return nil }
            return Int64(text).map { JSONNumber(.signed($0)) } ?? Double(text).flatMap { JSONValue($0).number }
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
