// SPDX-License-Identifier: MIT
import Foundation

/// A target that knows the type of its response: an endpoint that is a struct of its own.
///
/// ```swift
/// struct GetUser: TypedTarget {
///     typealias Output = User
///     var id: Int
///     var baseURL: URL { Shop.baseURL }
///     var path: RequestPath { "/users/\(id)" }
/// }
///
/// let user = try await provider.request(GetUser(id: 3))
/// ```
public protocol TypedTarget: DecodingTarget {
    /// What the response's body decodes to.
    associatedtype Output: Decodable & Sendable

    /// Where in the body the value lies, `data.user` for one; default `nil`: the whole body.
    var keyPath: String? { get }
}

extension TypedTarget {
    /// The whole body.
    public var keyPath: String? { nil }
    /// The provider's decoder.
    public var decoder: JSONDecoder { .ofProvider }
}
