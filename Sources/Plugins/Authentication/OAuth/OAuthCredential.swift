// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// A bearer token of OAuth 2, and what its renewal needs.
///
/// It can be stored: as JSON it holds both tokens in plain text. Its descriptions leave them out.
public struct OAuthCredential: Sendable, Hashable, Codable {
    /// What calls carry (RFC 6750 §1.2).
    public var accessToken: String
    /// What a new access token is asked for with (RFC 6749 §1.5); `nil`: when the access token has ended, the user signs in
    /// again.
    public var refreshToken: String?
    /// When the access token ends, by this device's clock; `nil`: the server has not said.
    public var expiresAt: Date?
    /// When it was given out, by this device's clock; `nil`: not known.
    public var issuedAt: Date?
    /// What it allows, as names with spaces between them (RFC 6749 §3.3); `nil`: what was asked for.
    public var scope: String?

    /// A credential with those tokens.
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

    /// The credential of a token endpoint's answer (RFC 6749 §5.1), at sign-in or at a refresh.
    ///
    /// - Parameters:
    ///   - response: The answer.
    ///   - now: The time that `expires_in` counts from; default: this moment.
    ///   - old: The credential that was renewed, whose refresh token and scope go on when the answer has none (§6); default
    ///     `nil`: there is none.
    /// - Throws: ``OAuthError`` when the server has refused, or the answer holds no bearer token.
    public init(_ response: Response, now: Date = Date(), renewing old: OAuthCredential? = nil) throws(OAuthError) {
        guard (200...299).contains(response.statusCode) else { throw OAuthError(response) }
        guard let json = try? response.json(), case .object = json else {
            throw .unreadable("its body is no JSON object")
        }
        guard let accessToken = json["access_token"].string, !accessToken.isEmpty else {
            throw .unreadable("it has no access_token")
        }
        // Required by §5.1, and left out by some; another type would be used in another way (§7.1).
        if let type = json["token_type"].string, type.lowercased() != "bearer" { throw .unsupportedTokenType }
        // Some write the number as a text.
        let lifetime = json["expires_in"].lenient.double.flatMap { $0 >= 0 && $0 < 1e11 ? $0 : nil }
        let refreshToken = json["refresh_token"].string.flatMap { $0.isEmpty ? nil : $0 }
        self.init(
            accessToken: accessToken,
            refreshToken: refreshToken ?? old?.refreshToken,
            expiresAt: lifetime.map { now.addingTimeInterval($0) },
            issuedAt: now,
            scope: json["scope"].string ?? old?.scope
        )
    }

    /// Whether the access token has ended, or will within that time. Of a token that lives for less than twice as long, the
    /// second half of its life counts.
    ///
    /// - Parameter margin: In seconds.
    func ends(within margin: TimeInterval, of now: Date) -> Bool {
        guard let expiresAt else { return false }
        let half = issuedAt.map { max(0, expiresAt.timeIntervalSince($0)) / 2 } ?? margin
        return expiresAt.timeIntervalSince(now) <= min(margin, half)
    }
}

extension OAuthCredential: RedactedDescription {
    /// When the token expires; the tokens are left out.
    var redactedDescription: String {
        "bearer token \(HeaderRedaction.placeholder)" + (expiresAt.map { ", ends \($0)" } ?? "")
            + (refreshToken == nil ? ", without a refresh token" : "")
    }
}
