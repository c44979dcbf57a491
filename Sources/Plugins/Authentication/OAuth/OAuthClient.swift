// SPDX-License-Identifier: MIT
import TargetKit

/// A client of an OAuth 2 server (RFC 6749), which requests tokens with a grant, refreshes them and revokes them.
///
/// ```swift
/// let client = OAuthClient(id: "shop-app", tokenURL: tokenURL)
///
/// // The user signs in with a browser (RFC 7636):
/// let authorization = client.authorization(at: authorizationURL, redirectURI: redirectURI, scope: "orders")
/// let callback = try await open(authorization.url)
/// let credential = try await client.credential(authorization.grant(from: callback))
///
/// // A service signs in by itself (RFC 6749 §4.4):
/// let credential = try await client.credential(.clientCredentials(scope: "orders"))
/// ```
///
/// Pass the credential to ``AuthenticationPlugin/signIn(_:)``, and the client to ``OAuthAuthenticator``.
///
/// The requests are forms, and are sent without the credential of a session. Errors don't contain their data.
public struct OAuthClient: Sendable {
    /// The method by which the app proves its identity to the server (RFC 6749 §2.3).
    public enum Authentication: Sendable {
        /// No authentication, for a public client such as any app that users install (RFC 6749 §2.1).
        case none
        /// A secret, sent with the `Basic` scheme (RFC 6749 §2.3.1).
        case basic(secret: String)
        /// A secret in the form, for servers that don't support the `Basic` scheme (RFC 6749 §2.3.1).
        case form(secret: String)
        /// A JWT that the closure signs with the app's private key (RFC 7523 §2.2, `private_key_jwt`).
        ///
        /// The closure is called for each request with its URL, which is usually the audience (`aud`). A JWT is used
        /// once, so it needs an identifier (`jti`) and a short lifetime (`exp`).
        case privateKeyJWT(@Sendable (_ audience: URL) async throws -> String)
    }

    /// The identifier with which the app is registered (RFC 6749 §2.2).
    package let id: String
    private let tokenURL: URL
    private let authentication: Authentication
    private let parameters: [String: String]
    private let send: @Sendable (MultiTarget) async throws -> Response
    let now: @Sendable () -> Date

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - id: The identifier with which the app is registered (RFC 6749 §2.2).
    ///   - tokenURL: The token endpoint, with the scheme https.
    ///   - authentication: The method by which the app proves its identity; default: ``Authentication/none``.
    ///   - parameters: Additional fields of all forms, for example `audience`; default: none.
    ///   - send: Sends a request, which is a `POST` of a form without a credential. Any provider can send it, even the
    ///     one whose calls wait for a refresh. Redirects aren't followed, regardless of the provider's policy, because
    ///     the form contains secrets for the server. Default `nil`: a provider with the system's transport, without
    ///     plugins, and with a timeout of 30 seconds.
    ///   - now: Returns the current time, from which lifetimes are measured; default: the device's clock.
    public init(
        id: String,
        tokenURL: URL,
        authentication: Authentication = .none,
        parameters: [String: String] = [:],
        send: (@Sendable (MultiTarget) async throws -> Response)? = nil,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.id = id
        self.tokenURL = tokenURL
        self.authentication = authentication
        self.parameters = parameters
        self.send = send ?? Self.sendingByItself()
        self.now = now
    }

    /// Sends requests with a separate provider.
    private static func sendingByItself() -> @Sendable (MultiTarget) async throws -> Response {
        let provider = Provider<MultiTarget>(options: .setting(\.timeout, .wholeCall(.seconds(30))), redirects: .none)
        return { target in try await provider.request(target) }
    }

    /// Requests a credential from the token endpoint (RFC 6749 §3.2).
    ///
    /// - Throws: ``OAuthError`` if the server rejected the request, or the error of the request.
    public func credential(_ grant: OAuthGrant) async throws -> OAuthCredential {
        try await credential(grant, renewing: nil)
    }

    func credential(_ grant: OAuthGrant, renewing old: OAuthCredential?) async throws -> OAuthCredential {
        let secrets = grant.secrets + [old?.accessToken, old?.refreshToken].compactMap { $0 }
        let (response, sent) = try await post(grant.fields, secrets: secrets, to: tokenURL)
        return try OAuthCredential(response, now: now(), renewing: old, leavingOut: sent)
    }

    /// Revokes a credential, for example when the user signs out (RFC 7009). It revokes the refresh token, with which
    /// the server should also revoke the access tokens, or else the access token.
    ///
    /// - Parameters:
    ///   - credential: The credential, for example the result of ``AuthenticationPlugin/signOut()``.
    ///   - url: The revocation endpoint, with the scheme https.
    /// - Throws: ``OAuthError`` if the server rejected the request, or the error of the request. A token that is
    ///   already invalid isn't an error.
    public func revoke(_ credential: OAuthCredential, at url: URL) async throws {
        let token = credential.refreshToken ?? credential.accessToken
        let hint = credential.refreshToken == nil ? "access_token" : "refresh_token"
        let (response, sent) = try await post(["token": token, "token_type_hint": hint], secrets: [token], to: url)
        guard (200...299).contains(response.statusCode) else { throw OAuthError(response, leavingOut: sent) }
    }

    /// Posts a form.
    ///
    /// - Returns: The response, and the secrets of the request.
    func post(
        _ fields: [String: String],
        secrets: [String],
        to url: URL
    ) async throws -> (response: Response, secrets: [String]) {
        let proof = try await proof(for: url)
        let fields = parameters.merging(proof.fields) { $1 }.merging(fields) { $1 }
        let target = OAuthRequestTarget(baseURL: url, task: .form(fields), authorization: proof.authorization)
        return (try await send(MultiTarget(target)), secrets + proof.secrets)
    }
}

extension OAuthClient: RedactedDescription {
    /// The identifier, without the secret.
    package var redactedDescription: String { id }
}

extension OAuthClient.Authentication: RedactedDescription {
    /// The method (RFC 7591 §2), without the secret.
    package var redactedDescription: String {
        switch self {
        case .none: "none"
        case .basic: "client_secret_basic"
        case .form: "client_secret_post"
        case .privateKeyJWT: "private_key_jwt"
        }
    }
}

// MARK: - Authentication

extension OAuthClient {
    /// The app's authentication in one request.
    private struct Proof {
        var fields: [String: String] = [:]
        var authorization: String?
        var secrets: [String] = []
    }

    private func proof(for url: URL) async throws -> Proof {
        switch authentication {
        case .none: return Proof(fields: ["client_id": id])
        case .form(let secret): return Proof(fields: ["client_id": id, "client_secret": secret], secrets: [secret])
        case .basic(let secret):
            // Both parts are form-encoded before they are joined (RFC 6749 §2.3.1), so each may contain a colon.
            let pair = [id, secret].map(\.formEncoded).joined(separator: ":")
            let field = "Basic " + Data(pair.utf8).base64EncodedString()
            return Proof(authorization: field, secrets: [secret, field])
        case .privateKeyJWT(let sign):
            let assertion = try await sign(url)
            let fields = [
                "client_id": id,
                "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                "client_assertion": assertion,
            ]
            return Proof(fields: fields, secrets: [assertion])
        }
    }
}

extension String {
    /// The text with all characters escaped except unreserved ones (RFC 3986 §2.3), which forms also don't escape.
    var formEncoded: String { addingPercentEncoding(withAllowedCharacters: .unreserved) ?? self }
}

extension CharacterSet {
    fileprivate static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )
}

/// A call of an OAuth server, which sends a form with POST.
///
/// It is sent without the credential of a session, doesn't end the session for an ``UnauthorizedPlugin``, and accepts
/// every status. Therefore any provider can send it, including the one whose calls wait for it.
package struct OAuthRequestTarget: TargetType {
    /// The endpoint.
    package let baseURL: URL
    /// The form.
    package let task: HTTPTask
    /// `Accept`, and `Authorization` if the client authenticates with the `Basic` scheme.
    package let headers: HTTPHeaders

    /// Empty, because the base URL is the whole URL.
    package var path: RequestPath { "" }
    /// `POST`.
    package var method: HTTPMethod { .post }
    /// No credential, no sign-out, and no redirects, which could send the form's secrets to another server.
    package var options: CallOptions {
        .setting(\.authorization, .none).setting(\.endsSessionOnUnauthorized, false)
            .setting(\.followsRedirects, false)
    }
    /// None, because the client reads the error in the body of a rejection.
    package var validation: StatusValidation { .none }

    init(baseURL: URL, task: HTTPTask, authorization: String?) {
        self.baseURL = baseURL
        self.task = task
        var headers: HTTPHeaders = ["Accept": "application/json"]
        headers[.authorization] = authorization
        self.headers = headers
    }
}

extension OAuthRequestTarget: RedactedDescription {
    /// The endpoint, without the form.
    package var redactedDescription: String { "OAuth request to \(RedactedURL(baseURL))" }
}
