// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitFiles

/// A sign-in with a browser, using the authorization code grant (RFC 6749 §4.1) with PKCE (RFC 7636).
///
/// ```swift
/// let authorization = client.authorization(at: authorizationURL, redirectURI: redirectURI)
/// let callback = try await open(authorization.url)        // for example by ASWebAuthenticationSession
/// try await authentication.signIn(client.credential(authorization.grant(from: callback)))
/// ```
///
/// The app opens the browser, and receives the URL to which the server redirects it. An authorization can be used once.
/// Its JSON contains a secret; its descriptions don't.
public struct OAuthAuthorization: Sendable, Hashable, Codable {
    /// The URL to open in a browser.
    public let url: URL
    private let redirectURI: URL
    private let issuer: String?
    private let state: String
    private let verifier: String

    init(
        _ endpoint: URL,
        clientID: String,
        redirectURI: URL,
        scope: String?,
        issuer: String?,
        parameters: [String: String]
    ) {
        self.init(
            endpoint,
            clientID: clientID,
            redirectURI: redirectURI,
            scope: scope,
            issuer: issuer,
            parameters: parameters,
            state: Self.random(),
            verifier: Self.random()
        )
    }

    init(
        _ endpoint: URL,
        clientID: String,
        redirectURI: URL,
        scope: String?,
        issuer: String? = nil,
        parameters: [String: String],
        state: String,
        verifier: String
    ) {
        var fields = parameters
        fields["scope"] = scope ?? fields["scope"]
        let required = [
            "response_type": "code", "client_id": clientID, "redirect_uri": redirectURI.absoluteString, "state": state,
            "code_challenge": Self.challenge(for: verifier), "code_challenge_method": "S256",
        ]
        let query = Array(fields.merging(required) { $1 }).ordered { $0.key < $1.key }
            .map { "\($0.key.formEncoded)=\($0.value.formEncoded)" }
        var components = URLComponents(url: endpoint, resolvingAgainstBaseURL: true)
        let old = components?.percentEncodedQuery.map { [$0] } ?? []
        components?.percentEncodedQuery = (old.filter { !$0.isEmpty } + query).joined(separator: "&")
        url = components?.url ?? endpoint
        self.redirectURI = redirectURI
        self.issuer = issuer
        self.state = state
        self.verifier = verifier
    }

    /// The grant in the URL to which the server redirected the browser (RFC 6749 §4.1.2).
    ///
    /// - Throws: ``OAuthError`` if the user or the server denied the authorization, or the URL isn't a valid response
    ///   to it because it isn't the redirect URI, its state differs, or it repeats a parameter.
    public func grant(from callback: URL) throws(OAuthError) -> OAuthGrant {
        guard RedirectURI(callback).matches(RedirectURI(redirectURI)) else {
            throw .unreadable("the URL isn't the response to this authorization, because it isn't the redirect URI")
        }
        let items = URLComponents(url: callback, resolvingAgainstBaseURL: true)?.queryItems ?? []
        // RFC 6749 §3.1. Repeated parameters can deceive readers that use different values.
        for name in ["state", "code", "iss", "error"] where items.count(where: { $0.name == name }) > 1 {
            throw .unreadable("the URL contains the parameter \(name) more than once")
        }
        let value = { (name: String) in items.first { $0.name == name }?.value }
        // Prevents another site from signing the user in to its own account (RFC 6749 §10.12).
        guard value("state") == state else {
            throw .unreadable("the URL isn't the response to this authorization, because its state differs")
        }
        // Prevents sending the code of one server to another (RFC 9207 §2.4, §4).
        guard issuer == nil || value("iss") == issuer else {
            throw .unreadable("the URL contains the response of another server: its issuer differs")
        }
        if let code = value("error") {
            let text = OAuthText(leavingOut: [state, verifier])
            let message = value("error_description").map { text.redacted($0, limit: 300) }
            throw .refused(code: text.redacted(code, limit: 60), message: message, statusCode: 302)
        }
        guard let code = value("code"), !code.isEmpty else { throw .unreadable("the URL contains no code") }
        return .authorizationCode(code, redirectURI: redirectURI, verifier: verifier)
    }

    /// The challenge of a verifier with the method `S256` (RFC 7636 §4.2).
    static func challenge(for verifier: String) -> String {
        base64URL(SHA256Hasher.digest(of: Array(verifier.utf8)))
    }

    /// 256 random bits, as RFC 7636 §4.1 recommends.
    private static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        return base64URL((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// Base64 for URLs, without padding (RFC 4648 §5).
    private static func base64URL(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}

/// The parts of a redirect URI that the server may not change.
private struct RedirectURI {
    private let scheme: String?
    private let authority: String
    private let port: Int?
    private let path: String

    init(_ url: URL) {
        let components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        scheme = components?.scheme?.lowercased()
        let user = [components?.percentEncodedUser, components?.percentEncodedPassword].compactMap { $0 }
        authority = (user + [components?.encodedHost?.lowercased() ?? ""]).joined(separator: "@")
        let port = components?.port
        self.port = port == ["http": 80, "https": 443][scheme] ? nil : port
        let path = components?.percentEncodedPath ?? ""
        self.path = path.isEmpty ? "/" : path
    }

    func matches(_ registered: RedirectURI) -> Bool {
        guard scheme == registered.scheme, authority == registered.authority, path == registered.path else {
            return false
        }
        // The port on the loopback interface can differ from the registered one (RFC 8252 §7.3).
        let isLoopback = scheme == "http" && ["127.0.0.1", "[::1]", "localhost"].contains(authority)
        return port == registered.port || (isLoopback && registered.port == nil)
    }
}

extension OAuthAuthorization: RedactedDescription {
    /// The endpoint.
    package var redactedDescription: String { "authorization at \(RedactedURL(url))" }
}

extension OAuthClient {
    /// Starts a sign-in with a browser (RFC 6749 §4.1, RFC 7636). Nothing is sent.
    ///
    /// - Parameters:
    ///   - url: The authorization endpoint.
    ///   - redirectURI: The registered URL to which the server redirects the browser. It is a link to the app, or
    ///     `http://127.0.0.1` with a port for programs without links (RFC 8252 §7).
    ///   - scope: Names separated by spaces; default `nil`: the server's default.
    ///   - issuer: The server's identifier, which its response must contain (RFC 9207), for an app that signs in at
    ///     several servers; default `nil`: the identifier isn't checked.
    ///   - parameters: Additional parameters of the URL, for example `prompt`; default: none.
    public func authorization(
        at url: URL,
        redirectURI: URL,
        scope: String? = nil,
        issuer: String? = nil,
        parameters: [String: String] = [:]
    ) -> OAuthAuthorization {
        OAuthAuthorization(
            url,
            clientID: id,
            redirectURI: redirectURI,
            scope: scope,
            issuer: issuer,
            parameters: parameters
        )
    }
}
