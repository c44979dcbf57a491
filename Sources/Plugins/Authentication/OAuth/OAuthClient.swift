// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// The app's registration with an OAuth server (RFC 6749 §2.3).
package struct OAuthClient: Sendable, Hashable {
    /// The app's identifier.
    package let id: String
    /// The app's secret; `nil` for a public client, such as any app that users install (RFC 6749 §2.1).
    package let secret: String?
    /// Whether the secret is sent as `client_secret` in the form, instead of by the `Basic` scheme.
    package let sendsSecretInForm: Bool

    /// Creates an app with that identifier.
    package init(id: String, secret: String? = nil, sendsSecretInForm: Bool = false) {
        self.id = id
        self.secret = secret
        self.sendsSecretInForm = sendsSecretInForm
    }

    /// The fields of a form for the token endpoint.
    var fields: [String: String] {
        guard let secret else { return ["client_id": id] }
        return sendsSecretInForm ? ["client_id": id, "client_secret": secret] : [:]
    }

    /// The value of `Authorization`; `nil` if the form authenticates the app. Both parts are form-encoded before they
    /// are joined (RFC 6749 §2.3.1), so each may contain a colon.
    var authorization: String? {
        guard let secret, !sendsSecretInForm else { return nil }
        let pair = [id, secret].map { $0.addingPercentEncoding(withAllowedCharacters: .unreserved) ?? $0 }
        return "Basic " + Data(pair.joined(separator: ":").utf8).base64EncodedString()
    }
}

extension CharacterSet {
    /// RFC 3986 §2.3; these characters are not encoded in forms either.
    fileprivate static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )
}

extension OAuthClient: RedactedDescription {
    /// The identifier, without the secret.
    package var redactedDescription: String { id }
}

/// The call that refreshes a token: a form, sent by POST to the token endpoint (RFC 6749 §6).
///
/// It is sent without the credential that it refreshes, does not end the session for an ``UnauthorizedPlugin``, and
/// accepts every status. So any provider can send it, including the one whose calls wait for it.
package struct OAuthRefreshTarget: TargetType {
    /// The token endpoint.
    package let baseURL: URL
    /// A form: `grant_type`, `refresh_token`, the client's fields, and the parameters of the app.
    package let task: HTTPTask
    /// `Accept`, and `Authorization` if the client authenticates itself by the `Basic` scheme.
    package let headers: HTTPHeaders

    /// Empty: the base URL is the whole URL.
    package var path: RequestPath { "" }
    /// `POST`.
    package var method: HTTPMethod { .post }
    /// No credential, and no sign-out.
    package var options: CallOptions {
        .setting(\.authorization, .none).setting(\.endsSessionOnUnauthorized, false)
    }
    /// None: the authenticator reads the error that the body of a refusal describes.
    package var validation: StatusValidation { .none }

    init(tokenURL: URL, client: OAuthClient, refreshToken: String, parameters: [String: String]) {
        baseURL = tokenURL
        var fields = parameters.merging(client.fields) { $1 }
        fields["grant_type"] = "refresh_token"
        fields["refresh_token"] = refreshToken
        task = .form(fields)
        var headers: HTTPHeaders = ["Accept": "application/json"]
        headers[.authorization] = client.authorization
        self.headers = headers
    }
}

extension OAuthRefreshTarget: RedactedDescription {
    /// The token endpoint, without the form.
    package var redactedDescription: String { "refresh at \(RedactedURL(baseURL))" }
}
