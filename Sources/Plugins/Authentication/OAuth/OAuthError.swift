// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// Why a token endpoint has returned no token. It contains neither tokens nor secrets.
public enum OAuthError: Error, Sendable, Hashable {
    /// The server has refused, with an error response (RFC 6749 §5.2).
    ///
    /// - Parameters:
    ///   - code: For example `invalid_grant`: the refresh token has expired, was revoked or was used before.
    ///   - message: The server's description for developers, without what it repeats of the request.
    ///   - statusCode: The status of the response.
    case refused(code: String, message: String?, statusCode: Int)
    /// The server has answered with that status, without such an error.
    case unexpectedStatus(Int)
    /// The response is successful but contains no token; the text describes the problem.
    case unreadable(String)
    /// The token is not of the type `bearer` (RFC 6749 §7.1), so it cannot be used as one.
    case unsupportedTokenType
    /// The access token has expired, and there is no refresh token.
    case noRefreshToken
}

extension OAuthError {
    /// Whether a later refresh may succeed.
    var isTransient: Bool {
        switch self {
        case .refused(let code, _, let status):
            // RFC 6749 §4.1.2.1 defines these for the authorization endpoint; some servers send them from this one.
            ["temporarily_unavailable", "server_error"].contains(code)
                || Response(statusCode: status).isTransientFailure
        case .unexpectedStatus(let status): Response(statusCode: status).isTransientFailure
        // For example the page of a captive portal.
        case .unreadable: true
        case .unsupportedTokenType, .noRefreshToken: false
        }
    }

    /// The error of a response whose status is not 200 to 299.
    ///
    /// - Parameter secrets: The secrets of the request, which the description may repeat.
    init(_ response: Response, leavingOut secrets: [String] = []) {
        guard let json = try? response.json(), let code = json["error"].string, !code.isEmpty else {
            self = .unexpectedStatus(response.statusCode)
            return
        }
        let text = OAuthText(leavingOut: secrets)
        self = .refused(
            code: text.redacted(code, limit: 60),
            message: json["error_description"].string.map { text.redacted($0, limit: 300) },
            statusCode: response.statusCode
        )
    }
}

extension OAuthError: ErrorWithKind {
    /// The kind of error of the calls that waited: that of the server's status, or `.unauthorized` if there is no credential.
    package var kind: TargetKitError.Kind {
        switch self {
        case .refused(_, _, let status):
            guard isTransient else { return .unauthorized }
            return Response(statusCode: status).isTransientFailure ? .init(statusCode: status) : .server
        case .unexpectedStatus(let status): return .init(statusCode: status)
        case .unreadable: return .connectionLost
        case .unsupportedTokenType, .noRefreshToken: return .unauthorized
        }
    }
}

extension OAuthError: DescribedError {
    /// The problem in one line.
    package var redactedDescription: String {
        switch self {
        case .refused(let code, let message, _):
            "the token endpoint refused the request: \(code)" + (message.map { " (\($0))" } ?? "")
        case .unexpectedStatus(let status): "the token endpoint returned status \(status) without an error code"
        case .unreadable(let why): "the response of the token endpoint cannot be read: \(why)"
        case .unsupportedTokenType: "the token endpoint returned a token that is not a bearer token"
        case .noRefreshToken: "the access token has expired, and there is no refresh token"
        }
    }
}

/// The texts of a token endpoint without secrets, limited to the characters of RFC 6749 §5.2.
struct OAuthText: Sendable {
    private let secrets: [String]

    init(leavingOut secrets: [String]) {
        // Longest first: one may contain another. Short texts are no secrets, and would match parts of words.
        self.secrets = secrets.filter { $0.count > 5 }.sorted { $0.count > $1.count }
    }

    func redacted(_ text: String, limit: Int) -> String {
        let clean = secrets.reduce(text) { $0.replacingOccurrences(of: $1, with: HeaderRedaction.placeholder) }
        let shown = clean.unicodeScalars.map { (0x20...0x7E).contains($0.value) ? Character($0) : " " }
        return String(shown.prefix(limit)) + (shown.count > limit ? "…" : "")
    }
}
