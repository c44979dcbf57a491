// SPDX-License-Identifier: MIT
import Foundation

extension JSONValue {
    /// This value through the eyes of a tolerant reader: `json.count.lenient.int` is 12 for `12`, `"12"` and `12.0`.
    public var lenient: Lenient { Lenient(value: self) }

    /// A value's readings in types that are near to its own.
    ///
    /// White space around a text does not count. A number is cut towards zero to be an integer. Arrays, objects and null have
    /// no reading.
    public struct Lenient: Sendable, Hashable {
        let value: JSONValue

        /// A string's text, a number as JSON writes it, `true` or `false`.
        public var string: String? {
            switch value {
            case .string(let text): text
            case .number(let number): number.description
            case .bool(let flag): flag ? "true" : "false"
            case .null, .array, .object: nil
            }
        }

        /// A flag, whether a number is not 0, or one of the texts `true`, `yes`, `1`, `false`, `no`, `0` in any case.
        public var bool: Bool? {
            switch value {
            case .bool(let flag): flag
            case .number(let number): number != 0
            case .string(let text): Self.flag(Self.trimmed(text))
            case .null, .array, .object: nil
            }
        }

        /// The integer of a number, of a number in a text, or 1 and 0 for a flag; `nil` when it does not fit.
        public var int: Int? { integer() }

        /// The nearest `Double` to a number, to a number in a text, or 1 and 0 for a flag.
        public var double: Double? { number?.double }

        /// The decimal of a number, of a number in a text, or 1 and 0 for a flag.
        public var decimal: Decimal? { number?.decimal }

        /// The date that a text or number stands for, in one of the forms of
        /// `JSONDecoder.DateDecodingStrategy.severalFormats`; times without a zone are taken as UTC.
        public var date: Date? {
            switch value {
            case .string(let text): DateParser.date(Self.trimmed(text), zone: nil)
            case .number(let number): number.double.flatMap { DateParser.date(of: $0, zone: nil) }
            default: nil
            }
        }

        /// The URL that a text is; `nil` for an empty one.
        public var url: URL? {
            value.string.flatMap { URL(string: Self.trimmed($0)) }
        }

        /// The number itself, the one in a text, or 1 and 0 for a flag.
        package var number: JSONNumber? {
            switch value {
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
