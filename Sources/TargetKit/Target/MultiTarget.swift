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
