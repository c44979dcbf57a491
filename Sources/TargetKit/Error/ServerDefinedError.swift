// SPDX-License-Identifier: MIT

/// A failure that the server reports in a response body, the `underlying` error of stage `.envelope`.
///
/// ```swift
/// catch {
///     if let refusal = error.underlying as? ServerDefinedError, refusal.code == "A0231" { showVoucherExpired() }
/// }
/// ```
public struct ServerDefinedError: Error, Sendable, Hashable {
    /// The server's code for the failure. A number is represented by its digits, for example `"401"` for `401` and
    /// `401.0`.
    public var code: String
    /// The server's message for the user, or the envelope's message if the server sent none.
    public var message: String
    /// Whether the failure means that the request has no valid credentials, so that the kind of a call's error is
    /// `.unauthorized`, and plugins refresh the credential or sign out. It has no effect if the target doesn't accept
    /// the response's status.
    public var isUnauthorized: Bool

    /// Creates a failure.
    ///
    /// - Parameters:
    ///   - code: The server's code.
    ///   - message: The server's message for the user; empty if there is none.
    ///   - isUnauthorized: Whether the request has no valid credentials; default `false`.
    public init(code: String, message: String, isUnauthorized: Bool = false) {
        self.code = code
        self.message = message
        self.isUnauthorized = isUnauthorized
    }
}

extension ServerDefinedError: LocalizedError, RedactedDescription {
    /// The code in one line, without the message, which may quote the request.
    var redactedDescription: String { "the server's code is \(code.debugDescription)" }

    /// The message; `nil` if it is empty.
    public var errorDescription: String? { message.isEmpty ? nil : message }
}
