// SPDX-License-Identifier: MIT
import Foundation

extension JSONNumber {
    /// The one form of a number that is written in JSON's grammar, or as Swift writes a finite `Double`.
    init(canonical text: String) {
        self = ContiguousText.read(text) { Self(canonical: $0) }
    }

    /// The one form of a number that is written in JSON's grammar.
    init(canonical text: UnsafeBufferPointer<UInt8>) {
        let digits = DecimalDigits(text)
        if let whole = Self.whole(digits) {
            form = whole
            return
        }
        let text = String(decoding: text, as: UTF8.self)
        // A Double holds 15 digits always, 17 sometimes, and more never, if its own shortest text is what is meant.
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

    func append(to json: inout ByteBuffer) {
        switch form {
        case .signed(let value): NumberText.append(value, to: &json)
        case .unsigned(let value): NumberText.append(value, to: &json)
        case .double(let value):
            let text = value.description
            json.append(text.hasSuffix(".0") ? text.dropLast(2) : text[...])
        case .text(let text): json.append(text)
        }
    }
}

extension UInt8 {
    /// Whether this is white space between the parts of a JSON text (RFC 8259 §2).
    @inline(__always)
    var isJSONSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }

    /// Whether this is an ASCII digit.
    @inline(__always)
    var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }
}
