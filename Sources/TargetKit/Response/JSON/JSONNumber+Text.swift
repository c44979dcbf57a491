// SPDX-License-Identifier: MIT

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

    /// Parses a JSON number (RFC 8259 §6) or the description of a `Double`. Other bytes are ignored.
    init(_ text: UnsafeBufferPointer<UInt8>) {
        var digits: [UInt8] = []
        digits.reserveCapacity(text.count)
        var fraction: Int64 = 0
        var isFraction = false
        var position = 0
        while position < text.count, text[position] | 0x20 != UInt8(ascii: "e") {
            let byte = text[position]
            if byte == UInt8(ascii: ".") { isFraction = true }
            if byte.isDigit {
                if isFraction { fraction += 1 }
                if !digits.isEmpty || byte != UInt8(ascii: "0") { digits.append(byte) }
            }
            position += 1
        }
        var exponent = Self.exponent(UnsafeBufferPointer(rebasing: text[position...])) - fraction
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            exponent += 1
        }
        isNegative = text.first == UInt8(ascii: "-")
        self.digits = digits
        self.exponent = digits.isEmpty ? 0 : exponent
    }

    init(_ text: String) {
        self = ContiguousText.read(text) { Self($0) }
    }

    private static func exponent(_ text: UnsafeBufferPointer<UInt8>) -> Int64 {
        var value: Int64 = 0
        var isNegative = false
        for byte in text {
            if byte == UInt8(ascii: "-") { isNegative = true }
            guard byte.isDigit else { continue }
            value = min(value * 10 + Int64(byte - UInt8(ascii: "0")), furthest)
        }
        return isNegative ? -value : value
    }

    /// The absolute value, if it is an integer below 2^64.
    var magnitude: UInt64? {
        guard exponent >= 0, Int64(digits.count) + exponent <= 20 else { return digits.isEmpty ? 0 : nil }
        var value: UInt64 = 0
        for position in 0..<(digits.count + Int(exponent)) {
            let digit = position < digits.count ? digits[position] - UInt8(ascii: "0") : 0
            let (product, overflows) = value.multipliedReportingOverflow(by: 10)
            let (sum, carries) = product.addingReportingOverflow(UInt64(digit))
            guard !overflows, !carries else { return nil }
            value = sum
        }
        return value
    }
}
