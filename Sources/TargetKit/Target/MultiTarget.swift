// SPDX-License-Identifier: MIT
import Foundation

/// Any target, so that one provider can serve several target types.
///
/// ```swift
/// let provider = Provider<MultiTarget>()
/// let product = try await provider.request(MultiTarget(Catalog.product(id: "7")))
/// let order = try await provider.request(Orders.latest)        // the same, wrapped for you
/// ```
///
/// Plugins, errors and responses always contain the wrapped target.
public struct MultiTarget: TargetType {
    /// The wrapped target, never a `MultiTarget` itself.
    public let target: any TargetType

    /// Wraps a target. A target that is already wrapped is not wrapped again.
    public init(_ target: any TargetType) {
        self.target = target.innermost
    }

    /// The wrapped target's base URL.
    public var baseURL: URL { target.baseURL }
    /// The wrapped target's path.
    public var path: RequestPath { target.path }
    /// The wrapped target's method.
    public var method: HTTPMethod { target.method }
    /// The wrapped target's task.
    public var task: HTTPTask { target.task }
    /// The wrapped target's header fields.
    public var headers: HTTPHeaders { target.headers }
    /// The wrapped target's validation.
    public var validation: StatusValidation { target.validation }
    /// The wrapped target's options.
    public var options: CallOptions { target.options }
    /// The wrapped target's sample body.
    public var sampleData: Data { target.sampleData }
    /// The wrapped target's sample response.
    public var sampleResponse: SampleResponse { target.sampleResponse }
}

extension MultiTarget: RedactedDescription {
    /// The type and case of the wrapped target, without its associated values, which can be secrets.
    package var redactedDescription: String { target.name }
}
