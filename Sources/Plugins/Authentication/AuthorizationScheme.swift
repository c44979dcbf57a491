// SPDX-License-Identifier: MIT
import TargetKit

/// How a call shows who sends it, in its `Authorization` field (RFC 9110 §11.6.2).
public enum AuthorizationScheme: Sendable, Hashable {
    /// The scheme of the provider's plugin: `Bearer` for a plugin that sends tokens.
    case automatic
    /// The call is sent without credentials.
    case none
    /// `Bearer` and a token (RFC 6750 §2.1).
    case bearer
    /// `Basic`, with user and password in base64 (RFC 7617).
    case basic
    /// A scheme of that name, followed by the token.
    case custom(String)
}

extension CallOptions {
    /// The scheme of the call's credentials; default `AuthorizationScheme.automatic`: the call is sent with the credentials that
    /// the provider's plugins have.
    ///
    /// ```swift
    /// var options: CallOptions {
    ///     switch self {
    ///     case .signIn: .setting(\.authorization, .none)
    ///     default: .init()
    ///     }
    /// }
    /// ```
    public var authorization: AuthorizationScheme {
        get { self[AuthorizationKey.self] }
        set { self[AuthorizationKey.self] = newValue }
    }
}

private enum AuthorizationKey: CallOptionKey { static let defaultValue = AuthorizationScheme.automatic }

/// Plugins that add credentials, in this order: what a later one sets replaces what an earlier one has set.
extension PluginPlace {
    /// User and password for calls that no token replaces.
    static let basicCredentials = PluginPlace(rawValue: authentication.rawValue - 20)
    /// A token of the app's.
    static let accessToken = PluginPlace(rawValue: authentication.rawValue - 10)
    /// Credentials for calls that have none yet.
    static let missingCredentials = PluginPlace(rawValue: authentication.rawValue + 10)
}
