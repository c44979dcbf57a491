// SPDX-License-Identifier: MIT
import TargetKit

/// The reason why a token endpoint returned no token. It contains no tokens or secrets.
public enum OAuthError: Error, Sendable, Hashable {
    /// The server rejected the request with an error response (RFC 6749 §5.2).
    ///
    /// - Parameters:
    ///   - code: The error code, for example `invalid_grant` if the refresh token has expired, was revoked, or was used
    ///     before.
    ///   - message: The server's description for developers, without quotes of the request.
    ///   - statusCode: The status of the response.
    case refused(code: String, message: String?, statusCode: Int)
    /// The server or a proxy responded with this status, without an error code.
    case unexpectedStatus(Int)
    /// The response is successful but contains no token. The text describes the problem.
    case unreadable(String)
    /// The token isn't of the type `bearer` (RFC 6749 §7.1), so it can't be used as one.
    case unsupportedTokenType
    /// The access token has expired, and there is no refresh token.
    case noRefreshToken
}

extension OAuthError {
    /// Whether a later refresh may succeed. Every response except an error response of the token endpoint (RFC 6749
    /// §5.2) may come from a proxy, a gateway or a captive portal.
    var isTransient: Bool {
        switch self {
        case .refused(let code, _, let status):
            Self.transientCodes.contains(code) || !Self.isRefusal(code, status: status)
        case .unexpectedStatus, .unreadable: true
        case .unsupportedTokenType, .noRefreshToken: false
        }
    }

    /// Whether the token endpoint sends error responses with this status. §5.2 specifies 400, and 401 for client
    /// authentication.
    private static func isRefusal(_ code: String, status: Int) -> Bool {
        switch status {
        case 400, 401: true
        // GitHub reports errors with a successful status.
        case 200...299: true
        // Auth0 reports a revoked refresh token with 403. No gateway uses this code.
        case 402...499: code == "invalid_grant" && status != 429
        default: false
        }
    }

    /// RFC 6749 §4.1.2.1 defines the first two for the authorization endpoint, but some servers send them from the
    /// token endpoint. RFC 8628 §3.5 defines the others.
    private static let transientCodes: Set = [
        "temporarily_unavailable", "server_error", "authorization_pending", "slow_down",
    ]

    /// Reason phrases (RFC 9110 §15) that frameworks send as `error` in their own pages.
    private static let reasonPhrases: Set = [
        "bad_request", "conflict", "forbidden", "gone", "method_not_allowed", "not_found", "unauthorized",
    ]

    /// The error of a response without a token.
    ///
    /// - Parameter secrets: The secrets of the request, which the description may quote.
    init(_ response: Response, leavingOut secrets: [String] = []) {
        guard let fields = OAuthFields(response), let code = fields["error"], !code.isEmpty, !code.contains(" "),
            !Self.reasonPhrases.contains(code.lowercased())
        else {
            self = .unexpectedStatus(response.statusCode)
            return
        }
        let text = OAuthText(leavingOut: secrets)
        self = .refused(
            code: text.redacted(code, limit: 60),
            message: fields["error_description"].map { text.redacted($0, limit: 300) },
            statusCode: response.statusCode
        )
    }
}

extension OAuthError: ErrorWithKind {
    /// The error kind of the waiting calls, which is the kind of the server's status, or `.unauthorized` if there is no
    /// credential.
    package var kind: TargetKitError.Kind? {
        switch self {
        case .refused where !isTransient: .unauthorized
        case .refused(_, _, 429), .unexpectedStatus(429): .rateLimited
        case .refused, .unexpectedStatus: .server
        case .unreadable: .connectionLost
        case .unsupportedTokenType, .noRefreshToken: .unauthorized
        }
    }
}

extension OAuthError: DescribedError {
    /// The problem in one line.
    package var redactedDescription: String {
        switch self {
        case .refused(let code, let message, _):
            "the token endpoint rejected the request: \(code)" + (message.map { " (\($0))" } ?? "")
        case .unexpectedStatus(let status): "the token endpoint returned status \(status) without an error code"
        case .unreadable(let why): "the response of the token endpoint can't be read: \(why)"
        case .unsupportedTokenType: "the token endpoint returned a token that isn't a bearer token"
        case .noRefreshToken: "the access token has expired, and there is no refresh token"
        }
    }
}

/// The texts of a token endpoint without secrets, limited to the characters of RFC 6749 §5.2.
struct OAuthText: Sendable {
    private let secrets: [String]

    init(leavingOut secrets: [String]) {
        // Longest first, because one may contain another. Short strings aren't secrets, and would match parts of words.
        self.secrets = secrets.filter { $0.count > 5 }.ordered { $0.count > $1.count }
    }

    func redacted(_ text: String, limit: Int) -> String {
        let clean = secrets.reduce(text) { $0.replacingOccurrences(of: $1, with: SecretFields.placeholder) }
        let shown = clean.unicodeScalars.map { (0x20...0x7E).contains($0.value) ? Character($0) : " " }
        return String(shown.prefix(limit)) + (shown.count > limit ? "…" : "")
    }
}
