// SPDX-License-Identifier: MIT
import Foundation

/// What a server reports in the body of its answer: the `underlying` error of stage `.envelope`.
///
/// ```swift
/// catch {
///     if let refusal = error.underlying as? ServerDefinedError, refusal.code == "A0231" { showVoucherExpired() }
/// }
/// ```
public struct ServerDefinedError: Error, Sendable, Hashable {
    /// The server's code for what went wrong; compares with a literal of a text or of a number.
    public var code: ServerCode
    /// The server's sentence about it, or the envelope's in its place. It is written for the person in front of the screen.
    public var message: String
    /// The status code of the response, 200 for most servers that report failures in the body.
    public var httpStatus: Int

    /// A failure that a server reports.
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
