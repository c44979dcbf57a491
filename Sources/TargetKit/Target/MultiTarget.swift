// SPDX-License-Identifier: MIT

/// A type-erased target, so that one provider can serve several target types.
///
/// ```swift
/// let provider = Provider<MultiTarget>()
/// let product = try await provider.request(MultiTarget(Catalog.product(id: "7")))
/// let order = try await provider.request(Orders.latest)        // the same, wrapped for you
/// ```
///
/// Plugins, errors and responses always receive the wrapped target.
public struct MultiTarget: TargetType {
    /// The wrapped target, which is never a `MultiTarget`.
    public let target: any TargetType

    /// Wraps a target. A `MultiTarget` isn't wrapped again.
    public init(_ target: any TargetType) {
        self.target = target.innermost
    }

    /// The inner target's base URL.
    public var baseURL: URL { target.baseURL }
    /// The inner target's path.
    public var path: RequestPath { target.path }
    /// The inner target's method.
    public var method: HTTPMethod { target.method }
    /// The inner target's task.
    public var task: HTTPTask { target.task }
    /// The inner target's header fields.
    public var headers: HTTPHeaders { target.headers }
    /// The inner target's validation.
    public var validation: StatusValidation { target.validation }
    /// The inner target's options.
    public var options: CallOptions { target.options }
    /// The inner target's sample body.
    public var sampleData: Data { target.sampleData }
    /// The inner target's sample response.
    public var sampleResponse: SampleResponse { target.sampleResponse }
    /// The inner target's sample response for a scenario.
    public func sampleResponse(in scenario: String) -> SampleResponse? { target.sampleResponse(in: scenario) }
}

extension MultiTarget: RedactedDescription {
    /// The type and case of the wrapped target, without its associated values, which may be secrets.
    var redactedDescription: String { target.name }
}

/// A call of a URL, for a request that needs no separate target type.
///
/// ```swift
/// let provider = Provider<URLTarget>()
/// let response = try await provider.request(URLTarget(url))
/// let created = try await provider.request(URLTarget(url, method: .post, task: .json(note)), as: Note.self)
/// ```
public struct URLTarget: TargetType {
    /// The complete URL, including its query.
    public var baseURL: URL
    /// The method.
    public var method: HTTPMethod
    /// The query, the request body, and the destination of the response body.
    public var task: HTTPTask
    /// The header fields of the call.
    public var headers: HTTPHeaders

    /// Creates a call of a URL.
    public init(_ url: URL, method: HTTPMethod = .get, task: HTTPTask = .plain, headers: HTTPHeaders = [:]) {
        baseURL = url
        self.method = method
        self.task = task
        self.headers = headers
    }

    /// Empty, because the URL is complete.
    public var path: RequestPath { "" }
}

extension URLTarget: RedactedDescription {
    /// The method and the URL, without user, query and fragment, which may contain secrets.
    var redactedDescription: String { "\(method) \(RedactedURL(baseURL))".inOneLine }
}

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
