// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Adds the app's token to calls, in their `Authorization` field.
///
/// ```swift
/// let provider = Provider<Orders>(plugins: [AccessTokenPlugin { _ in await session.token }])
/// ```
///
/// - The token is sent by the scheme of the call (`CallOptions.authorization`), by default as a bearer token. A call whose scheme
///   is `.none` is sent without a token, and the closure is not called.
/// - An `Authorization` field among the target's headers is replaced.
/// - The closure is called for each attempt, so a call that is retried has the current token.
public struct AccessTokenPlugin: Plugin {
    /// Among the plugins that add credentials; a token replaces user and password, and the credential of an
    /// ``AuthenticationPlugin`` replaces this plugin's token.
    public let place: PluginPlace

    private let fieldValue: @Sendable (any TargetType, AuthorizationScheme) async throws -> String?

    /// A plugin that gets its token from a closure.
    ///
    /// - Parameter token: Returns the token for a target's call; `nil` or an empty string leaves the request unchanged. For the
    ///   scheme `.basic` it is `user:password`, which the plugin encodes. An error that it throws ends the call with stage
    ///   `.request`.
    public init(_ token: @escaping @Sendable (any TargetType) async throws -> String?) {
        place = .accessToken
        fieldValue = { target, scheme in
            guard let token = try await token(target), !token.isEmpty else { return nil }
            return switch scheme {
            case .none: nil
            case .automatic, .bearer: "Bearer " + token
            case .basic: try BasicCredentials(token).fieldValue
            case .custom(let name): name.isEmpty ? token : name + " " + token
            }
        }
    }

    private init(
        place: PluginPlace,
        fieldValue: @escaping @Sendable (any TargetType, AuthorizationScheme) async throws -> String?
    ) {
        self.place = place
        self.fieldValue = fieldValue
    }

    /// A plugin that sends user and password with calls whose scheme is `.basic` or `.automatic`. A token of another plugin
    /// replaces them.
    ///
    /// ```swift
    /// AccessTokenPlugin.basic { _ in try BasicCredentials(user: "anna", password: keychain.password) }
    /// ```
    ///
    /// - Parameter credentials: Returns user and password for a target's call; `nil` leaves the request unchanged. An error that
    ///   it throws ends the call with stage `.request`.
    public static func basic(
        _ credentials: @escaping @Sendable (any TargetType) async throws -> BasicCredentials?
    ) -> AccessTokenPlugin {
        AccessTokenPlugin(place: .basicCredentials) { target, scheme in
            guard scheme == .basic || scheme == .automatic else { return nil }
            return try await credentials(target)?.fieldValue
        }
    }

    /// Sets the field.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        let scheme = context.options.authorization
        guard scheme != .none, let value = try await fieldValue(context.target, scheme) else { return request }
        var request = request
        try request.setAuthorization(value)
        return request
    }
}

extension URLRequest {
    /// Whether the request has an `Authorization` field, in any letter case.
    var hasAuthorization: Bool {
        allHTTPHeaderFields?.keys.contains { $0.isAuthorization } == true
    }

    /// Replaces every field named `Authorization` (RFC 9110 §11.6.2), in any letter case.
    ///
    /// - Throws: `InvalidRequest` for a value with a line break or NUL. Foundation ignores such a value silently, and the call
    ///   would be sent without credentials.
    mutating func setAuthorization(_ value: String) throws(InvalidRequest) {
        let name = HTTPHeaderName.authorization.rawValue
        guard !value.endsHeaderField else {
            throw .invalidHeaderValue(name: name)
        }
        for key in allHTTPHeaderFields?.keys.filter(\.isAuthorization) ?? [] {
            setValue(nil, forHTTPHeaderField: key)
        }
        setValue(value, forHTTPHeaderField: name)
    }
}

extension String {
    fileprivate var isAuthorization: Bool {
        equalsIgnoringASCIICase(HTTPHeaderName.authorization.rawValue)
    }
}
