// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// Why a token endpoint has given no token. None of it holds a token, a secret, or what else was sent.
public enum OAuthError: Error, Sendable, Hashable {
    /// The server has refused, and says why in the form of RFC 6749 §5.2.
    case refused(Refusal)
    /// The server has answered with that status, and without saying why.
    case unexpectedStatus(Int)
    /// The answer has a good status and holds no token; the text says what is wrong with it.
    case unreadable(String)
    /// The token is not of the type `bearer` (RFC 6749 §7.1), so it cannot be sent as one.
    case unsupportedTokenType
    /// The access token has ended, and there is no refresh token to get another one with.
    case noRefreshToken

    /// What an error answer says (RFC 6749 §5.2).
    public struct Refusal: Sendable, Hashable {
        /// The code, `invalid_grant` for one.
        public var code: Code
        /// The server's words for developers; what it repeats of the request is left out.
        public var message: String?
        /// The status of the answer.
        public var statusCode: Int

        /// A refusal.
        public init(code: Code, message: String? = nil, statusCode: Int = 400) {
            self.code = code
            self.message = message
            self.statusCode = statusCode
        }
    }

    /// A code of an error answer: an open set.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The code as the server writes it.
        public let rawValue: String

        /// The code that the server writes so.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The request is not what the server expects.
        public static let invalidRequest = Code(rawValue: "invalid_request")
        /// The app is not known, or has not shown that it is who it says.
        public static let invalidClient = Code(rawValue: "invalid_client")
        /// The refresh token has ended, was revoked or used before, or belongs to another app: the user signs in again.
        public static let invalidGrant = Code(rawValue: "invalid_grant")
        /// The app may not use refresh tokens.
        public static let unauthorizedClient = Code(rawValue: "unauthorized_client")
        /// The server knows no refresh tokens.
        public static let unsupportedGrantType = Code(rawValue: "unsupported_grant_type")
        /// The scope is more than the user has granted, or is not known.
        public static let invalidScope = Code(rawValue: "invalid_scope")
        /// The server cannot answer just now. RFC 6749 §4.1.2.1 has it for another endpoint; some send it from this one.
        public static let temporarilyUnavailable = Code(rawValue: "temporarily_unavailable")
        /// The server has failed. RFC 6749 §4.1.2.1 has it for another endpoint; some send it from this one.
        public static let serverError = Code(rawValue: "server_error")
    }
}

extension OAuthError {
    /// Whether it says nothing about the credential, so that a later refresh may well succeed.
    var isTransient: Bool {
        switch self {
        case .refused(let refusal):
            [.temporarilyUnavailable, .serverError].contains(refusal.code)
                || Response(statusCode: refusal.statusCode).isTransientFailure
        case .unexpectedStatus(let status): Response(statusCode: status).isTransientFailure
        // A page of somebody on the way, a hotel's network for one.
        case .unreadable: true
        case .unsupportedTokenType, .noRefreshToken: false
        }
    }

    /// The error of an answer whose status is not 200 to 299.
    ///
    /// - Parameter secrets: What was sent and may be repeated in the server's words.
    init(_ response: Response, leavingOut secrets: [String] = []) {
        guard let json = try? response.json(), let code = json["error"].string, !code.isEmpty else {
            self = .unexpectedStatus(response.statusCode)
            return
        }
        let text = OAuthText(leavingOut: secrets)
        self = .refused(
            Refusal(
                code: Code(rawValue: text.redacted(code, limit: 60)),
                message: json["error_description"].string.map { text.redacted($0, limit: 300) },
                statusCode: response.statusCode
            )
        )
    }
}

extension OAuthError: ErrorWithKind {
    /// What it means for the call that waited: what the server's status means, and that nobody knows who is calling when there
    /// is no credential to be had.
    package var kind: TargetKitError.Kind {
        switch self {
        case .refused(let refusal):
            guard isTransient else { return .unauthorized }
            let isSaidByStatus = Response(statusCode: refusal.statusCode).isTransientFailure
            return isSaidByStatus ? .init(statusCode: refusal.statusCode) : .server
        case .unexpectedStatus(let status): return .init(statusCode: status)
        case .unreadable: return .connectionLost
        case .unsupportedTokenType, .noRefreshToken: return .unauthorized
        }
    }
}

extension OAuthError: CustomStringConvertible, LocalizedError, DeveloperError {
    /// What has happened, in one line.
    public var description: String {
        switch self {
        case .refused(let refusal):
            "the token endpoint refuses: \(refusal.code.rawValue)" + (refusal.message.map { " (\($0))" } ?? "")
        case .unexpectedStatus(let status): "the token endpoint answers with status \(status) and does not say why"
        case .unreadable(let why): "the token endpoint's answer cannot be read: \(why)"
        case .unsupportedTokenType: "the token endpoint gives out a token that is no bearer token"
        case .noRefreshToken: "the access token has ended, and there is no refresh token"
        }
    }

    /// The description.
    public var errorDescription: String? { description }
}
