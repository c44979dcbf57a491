// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// A user and a password for the `Basic` scheme (RFC 7617).
///
/// The scheme sends them readable for anyone who sees the request: use it over `https` only.
public struct BasicCredentials: Sendable, Hashable {
    /// The user, without a colon.
    public let user: String
    /// The password; it may hold colons.
    public let password: String

    /// Credentials of that user.
    ///
    /// - Throws: ``Problem`` when the scheme cannot carry them.
    public init(user: String, password: String) throws(Problem) {
        guard !user.utf8.contains(UInt8(ascii: ":")) else { throw .colonInUser }
        guard !(user + password).utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { throw .controlCharacter }
        self.user = user
        self.password = password
    }

    /// Credentials written as `user:password`; the first colon divides them.
    ///
    /// - Throws: ``Problem`` when the scheme cannot carry them, or there is no colon.
    public init(_ text: String) throws(Problem) {
        guard let colon = text.firstIndex(of: ":") else { throw .noColon }
        try self.init(user: String(text[..<colon]), password: String(text[text.index(after: colon)...]))
    }

    /// The value of the `Authorization` field: `Basic`, and user and password in UTF-8 and base64 (RFC 7617 §2).
    public var fieldValue: String {
        "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }

    /// Why the `Basic` scheme cannot carry a user or a password.
    public enum Problem: Error, Sendable, Hashable, CaseIterable {
        /// The server would take what follows the colon for a part of the password (RFC 7617 §2).
        case colonInUser
        /// Control characters are not allowed in either (RFC 7617 §2).
        case controlCharacter
        /// A text that should be `user:password` has no colon.
        case noColon
    }
}

extension BasicCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The user; the password is left out.
    public var description: String { "\(user):\(HeaderRedaction.placeholder)" }
    /// The user; the password is left out.
    public var debugDescription: String { description }
    /// The user alone, so that `dump` does not print the password.
    public var customMirror: Mirror { Mirror(self, children: ["user": user]) }
}

extension BasicCredentials.Problem: LocalizedError, DeveloperError {
    /// What is wrong, in one line, without the credentials.
    public var errorDescription: String? {
        switch self {
        case .colonInUser: "a user with a colon cannot be sent by the Basic scheme (RFC 7617 §2)"
        case .controlCharacter: "a user or password with a control character cannot be sent by the Basic scheme"
        case .noColon: "the text for the Basic scheme has no colon: it has to be user:password"
        }
    }
}
