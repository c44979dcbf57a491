// SPDX-License-Identifier: MIT
import TargetKit

/// Adds the app's token to calls, in their `Authorization` field.
///
/// ```swift
/// let provider = Provider<Orders>(plugins: [AccessTokenPlugin { _ in await session.token }])
/// ```
///
/// - The token is sent with the scheme of the call (`CallOptions.authorization`), by default as a bearer token. A call
///   with the scheme `.none` is sent without a token, and the closure isn't called.
/// - An `Authorization` field among the target's headers is replaced.
/// - The closure is called for each attempt, so a retried call has the current token.
public struct AccessTokenPlugin: Plugin {
    private let token: @Sendable (any TargetType) async throws -> String?

    /// The place before an ``AuthenticationPlugin``, whose credential replaces the token, and before a
    /// ``CredentialsPlugin``, which then adds no credential.
    public var place: PluginPlace { .accessToken }

    /// The hooks that the plugin implements.
    public var hooks: PluginHooks { .prepare }

    /// Creates a plugin that gets its token from a closure.
    ///
    /// - Parameter token: Returns the token for a target's call; `nil` or an empty string leaves the request unchanged.
    ///   For the scheme `.basic`, it is `user:password`, which the plugin encodes. If it throws an error, the call ends
    ///   with stage `.request`.
    public init(_ token: @escaping @Sendable (any TargetType) async throws -> String?) {
        self.token = token
    }

    /// Sets the field.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        let scheme = context.options.authorization
        guard scheme != .none, let token = try await token(context.target), !token.isEmpty,
            let value = try Self.fieldValue(token, scheme: scheme)
        else { return request }
        var request = request
        try request.setField(.authorization, to: value)
        return request
    }

    private static func fieldValue(_ token: String, scheme: AuthorizationScheme) throws -> String? {
        switch scheme {
        case .none: nil
        case .automatic, .bearer: "Bearer " + token
        case .basic: try BasicCredentials(token).fieldValue
        case .custom(let name): name.isEmpty ? token : name + " " + token
        }
    }
}

/// The scheme of a call's credentials in the `Authorization` field (RFC 9110 §11.6.2).
public enum AuthorizationScheme: Sendable, Hashable {
    /// The scheme of the provider's plugin: `Bearer` for a plugin that sends tokens.
    case automatic
    /// The call is sent without credentials.
    case none
    /// `Bearer` with a token (RFC 6750 §2.1).
    case bearer
    /// `Basic` with the user and password in base64 (RFC 7617).
    case basic
    /// A scheme with this name, followed by the token.
    case custom(String)
}

extension CallOptions {
    /// The scheme of the call's credentials; default: `AuthorizationScheme.automatic`, with the credentials of the
    /// provider's plugins.
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

extension URLRequest {
    /// Whether the request has an `Authorization` field. Its name is case-insensitive.
    var hasAuthorization: Bool { value(of: .authorization) != nil }
}
