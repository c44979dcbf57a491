// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends user and password of a `URLCredential` with the first request, by the `Basic` scheme (RFC 7617), without
/// waiting for the server to ask.
///
/// ```swift
/// CredentialsPlugin { target in
///     target is Reports ? URLCredential(user: "anna", password: password, persistence: .none) : nil
/// }
/// ```
///
/// A request that has an `Authorization` field is left alone, and no credential is asked for: so place it after an
/// ``AccessTokenPlugin``, whose token then comes first. The credential's `persistence` does not count, nothing is
/// stored.
public struct CredentialsPlugin: Plugin {
    private let credential: @Sendable (any TargetType) async throws -> URLCredential?

    /// A plugin that asks for a credential.
    ///
    /// - Parameter credential: The credential of a target's call; `nil`, or one without user or password: the request
    ///   is left as it is. A user with a colon, a control character in either , and
    ///   what the closure throws end the call, with stage `.request`.
    public init(_ credential: @escaping @Sendable (any TargetType) async throws -> URLCredential?) {
        self.credential = credential
    }

    /// Sets the field, unless there is one.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        guard !request.hasAuthorization else { return request }
        guard let credential = try await credential(context.target),
            let user = credential.user, let password = credential.password
        else { return request }
        var request = request
        try request.setAuthorization(BasicCredentials(user: user, password: password).fieldValue)
        return request
    }
}

/// A user and a password for the `Basic` scheme (RFC 7617).
///
/// The scheme sends them readable for anyone who sees the request: use it over `https` only.
public struct BasicCredentials: Sendable, Hashable {
    /// The user, without a colon.
    package let user: String
    /// The password; it may hold colons.
    package let password: String

    /// Credentials of that user.
    ///
    /// - Throws: An error when the scheme cannot carry them.
    public init(user: String, password: String) throws {
        guard !user.utf8.contains(UInt8(ascii: ":")) else { throw Problem.colonInUser }
        guard !(user + password).utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw Problem.controlCharacter
        }
        self.user = user
        self.password = password
    }

    /// Credentials written as `user:password`; the first colon divides them.
    ///
    /// - Throws: An error when the scheme cannot carry them, or there is no colon.
    package init(_ text: String) throws {
        guard let colon = text.firstIndex(of: ":") else { throw Problem.noColon }
        try self.init(user: String(text[..<colon]), password: String(text[text.index(after: colon)...]))
    }

    /// The value of the `Authorization` field: `Basic`, and user and password in UTF-8 and base64 (RFC 7617 §2).
    package var fieldValue: String {
        "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }

    /// Why the `Basic` scheme cannot carry a user or a password.
    package enum Problem: Error, Sendable, Hashable, CaseIterable {
        /// The server would take what follows the colon for a part of the password (RFC 7617 §2).
        case colonInUser
        /// Control characters are not allowed in either (RFC 7617 §2).
        case controlCharacter
        /// A text that should be `user:password` has no colon.
        case noColon
    }
}

extension BasicCredentials: RedactedDescription {
    /// The user; the password is left out.
    var redactedDescription: String { "\(user):\(HeaderRedaction.placeholder)" }
}

extension BasicCredentials.Problem: LocalizedError, DeveloperError {
    /// What is wrong, in one line, without the credentials.
    package var errorDescription: String? {
        switch self {
        case .colonInUser: "a user with a colon cannot be sent by the Basic scheme (RFC 7617 §2)"
        case .controlCharacter: "a user or password with a control character cannot be sent by the Basic scheme"
        case .noColon: "the text for the Basic scheme has no colon: it has to be user:password"
        }
    }
}
