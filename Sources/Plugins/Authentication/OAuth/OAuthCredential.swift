// SPDX-License-Identifier: MIT
import TargetKit

/// A bearer token of OAuth 2, with its refresh token.
///
/// Its JSON contains both tokens in plain text; its descriptions contain neither.
public struct OAuthCredential: Sendable, Hashable, Codable {
    /// The token that calls include (RFC 6750 §1.2).
    public var accessToken: String
    /// The refresh token (RFC 6749 §1.5); if `nil`, the user must sign in again when the access token expires.
    public var refreshToken: String?
    /// The expiry date of the access token, by this device's clock; `nil` if unknown.
    public var expiresAt: Date?
    /// The issue date of the access token, by this device's clock; `nil` if unknown.
    public var issuedAt: Date?
    /// The scope of the access token, as names separated by spaces (RFC 6749 §3.3); `nil` for the requested scope.
    public var scope: String?
    /// The identifier of the session, in the JSON of stores that store only the credential.
    var session: String?

    /// Creates a credential.
    public init(
        accessToken: String,
        refreshToken: String? = nil,
        expiresAt: Date? = nil,
        issuedAt: Date? = nil,
        scope: String? = nil
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresAt = expiresAt
        self.issuedAt = issuedAt
        self.scope = scope
    }

    /// Creates a credential from a token endpoint's response (RFC 6749 §5.1) to a sign-in or a refresh.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - now: The time from which `expires_in` is measured; default: the current time.
    ///   - old: The refreshed credential, whose refresh token and scope are retained if the response has none (§6).
    ///     Default: none.
    /// - Throws: ``OAuthError`` if the server rejected the request, or the response contains no bearer token.
    public init(_ response: Response, now: Date = Date(), renewing old: OAuthCredential? = nil) throws(OAuthError) {
        try self.init(response, now: now, renewing: old, leavingOut: [])
    }

    /// Creates a credential from a response to a request with secrets, which errors must not contain.
    init(
        _ response: Response,
        now: Date,
        renewing old: OAuthCredential?,
        leavingOut secrets: [String]
    ) throws(OAuthError) {
        guard (200...299).contains(response.statusCode) else { throw OAuthError(response, leavingOut: secrets) }
        guard let fields = OAuthFields(response) else { throw .unreadable("the body isn't a JSON object") }
        guard let accessToken = fields["access_token"], !accessToken.isEmpty else {
            // Some servers, such as GitHub's, report errors with status 200.
            if case .refused(let code, let message, let status) = OAuthError(response, leavingOut: secrets) {
                throw .refused(code: code, message: message, statusCode: status)
            }
            throw .unreadable("access_token is missing")
        }
        // Otherwise, every call would fail, even after a launch.
        if accessToken.endsHeaderField { throw .unreadable("access_token contains a line break") }
        // §5.1 requires the type, but some servers omit it. Tokens of other types are used differently (§7.1).
        if let type = fields["token_type"], type.lowercased() != "bearer" { throw .unsupportedTokenType }
        // Some servers send 0 for a token without an expiry.
        let lifetime = fields.number("expires_in").flatMap { $0 > 0 && $0 < 1e11 ? $0 : nil }
        let refreshToken = fields["refresh_token"].flatMap { $0.isEmpty ? nil : $0 }
        self.init(
            accessToken: accessToken,
            refreshToken: refreshToken ?? old?.refreshToken,
            expiresAt: lifetime.map { now.addingTimeInterval($0) },
            issuedAt: now,
            scope: fields["scope"] ?? old?.scope
        )
    }

    /// Whether the access token has expired, or will expire within the margin, which is at most half of the token's
    /// lifetime.
    ///
    /// - Parameter margin: In seconds.
    func ends(within margin: TimeInterval, of now: Date) -> Bool {
        guard let expiresAt else { return false }
        let half = issuedAt.map { max(0, expiresAt.timeIntervalSince($0)) / 2 } ?? margin
        return expiresAt.timeIntervalSince(now) <= min(margin, half)
    }
}

extension OAuthCredential {
    /// Whether two credentials have the same tokens, dates and scope.
    public static func == (first: OAuthCredential, second: OAuthCredential) -> Bool {
        // The session identifier doesn't affect the use of a credential.
        first.accessToken == second.accessToken && first.refreshToken == second.refreshToken
            && first.expiresAt == second.expiresAt && first.issuedAt == second.issuedAt && first.scope == second.scope
    }

    /// Hashes the tokens.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(accessToken)
        hasher.combine(refreshToken)
    }
}

extension OAuthCredential: RedactedDescription {
    /// The expiry of the credential, without the tokens.
    package var redactedDescription: String {
        "bearer token \(SecretFields.placeholder)" + (expiresAt.map { ", expires \($0.safeDescription)" } ?? "")
            + (refreshToken == nil ? ", without a refresh token" : "")
    }
}
