// SPDX-License-Identifier: MIT

import Foundation

/// A failure that the server reports in the body of a response: the `underlying` error of stage `.envelope`.
///
/// ```swift
/// catch {
///     if let refusal = error.underlying as? ServerDefinedError, refusal.code == "A0231" { showVoucherExpired() }
/// }
/// ```
public struct ServerDefinedError: Error, Sendable, Hashable {
    /// The server's code for what went wrong; compares with a literal of a text or of a number.
    public var code: ServerCode
    /// The server's message, or else the envelope's, for the person who uses the app.
    public var message: String
    /// The status code of the response, 200 for most servers that report failures in the body.
    public var httpStatus: Int

    /// Creates a failure.
    public init(code: ServerCode, message: String, httpStatus: Int) {
        self.code = code
        self.message = message
        self.httpStatus = httpStatus
    }
}

extension ServerDefinedError: CustomStringConvertible, LocalizedError {
    /// Code and status in one line; without the message, which may quote what was sent.
    public var description: String { "the server's code is \(code.text.debugDescription), HTTP \(httpStatus)" }

    /// The message; `nil` when it is empty.
    public var errorDescription: String? { message.isEmpty ? nil : message }
}

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
    package init(_ number: Int) {
        text = String(number)
    }

    /// The code that a JSON value is; `nil` for null, arrays and objects.
    package init?(_ json: JSONValue) {
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
