// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Puts the app's token into the `Authorization` field of the calls whose targets ask for it.
///
/// ```swift
/// let provider = Provider<Orders>(plugins: [AccessTokenPlugin { _ in await session.token }])
///
/// extension Orders: AuthorizedTarget {
///     var authorization: AuthorizationScheme { .bearer }
/// }
/// ```
///
/// - A target that is no `AuthorizedTarget`, or whose scheme is `.none`, is left alone, and its token is not asked for.
/// - The field is *set*: one that the target's headers hold, in any letter case, is replaced.
/// - The token is asked for at each attempt, so that a call that is tried again goes out with the new one.
///
/// Order: before plugins that look at the whole request, a logger or a signature for one.
public struct AccessTokenPlugin: Plugin {
    private let fieldValue: @Sendable (any TargetType, AuthorizationScheme) async throws -> String?

    /// A plugin that asks for a token.
    ///
    /// - Parameter token: The token of a target's call; `nil` or an empty text: the request is left as it is. For the
    ///   scheme `.basic` it is `user:password`, which the plugin turns into base64. What it throws ends the call,
    ///   with stage `.request`.
    public init(_ token: @escaping @Sendable (any TargetType) async throws -> String?) {
        fieldValue = { target, scheme in
            guard let token = try await token(target), !token.isEmpty else { return nil }
            return switch scheme {
            case .none: nil
            case .bearer: "Bearer " + token
            case .basic: try BasicCredentials(token).fieldValue
            case .custom(let name): name.isEmpty ? token : name + " " + token
            }
        }
    }

    private init(fieldValue: @escaping @Sendable (any TargetType, AuthorizationScheme) async throws -> String?) {
        self.fieldValue = fieldValue
    }

    /// A plugin for the targets whose scheme is `.basic`; those of other schemes are left alone.
    ///
    /// ```swift
    /// AccessTokenPlugin.basic { _ in try BasicCredentials(user: "anna", password: keychain.password) }
    /// ```
    ///
    /// - Parameter credentials: User and password of a target's call; `nil`: the request is left as it is. What it
    ///   throws ends the call, with stage `.request`.
    public static func basic(
        _ credentials: @escaping @Sendable (any TargetType) async throws -> BasicCredentials?
    ) -> AccessTokenPlugin {
        AccessTokenPlugin(fieldValue: { target, scheme in
            guard scheme == .basic else { return nil }
            return try await credentials(target)?.fieldValue
        })
    }

    /// Sets the field, for a target that asks for it.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        guard let target = context.target as? any AuthorizedTarget else { return request }
        let scheme = target.authorization
        guard scheme != .none, let value = try await fieldValue(target, scheme) else { return request }
        var request = request
        try request.setAuthorization(value)
        return request
    }
}

extension URLRequest {
    /// Whether an `Authorization` field is there, in any letter case.
    var hasAuthorization: Bool {
        allHTTPHeaderFields?.keys.contains { $0.isAuthorization } == true
    }

    /// Sets `Authorization` (RFC 9110 §11.6.2) in the place of every field of that name, in any letter case.
    ///
    /// - Throws: `InvalidRequest` for a value that would end the field. Foundation would leave the field out without
    ///   a word, and the call would go out without credentials.
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
