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
    init(_ value: Int64) {
        form = .signed(value)
    }

    /// Creates an unsigned 64-bit integer.
    init(_ value: UInt64) {
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
    init?(_ value: Double) {
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

extension JSONNumber {
    /// Creates the canonical form of a number from JSON text or from the description of a finite `Double`.
    init(canonical text: String) {
        self = ContiguousText.read(text) { Self(canonical: $0) }
    }

    /// Creates the canonical form of a number from JSON text.
    package init(canonical text: UnsafeBufferPointer<UInt8>) {
        let digits = DecimalDigits(text)
        if let whole = Self.whole(digits) {
            form = whole
            return
        }
        let text = String(decoding: text, as: UTF8.self)
        // A `Double` represents every number with 15 digits and some with 17, compared by its shortest text.
        if digits.digits.count <= 17, let value = Double(text), value.isFinite, Self.isShortest(digits, of: value) {
            form = .double(value)
        } else {
            form = .text(text)
        }
    }

    private static func isShortest(_ digits: DecimalDigits, of value: Double) -> Bool {
        digits.digits.count <= 15 && value.magnitude > 1e-290 || DecimalDigits(value.description) == digits
    }

    private static func whole(_ digits: DecimalDigits) -> Form? {
        guard let magnitude = digits.magnitude else { return nil }
        guard digits.isNegative else { return JSONNumber(magnitude).form }
        if magnitude == 0 { return .double(-0.0) }
        guard magnitude <= Int64.min.magnitude else { return nil }
        return .signed(magnitude == Int64.min.magnitude ? .min : -Int64(magnitude))
    }
}

/// The significant digits and the power of ten of a decimal number, equal for `1.50`, `1.5` and `15e-1`.
struct DecimalDigits: Hashable {
    let isNegative: Bool
    /// ASCII digits without leading or trailing zeros; empty for zero.
    let digits: [UInt8]
    /// The power of ten of the last digit; 0 for zero. It is clamped to ±10^15, so that sums don't overflow.
    let exponent: Int64

    private static let furthest: Int64 = 1_000_000_000_000_000

    /// Parses a JSON number (RFC 8259 §6) or the description of a `Double`.
    init(_ text: UnsafeBufferPointer<UInt8>) {
        let end = text.firstIndex { $0 | 0x20 == UInt8(ascii: "e") } ?? text.count
        let point = text[..<end].firstIndex(of: UInt8(ascii: ".")) ?? end - 1
        let significant = text[..<end].filter(\.isDigit).drop { $0 == UInt8(ascii: "0") }
        let zeroCount = significant.reversed().prefix { $0 == UInt8(ascii: "0") }.count
        isNegative = text.first == UInt8(ascii: "-")
        digits = Array(significant.dropLast(zeroCount))
        let power = String(decoding: text[end...].dropFirst(), as: UTF8.self)
        let limit = power.hasPrefix("-") ? -Self.furthest : Self.furthest
        let exponent = power.isEmpty ? 0 : max(-Self.furthest, min(Int64(power) ?? limit, Self.furthest))
        self.exponent = digits.isEmpty ? 0 : exponent - Int64(end - 1 - point) + Int64(zeroCount)
    }

    init(_ text: String) {
        self = ContiguousText.read(text) { Self($0) }
    }

    /// The absolute value, if it is an integer below 2^64.
    var magnitude: UInt64? {
        guard exponent >= 0, Int64(digits.count) + exponent <= 20 else { return digits.isEmpty ? 0 : nil }
        let zeros = repeatElement(UInt8(ascii: "0"), count: Int(exponent))
        return digits.isEmpty ? 0 : UInt64(String(decoding: digits + zeros, as: UTF8.self))
    }
}
