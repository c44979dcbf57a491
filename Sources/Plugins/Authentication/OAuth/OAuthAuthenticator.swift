// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Bearer tokens of OAuth 2 (RFC 6750), refreshed with their refresh token (RFC 6749 §6).
///
/// ```swift
/// OAuthAuthenticator(tokenURL: tokenURL, clientID: "shop-app")
/// ```
///
/// By default a token is refreshed 30 seconds before it expires. A refresh token in the response replaces the old one.
public struct OAuthAuthenticator: Authenticator {
    private let margin: TimeInterval
    private let bodyCodes: [BodyCode]
    private let now: @Sendable () -> Date
    private let renew: @Sendable (OAuthCredential) async throws -> OAuthCredential

    /// Creates an authenticator that sends refreshes to a token endpoint.
    ///
    /// - Parameters:
    ///   - tokenURL: The token endpoint, with the scheme https.
    ///   - clientID: The identifier with which the app is registered (RFC 6749 §2.2).
    ///   - clientSecret: The app's secret; default `nil`: a public client, such as any app that users install (§2.1).
    ///   - sendsSecretInForm: Whether the secret is sent as `client_secret` in the form, for servers that do not
    ///     support the `Basic` scheme (§2.3.1). Default: `false`.
    ///   - parameters: Further fields of the form, for example `scope`; default: none.
    ///   - margin: How long before its expiry a token is refreshed, at most half of its lifetime; default: 30 seconds.
    ///   - bodyCodes: Codes in a body that report a rejected token, in addition to status 401; default: none.
    ///   - send: Sends the refresh: a form, by `POST` to the token endpoint, without a credential. Any provider can
    ///     send it, even the one whose calls wait for it. It must not follow redirects: the form contains secrets that
    ///     only the token endpoint may get. Default `nil`: a provider with the system's transport, without plugins and
    ///     redirects, and with a timeout of a minute.
    ///   - now: The current time, which determines whether a token has expired; default: the device's clock.
    public init(
        tokenURL: URL,
        clientID: String,
        clientSecret: String? = nil,
        sendsSecretInForm: Bool = false,
        parameters: [String: String] = [:],
        margin: Duration = .seconds(30),
        bodyCodes: [BodyCode] = [],
        send: (@Sendable (MultiTarget) async throws -> Response)? = nil,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        let client = OAuthClient(id: clientID, secret: clientSecret, sendsSecretInForm: sendsSecretInForm)
        let send = send ?? Self.sendingByItself()
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

    /// Sends refreshes with a separate provider.
    private static func sendingByItself() -> @Sendable (MultiTarget) async throws -> Response {
        let provider = Provider<MultiTarget>(options: .setting(\.timeout, .wholeCall(.seconds(60))), redirects: .none)
        return { target in try await provider.request(target) }
    }

    /// Creates an authenticator for bearer tokens that a closure refreshes.
    ///
    /// - Parameters:
    ///   - margin: How long before its expiry a token is refreshed, at most half of its lifetime; default: 30 seconds.
    ///   - bodyCodes: Codes in a body that report a rejected token, in addition to status 401; default: none.
    ///   - now: The current time, which determines whether a token has expired; default: the device's clock.
    ///   - refresh: Refreshes a credential. An error that it throws ends the session unless it is transient, see
    ///     ``endsSession(_:)``.
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

    /// Whether the token has expired or is about to. A token without a refresh token is used until it expires.
    public func needsRefresh(_ credential: OAuthCredential) -> Bool {
        credential.ends(within: credential.refreshToken == nil ? 0 : margin, of: now())
    }

    /// Whether the token has not expired yet.
    public func canStillUse(_ credential: OAuthCredential) -> Bool {
        !credential.ends(within: 0, of: now())
    }

    /// Refreshes the token.
    public func refresh(_ credential: OAuthCredential) async throws -> OAuthCredential {
        try await renew(credential)
    }

    /// Whether the status is 401, or the body contains one of the codes.
    public func wasRejected(_ response: Response) -> Bool {
        response.statusCode == 401 || bodyCodes.contains { $0.matches(response) }
    }
}
