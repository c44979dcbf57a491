// SPDX-License-Identifier: MIT
import TargetKit

/// A user and a password for the `Basic` scheme (RFC 7617).
///
/// Anyone who can read the request can read them, so use the scheme only over `https`.
package struct BasicCredentials: Sendable, Hashable {
    /// The user, without a colon.
    package let user: String
    /// The password, which may contain colons.
    package let password: String

    /// Creates credentials.
    ///
    /// - Throws: An error if the scheme doesn't allow them.
    package init(user: String, password: String) throws {
        guard !user.utf8.contains(UInt8(ascii: ":")) else { throw Problem.colonInUser }
        guard !(user + password).utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw Problem.controlCharacter
        }
        self.user = user
        self.password = password
    }

    /// Creates credentials from text of the form `user:password`, separated by the first colon.
    ///
    /// - Throws: An error if the scheme doesn't allow them, or there is no colon.
    package init(_ text: String) throws {
        guard let colon = text.firstIndex(of: ":") else { throw Problem.noColon }
        try self.init(user: String(text[..<colon]), password: String(text[text.index(after: colon)...]))
    }

    /// The value of the `Authorization` field, which is `Basic` followed by the user and password in UTF-8 and base64
    /// (RFC 7617 §2).
    package var fieldValue: String {
        "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }

    /// The reason why a user or password can't be sent with the `Basic` scheme.
    package enum Problem: Error, Sendable, Hashable, CaseIterable {
        /// The user contains a colon, so the server would read the rest as part of the password (RFC 7617 §2).
        case colonInUser
        /// The user or password contains a control character, which isn't allowed (RFC 7617 §2).
        case controlCharacter
        /// The text isn't of the form `user:password`.
        case noColon
    }
}

extension BasicCredentials: RedactedDescription {
    /// The user, without the password.
    package var redactedDescription: String { "\(user):\(SecretFields.placeholder)" }
}

extension BasicCredentials.Problem: DescribedError {
    /// The problem in one line, without the credentials.
    package var redactedDescription: String {
        switch self {
        case .colonInUser: "the user contains a colon, which the Basic scheme doesn't allow (RFC 7617 §2)"
        case .controlCharacter:
            "the user or password contains a control character, which the Basic scheme doesn't allow (RFC 7617 §2)"
        case .noColon: "the credentials for the Basic scheme don't contain a colon; use the form user:password"
        }
    }
}
