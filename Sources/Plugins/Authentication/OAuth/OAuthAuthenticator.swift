// SPDX-License-Identifier: MIT
import TargetKit

/// Bearer tokens of OAuth 2 (RFC 6750), refreshed with their refresh token (RFC 6749 §6).
///
/// ```swift
/// OAuthAuthenticator(client: OAuthClient(id: "shop-app", tokenURL: tokenURL))
/// ```
///
/// By default, a token is refreshed 30 seconds before it expires. A refresh token in the response replaces the old one.
public struct OAuthAuthenticator: Authenticator {
    private let margin: TimeInterval
    private let bodyCodes: [BodyCode]
    /// Whether tokens can be refreshed without a refresh token.
    private let renewsByGrant: Bool
    private let now: @Sendable () -> Date
    private let renew: @Sendable (OAuthCredential) async throws -> OAuthCredential

    /// Creates an authenticator that refreshes tokens with a client.
    ///
    /// - Parameters:
    ///   - client: The client of the server that issued the tokens.
    ///   - renewal: The grant with which a token without a refresh token is refreshed, for example
    ///     ``OAuthGrant/clientCredentials(scope:)``. Default `nil`: such a token is used until it expires, and then the
    ///     session ends.
    ///   - margin: The time before its expiry at which a token is refreshed, at most half of its lifetime; default: 30
    ///     seconds.
    ///   - bodyCodes: Codes in a body that report a rejected token, in addition to status 401; default: none.
    public init(
        client: OAuthClient,
        renewal: OAuthGrant? = nil,
        margin: Duration = .seconds(30),
        bodyCodes: [BodyCode] = []
    ) {
        self.margin = margin / .seconds(1)
        self.bodyCodes = bodyCodes
        renewsByGrant = renewal != nil
        now = client.now
        renew = { credential in
            guard let grant = credential.refreshToken.map(OAuthGrant.refreshToken) ?? renewal else {
                throw OAuthError.noRefreshToken
            }
            return try await client.credential(grant, renewing: credential)
        }
    }

    /// Creates an authenticator for bearer tokens that a closure refreshes.
    ///
    /// - Parameters:
    ///   - margin: The time before its expiry at which a token is refreshed, at most half of its lifetime; default: 30
    ///     seconds.
    ///   - bodyCodes: Codes in a body that report a rejected token, in addition to status 401; default: none.
    ///   - now: Returns the current time, which determines whether a token has expired; default: the device's clock.
    ///   - refresh: Refreshes a credential. An error that it throws ends the session unless it is transient; see
    ///     ``endsSession(_:)``.
    public init(
        margin: Duration = .seconds(30),
        bodyCodes: [BodyCode] = [],
        now: @escaping @Sendable () -> Date = { Date() },
        refresh: @escaping @Sendable (OAuthCredential) async throws -> OAuthCredential
    ) {
        self.margin = margin / .seconds(1)
        self.bodyCodes = bodyCodes
        renewsByGrant = false
        self.now = now
        renew = refresh
    }

    /// Sets `Authorization` to the bearer token (RFC 6750 §2.1).
    ///
    /// - Throws: `InvalidRequest` for a token with a line break.
    public func apply(_ credential: OAuthCredential, to request: inout URLRequest) throws {
        try request.setField(.authorization, to: "Bearer " + credential.accessToken)
    }

    /// Whether the token has expired or is about to expire. A token without a refresh token is used until it expires.
    public func needsRefresh(_ credential: OAuthCredential) -> Bool {
        credential.ends(within: credential.refreshToken == nil && !renewsByGrant ? 0 : margin, of: now())
    }

    /// Whether the token hasn't expired yet.
    public func canStillUse(_ credential: OAuthCredential) -> Bool {
        !credential.ends(within: 0, of: now())
    }

    /// Refreshes the token.
    public func refresh(_ credential: OAuthCredential) async throws -> OAuthCredential {
        try await renew(credential)
    }

    /// Whether the server rejected the token, with one of the codes in the body or with status 401. A 401 doesn't count
    /// if its challenges are only for other schemes, or have an error that a new token doesn't resolve, such as
    /// `insufficient_scope` (RFC 6750 §3.1).
    public func wasRejected(_ response: Response) -> Bool {
        response.rejectsCredential(scheme: "Bearer") || bodyCodes.contains { $0.matches(response) }
    }
}
