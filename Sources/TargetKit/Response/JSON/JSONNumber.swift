// SPDX-License-Identifier: MIT

/// A JSON number (RFC 8259 §6), a decimal of any length and precision.
///
/// Two numbers are equal if they are the same decimal, for example `1`, `1.0` and `10e-1`. A `Double` is the shortest
/// decimal that reads back to it, so `JSONNumber(0.1)` equals the JSON text `0.1`.
public struct JSONNumber: Sendable, Encodable {
    /// The representation of a number, the first case that represents it exactly.
    @usableFromInline
    package enum Form: Sendable {
        case signed(Int64)
        /// Above `Int64.max`.
        case unsigned(UInt64)
        /// A finite value whose shortest decimal is this number; also −0.
        case double(Double)
        /// The text of any other number.
        case text(String)
    }

    @usableFromInline package let form: Form

    @inlinable
    package init(_ form: Form) {
        self.form = form
    }

    /// Creates an integer.
    package init(_ value: Int64) {
        form = .signed(value)
    }

    /// Creates an unsigned 64-bit integer.
    package init(_ value: UInt64) {
        form = Int64(exactly: value).map { .signed($0) } ?? .unsigned(value)
    }

    /// Creates an integer of any width.
    init(_ value: some BinaryInteger) {
        if let small = Int64(exactly: value) {
            form = .signed(small)
        } else {
            form = UInt64(exactly: value).map { .unsigned($0) } ?? .text(value.description)
        }
    }

    /// Creates the shortest decimal that reads back to the value; `nil` for NaN and infinity, which JSON can't
    /// represent.
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

    /// Creates a number with all digits of a decimal; `nil` for NaN.
    init?(_ value: Decimal) {
        guard value.isFinite else { return nil }
        self.init(canonical: value.description)
    }

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

    /// The number as a `Decimal`, with up to 38 digits; `nil` if it exceeds the range of `Decimal`.
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
    /// Whether both numbers are the same decimal.
    public static func == (left: Self, right: Self) -> Bool {
        switch (left.form, right.form) {
        case (.signed(let left), .signed(let right)): left == right
        case (.unsigned(let left), .unsigned(let right)): left == right
        case (.double(let left), .double(let right)): left == right
        case (.text(let left), .text(let right)): left == right || DecimalDigits(left) == DecimalDigits(right)
        // −0 is the only number with two representations.
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

    /// The number as JSON text.
    public var description: String {
        switch form {
        case .signed(let value): return String(value)
        case .unsigned(let value): return String(value)
        case .double(let value):
            let text = value.description
            return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
        case .text(let text): return text
        }
    }
}
