// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// The call that renews a token: a form, sent by POST to the token endpoint (RFC 6749 §6).
///
/// It goes out without the credential that it renews, it is no call of the session for an ``UnauthorizedPlugin``, and every
/// status counts as an answer: so any provider can send it, also the one whose calls wait for it.
public struct OAuthRefreshTarget: SessionTarget {
    /// The token endpoint.
    public let baseURL: URL
    /// A form: `grant_type`, `refresh_token`, what the client adds, and the parameters of the app.
    public let task: HTTPTask
    /// `Accept`, and `Authorization` when the client shows itself by the `Basic` scheme.
    public let headers: HTTPHeaders

    /// Nothing: the base URL is the whole address.
    public var path: RequestPath { "" }
    /// `POST`.
    public var method: HTTPMethod { .post }
    /// No.
    public var belongsToSession: Bool { false }

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

extension OAuthRefreshTarget: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The token endpoint; what is sent is left out.
    public var description: String { "refresh at \(RedactedURL(baseURL))" }
    /// The token endpoint; what is sent is left out.
    public var debugDescription: String { description }
    /// The token endpoint alone, so that `dump` does not print what is sent.
    public var customMirror: Mirror { Mirror(describing: self) }
}
