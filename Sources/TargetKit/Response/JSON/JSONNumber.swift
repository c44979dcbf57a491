// SPDX-License-Identifier: MIT
import Foundation

/// A number of JSON (RFC 8259 §6): a decimal of any length, kept exactly.
///
/// Two are equal when they are the same decimal: `1`, `1.0` and `10e-1` are. A `Double` stands for the shortest decimal that
/// reads back to it, so `JSONNumber(0.1)` is the number of the text `0.1`.
public struct JSONNumber: Sendable {
    /// Each number has one form only: the first of these that holds it exactly.
    enum Form: Sendable {
        case signed(Int64)
        /// Above `Int64.max`.
        case unsigned(UInt64)
        /// A finite number whose shortest decimal is the number that is meant; also −0.
        case double(Double)
        /// Any other: the text itself.
        case text(String)
    }

    let form: Form

    init(_ form: Form) {
        self.form = form
    }

    /// An integer.
    package init(_ value: Int) {
        form = .signed(Int64(value))
    }

    /// An integer of 64 bits.
    package init(_ value: Int64) {
        form = .signed(value)
    }

    /// An integer of 64 bits without a sign.
    package init(_ value: UInt64) {
        form = Int64(exactly: value).map { .signed($0) } ?? .unsigned(value)
    }

    /// The shortest decimal that reads back to this; `nil` for NaN and the infinities, which JSON does not have.
    package init?(_ value: Double) {
        guard value.isFinite else { return nil }
        if value.magnitude < 0x1p53 {
            let whole = Int64(value)
            let isWhole = Double(whole) == value && !(whole == 0 && value.sign == .minus)
            self.init(isWhole ? .signed(whole) : .double(value))
        } else {
            self.init(canonical: value.description)
        }
    }

    /// All digits of a decimal; `nil` for NaN.
    package init?(_ value: Decimal) {
        guard value.isFinite else { return nil }
        self.init(canonical: value.description)
    }

    /// The number that a text writes in JSON's grammar; `nil` for another text: no `+1`, `.5`, `01`, `0x1` or white space.
    public init?(text: String) {
        guard let first = text.utf8.first, let last = text.utf8.last, first == UInt8(ascii: "-") || first.isDigit,
            last.isDigit, case .number(let number)? = try? JSONValue(parsing: text)
        else { return nil }
        self = number
    }

    /// The integer, when it is one that fits 64 bits with a sign.
    public var int64: Int64? {
        guard case .signed(let value) = form else { return nil }
        return value
    }

    /// The integer, when it is one that fits 64 bits without a sign.
    public var uint64: UInt64? {
        switch form {
        case .signed(let value): UInt64(exactly: value)
        case .unsigned(let value): value
        case .double, .text: nil
        }
    }

    /// The integer, when it is one that fits `Int`.
    public var int: Int? { int64.flatMap { Int(exactly: $0) } }

    /// The nearest `Double`; `nil` if the number exceeds its range, for example `1e400`.
    public var double: Double? {
        switch form {
        case .signed(let value): return Double(value)
        case .unsigned(let value): return Double(value)
        case .double(let value): return value
        case .text(let text):
            guard let value = Double(text), value.isFinite else { return nil }
            return value
        }
    }

    /// The decimal, of which Foundation keeps 38 digits; `nil` when it is beyond its range.
    public var decimal: Decimal? {
        switch form {
        case .signed(let value): Decimal(value)
        case .unsigned(let value): Decimal(value)
        case .double(let value): Decimal(string: value.description, locale: Self.posix)
        case .text(let text): Decimal(string: text, locale: Self.posix)
        }
    }

    private static let posix = Locale(identifier: "en_US_POSIX")
}

extension JSONNumber: Hashable {
    /// Whether both are the same decimal.
    public static func == (left: Self, right: Self) -> Bool {
        switch (left.form, right.form) {
        case (.signed(let left), .signed(let right)): left == right
        case (.unsigned(let left), .unsigned(let right)): left == right
        case (.double(let left), .double(let right)): left == right
        case (.text(let left), .text(let right)): left == right || DecimalDigits(left) == DecimalDigits(right)
        // −0 is the one number with two forms.
        case (.signed(0), .double(let zero)), (.double(let zero), .signed(0)): zero == 0
        default: false
        }
    }

    /// Hashes the decimal.
    public func hash(into hasher: inout Hasher) {
        switch form {
        case .signed(let value): hasher.combine(value)
        case .unsigned(let value): hasher.combine(value)
        case .double(let value) where value == 0: hasher.combine(Int64(0))
        case .double(let value): hasher.combine(value)
        case .text(let text): hasher.combine(DecimalDigits(text))
        }
    }
}

extension JSONNumber: CustomStringConvertible, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
    /// Creates a number from a literal.
    public init(integerLiteral value: Int64) {
        self.init(value)
    }

    /// Creates a number from a literal; 0 if it exceeds `Double`.
    public init(floatLiteral value: Double) {
        self = Self(value) ?? 0
    }

    /// The number in JSON's grammar.
    public var description: String {
        var json = ByteBuffer(capacity: 24)
        append(to: &json)
        return json.string
    }
}
