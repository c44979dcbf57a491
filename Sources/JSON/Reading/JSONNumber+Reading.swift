// SPDX-License-Identifier: MIT
import TargetKit

extension JSONNumber {
    /// Creates a number from JSON text. Returns `nil` if the text isn't a JSON number, for example `+1`, `.5`, `01` or
    /// `0x1`, or contains white space.
    public init?(text: String) {
        guard let first = text.utf8.first, let last = text.utf8.last, first == UInt8(ascii: "-") || first.isDigit,
            last.isDigit, case .number(let number)? = try? JSONValue(parsing: text)
        else { return nil }
        self = number
    }

    /// The number as an `Int64`; `nil` if it can't be represented exactly.
    public var int64: Int64? {
        guard case .signed(let value) = form else { return nil }
        return value
    }

    /// The number as a `UInt64`; `nil` if it can't be represented exactly.
    public var uint64: UInt64? {
        switch form {
        case .signed(let value): UInt64(exactly: value)
        case .unsigned(let value): value
        case .double, .text: nil
        }
    }

    /// The number as an `Int`; `nil` if it can't be represented exactly.
    public var int: Int? { int64.flatMap { Int(exactly: $0) } }

    /// The digits before the decimal point of a number that isn't a `Double`; `nil` for any other number, and for one
    /// with an exponent.
    var wholePart: JSONNumber? {
        guard case .text(let text) = form, !text.utf8.contains(where: "eE".utf8.contains),
            let point = text.firstIndex(of: ".")
        else { return nil }
        return JSONNumber(text: String(text[..<point]))
    }
}
