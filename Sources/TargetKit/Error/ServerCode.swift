// SPDX-License-Identifier: MIT

/// A code in a body by which a server says how a call went.
///
/// Numbers and texts that read the same are the same: `0` and `"0"`, but not `"000000"`. A flag reads `true` or `false`.
public struct ServerCode: Sendable, Hashable {
    /// The code as text; a whole number in plain digits.
    public let text: String

    /// A code that is a text.
    public init(_ text: String) {
        self.text = text
    }

    /// A code that is a number.
    public init(_ number: Int) {
        text = String(number)
    }

    /// The code that a JSON value is; `nil` for null, arrays and objects.
    public init?(_ json: JSONValue) {
        switch json {
        case .string(let text): self.init(text)
        case .bool(let flag): self.init(String(flag))
        case .number(let number):
            // 200.0 and 2e2 are 200.
            self.init(number.int.map { String($0) } ?? String(decoding: json.jsonData(), as: UTF8.self))
        case .null, .array, .object: return nil
        }
    }
}

extension ServerCode: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    /// A text in the source.
    public init(stringLiteral text: String) {
        self.init(text)
    }

    /// A number in the source.
    public init(integerLiteral number: Int) {
        self.init(number)
    }

    /// A flag in the source, for envelopes that say `"success": true`.
    public init(booleanLiteral flag: Bool) {
        text = String(flag)
    }
}

extension ServerCode: CustomStringConvertible {
    /// The code as text.
    public var description: String { text }
}
