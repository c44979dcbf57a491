// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A target whose calls can include a token.
public protocol AccessTokenAuthorizable {
    /// The scheme of the token; `nil` if the call doesn't include one.
    var authorizationType: AuthorizationType? { get }
}

/// The scheme of a token in `Authorization`.
public enum AuthorizationType: Sendable, Equatable {
    /// `Basic` (RFC 7617).
    case basic
    /// `Bearer` (RFC 6750).
    case bearer
    /// Another scheme.
    case custom(String)

    /// The name of the scheme in the header field.
    public var value: String {
        switch self {
        case .basic: "Basic"
        case .bearer: "Bearer"
        case .custom(let value): value
        }
    }
}

/// Adds a token to the calls of ``AccessTokenAuthorizable`` targets, for example `Authorization: Bearer …`.
public struct AccessTokenPlugin: PluginType, Sendable {
    /// Returns the token for a target.
    public typealias TokenClosure = (any TargetType) -> String

    private let closure: Unchecked<TokenClosure>

    /// Returns the token for a target.
    public var tokenClosure: TokenClosure { closure.value }

    /// Creates a plugin.
    ///
    /// - Parameter tokenClosure: Returns the token for a target; for a ``MultiTarget``, it receives the wrapped target.
    public init(tokenClosure: @escaping TokenClosure) {
        closure = Unchecked(tokenClosure)
    }

    /// Adds the token, if the target has a scheme.
    public func prepare(_ request: URLRequest, target: any TargetType) -> URLRequest {
        guard let type = (target as? any AccessTokenAuthorizable)?.authorizationType else { return request }
        let token = tokenClosure((target as? MultiTarget)?.target ?? target)
        var request = request
        request.addValue("\(type.value) \(token)", forHTTPHeaderField: "Authorization")
        return request
    }
}
