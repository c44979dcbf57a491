// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// A user and a password for the `Basic` scheme (RFC 7617).
///
/// Anyone who can read the request can read them: use the scheme over `https` only.
package struct BasicCredentials: Sendable, Hashable {
    /// The user, without a colon.
    package let user: String
    /// The password, which may contain colons.
    package let password: String

    /// Credentials of that user.
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

    /// Credentials written as `user:password`, separated by the first colon.
    ///
    /// - Throws: An error if the scheme doesn't allow them, or there is no colon.
    package init(_ text: String) throws {
        guard let colon = text.firstIndex(of: ":") else { throw Problem.noColon }
        try self.init(user: String(text[..<colon]), password: String(text[text.index(after: colon)...]))
    }

    /// The value of the `Authorization` field: `Basic`, then user and password in UTF-8 and base64 (RFC 7617 §2).
    package var fieldValue: String {
        "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }

    /// Why user or password can't be sent by the `Basic` scheme.
    package enum Problem: Error, Sendable, Hashable, CaseIterable {
        /// The server would read what follows the colon as part of the password (RFC 7617 §2).
        case colonInUser
        /// Control characters aren't allowed in either (RFC 7617 §2).
        case controlCharacter
        /// The text isn't of the form `user:password`.
        case noColon
    }
}

extension BasicCredentials: RedactedDescription {
    /// The user, without the password.
    package var redactedDescription: String { "\(user):\(HeaderRedaction.placeholder)" }
}

extension BasicCredentials.Problem: DescribedError {
    /// The problem in one line, without the credentials.
    package var redactedDescription: String {
        switch self {
        case .colonInUser: "the user contains a colon, which the Basic scheme does not allow (RFC 7617 §2)"
        case .controlCharacter:
            "user or password contains a control character, which the Basic scheme does not allow (RFC 7617 §2)"
        case .noColon: "the credentials for the Basic scheme contain no colon; use the form user:password"
        }
    }
}
