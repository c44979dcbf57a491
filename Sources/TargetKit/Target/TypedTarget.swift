// SPDX-License-Identifier: MIT
/// A target that declares the type of its response, usually a struct for a single endpoint.
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
public protocol TypedTarget: TargetType {
    /// The type that the response body decodes to.
    associatedtype Output: Decodable & Sendable

    /// The key path of the value in the body, for example `data.user`; default `nil`, which means the whole body. With
    /// an envelope (``CallOptions/envelope``), the key path is relative to the envelope's payload.
    var keyPath: String? { get }
}

extension TypedTarget {
    /// The whole body.
    public var keyPath: String? { nil }
}
