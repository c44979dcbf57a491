// SPDX-License-Identifier: MIT
import TargetKit

/// A grant that an ``OAuthClient`` exchanges for a token (RFC 6749 §1.3). Its descriptions contain no secrets.
public struct OAuthGrant: Sendable, Hashable {
    /// The fields of the form, with `grant_type`.
    let fields: [String: String]

    /// Creates a custom grant, for example a token exchange (RFC 8693).
    ///
    /// - Parameters:
    ///   - type: The `grant_type` (RFC 6749 §4.5).
    ///   - fields: The other fields of the form. Their values are treated as secrets.
    public init(type: String, fields: [String: String] = [:]) {
        self.fields = fields.merging(["grant_type": type]) { $1 }
    }

    /// A grant for the app itself, without a user (RFC 6749 §4.4).
    ///
    /// Servers don't return a refresh token for it. To refresh the token, pass the grant to
    /// ``OAuthAuthenticator/init(client:renewal:margin:bodyCodes:)``.
    ///
    /// - Parameter scope: Names separated by spaces; default `nil`: the server's default.
    public static func clientCredentials(scope: String? = nil) -> OAuthGrant {
        OAuthGrant(type: "client_credentials", fields: scope.map { ["scope": $0] } ?? [:])
    }

    /// A refresh token (RFC 6749 §6).
    public static func refreshToken(_ token: String) -> OAuthGrant {
        OAuthGrant(type: "refresh_token", fields: ["refresh_token": token])
    }

    static func authorizationCode(_ code: String, redirectURI: URL, verifier: String) -> OAuthGrant {
        let fields = ["code": code, "redirect_uri": redirectURI.absoluteString, "code_verifier": verifier]
        return OAuthGrant(type: "authorization_code", fields: fields)
    }

    static func deviceCode(_ code: String) -> OAuthGrant {
        OAuthGrant(type: "urn:ietf:params:oauth:grant-type:device_code", fields: ["device_code": code])
    }

    /// The secret values, which must not be shown.
    var secrets: [String] {
        fields.filter { !["grant_type", "scope", "redirect_uri"].contains($0.key) }.map(\.value)
    }
}

extension OAuthGrant: RedactedDescription {
    /// The type of the grant.
    package var redactedDescription: String { "grant \(fields["grant_type"] ?? "")" }
}
