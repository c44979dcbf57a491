// SPDX-License-Identifier: MIT

/// How a call shows who it comes from, in its `Authorization` field (RFC 9110 §11.6.2).
public enum AuthorizationScheme: Sendable, Hashable {
    /// The call goes without credentials.
    case none
    /// `Bearer`, a token (RFC 6750 §2.1).
    case bearer
    /// `Basic`, user and password in base64 (RFC 7617).
    case basic
    /// A scheme of that name, followed by the token.
    case custom(String)
}

/// A target that says how its calls are authorized.
public protocol AuthorizedTarget: TargetType {
    /// The scheme of this call's credentials.
    var authorization: AuthorizationScheme { get }
}
