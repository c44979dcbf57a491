// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Bearer tokens of OAuth 2 (RFC 6750), renewed with their refresh token (RFC 6749 §6).
///
/// ```swift
/// OAuthAuthenticator(tokenURL: tokenURL, client: OAuthClient(id: "shop-app"))
/// ```
///
/// A token is renewed half a minute before its end. A refresh token that comes with the new one takes the old one's place.
public struct OAuthAuthenticator: Authenticator {
    private let margin: TimeInterval
    private let bodyCodes: [BodyCode]
    private let now: @Sendable () -> Date
    private let renew: @Sendable (OAuthCredential) async throws -> OAuthCredential

    /// An authenticator that asks a token endpoint.
    ///
    /// - Parameters:
    ///   - tokenURL: The token endpoint; with TLS, unless it is a test's.
    ///   - client: The app, as the server knows it.
    ///   - parameters: Further fields of the form, `scope` for one; default: none.
    ///   - margin: How long before its end a token is renewed, but never before half of its life is over; default: 30 seconds.
    ///   - bodyCodes: What in a body says that the token is not accepted, beside status 401; default: nothing does.
    ///   - now: The time by which tokens end; default: the device's clock.
    ///   - send: Sends the refresh: a form, by `POST` to the token endpoint, that asks for no credential and does not
    ///     belong to the session, so that any provider can send it, also the one whose calls wait for it. It must not follow redirects: the form holds secrets, which are
    ///     for the token endpoint alone.
    public init(
        tokenURL: URL,
        client: OAuthClient,
        parameters: [String: String] = [:],
        margin: Duration = .seconds(30),
        bodyCodes: [BodyCode] = [],
        now: @escaping @Sendable () -> Date = { Date() },
        send: @escaping @Sendable (MultiTarget) async throws -> Response
    ) {
        self.init(margin: margin, bodyCodes: bodyCodes, now: now) { credential in
            guard let refreshToken = credential.refreshToken else { throw OAuthError.noRefreshToken }
            let target = OAuthRefreshTarget(
                tokenURL: tokenURL,
                client: client,
                refreshToken: refreshToken,
                parameters: parameters
            )
            let response = try await send(MultiTarget(target))
            guard (200...299).contains(response.statusCode) else {
                let secrets = [refreshToken, credential.accessToken, client.secret, client.authorization]
                throw OAuthError(response, leavingOut: secrets.compactMap { $0 })
            }
            return try OAuthCredential(response, now: now(), renewing: credential)
        }
    }

    /// An authenticator that asks a token endpoint by a provider of its own: over the system's transport, without plugins,
    /// within a minute, and without following redirects.
    ///
    /// The parameters are those of ``init(tokenURL:client:parameters:margin:bodyCodes:now:send:)``.
    public init(
        tokenURL: URL,
        client: OAuthClient,
        parameters: [String: String] = [:],
        margin: Duration = .seconds(30),
        bodyCodes: [BodyCode] = [],
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        let provider = Provider<MultiTarget>(
            options: .setting(\.timeout, .wholeCall(.seconds(60))),
            redirects: .none
        )
        self.init(
            tokenURL: tokenURL,
            client: client,
            parameters: parameters,
            margin: margin,
            bodyCodes: bodyCodes,
            now: now
        ) { target in
            try await provider.request(target)
        }
    }

    /// An authenticator for bearer tokens that are renewed in a way of the app's own.
    ///
    /// - Parameters:
    ///   - margin: How long before its end a token is renewed, but never before half of its life is over; default: 30 seconds.
    ///   - bodyCodes: What in a body says that the token is not accepted, beside status 401; default: nothing does.
    ///   - now: The time by which tokens end; default: the device's clock.
    ///   - refresh: Renews a credential. What it throws ends the session, unless it is an error that passes, see
    ///     ``isTransient(_:)``.
    public init(
        margin: Duration = .seconds(30),
        bodyCodes: [BodyCode] = [],
        now: @escaping @Sendable () -> Date = { Date() },
        refresh: @escaping @Sendable (OAuthCredential) async throws -> OAuthCredential
    ) {
        self.margin = margin / .seconds(1)
        self.bodyCodes = bodyCodes
        self.now = now
        renew = refresh
    }

    /// Sets `Authorization` to the bearer token (RFC 6750 §2.1).
    ///
    /// - Throws: `InvalidRequest` for a token with a line break.
    public func apply(_ credential: OAuthCredential, to request: inout URLRequest) throws {
        try request.setAuthorization("Bearer " + credential.accessToken)
    }

    /// Whether the token has ended or is about to. One that cannot be renewed is used to its end.
    public func needsRefresh(_ credential: OAuthCredential) -> Bool {
        credential.ends(within: credential.refreshToken == nil ? 0 : margin, of: now())
    }

    /// Whether the token has not ended yet.
    public func canStillUse(_ credential: OAuthCredential) -> Bool {
        !credential.ends(within: 0, of: now())
    }

    /// Renews the token.
    public func refresh(_ credential: OAuthCredential) async throws -> OAuthCredential {
        try await renew(credential)
    }

    /// Whether the status is 401, or the body has one of the codes.
    public func wasRejected(_ response: Response) -> Bool {
        response.statusCode == 401 || bodyCodes.contains { $0.matches(response) }
    }
}
