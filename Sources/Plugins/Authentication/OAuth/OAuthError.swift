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
        /// The code, for example `invalid_grant`: the refresh token has expired, was revoked or was used before.
        public let code: String
        /// The server's words for developers; what it repeats of the request is left out.
        public let message: String?
        /// The status of the answer.
        public let statusCode: Int

        /// A refusal.
        package init(code: String, message: String? = nil, statusCode: Int = 400) {
            self.code = code
            self.message = message
            self.statusCode = statusCode
        }
    }
}

extension OAuthError {
    /// Whether it says nothing about the credential, so that a later refresh may well succeed.
    var isTransient: Bool {
        switch self {
        case .refused(let refusal):
            // RFC 6749 §4.1.2.1 defines these for the authorization endpoint; some servers send them from this one.
            ["temporarily_unavailable", "server_error"].contains(refusal.code)
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
                code: text.redacted(code, limit: 60),
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

extension OAuthError: DescribedError {
    /// What has happened, in one line.
    public var description: String {
        switch self {
        case .refused(let refusal):
            "the token endpoint refuses: \(refusal.code)" + (refusal.message.map { " (\($0))" } ?? "")
        case .unexpectedStatus(let status): "the token endpoint answers with status \(status) and does not say why"
        case .unreadable(let why): "the token endpoint's answer cannot be read: \(why)"
        case .unsupportedTokenType: "the token endpoint gives out a token that is no bearer token"
        case .noRefreshToken: "the access token has ended, and there is no refresh token"
        }
    }
}

/// Words of a token endpoint as they may be shown: in the characters of RFC 6749 §5.2, cut off, and without what it repeats of
/// the request.
struct OAuthText: Sendable {
    private let secrets: [String]

    init(leavingOut secrets: [String]) {
        // Longest first: one may be a part of another. A few characters are no secret, and stand in every word.
        self.secrets = secrets.filter { $0.count > 5 }.sorted { $0.count > $1.count }
    }

    func redacted(_ text: String, limit: Int) -> String {
        let clean = secrets.reduce(text) { $0.replacingOccurrences(of: $1, with: HeaderRedaction.placeholder) }
        let shown = clean.unicodeScalars.map { (0x20...0x7E).contains($0.value) ? Character($0) : " " }
        return String(shown.prefix(limit)) + (shown.count > limit ? "…" : "")
    }
}
