// SPDX-License-Identifier: MIT
import Foundation

/// A target of any type, so that one provider can call several APIs.
public enum MultiTarget: TargetType {
    /// A target.
    case target(any TargetType)

    /// Wraps a target.
    public init(_ target: any TargetType) {
        self = .target(target)
    }

    /// The wrapped target.
    public var target: any TargetType {
        switch self {
        case .target(let target): target
        }
    }

    /// The wrapped target's path.
    public var path: String { target.path }
    /// The wrapped target's base URL.
    public var baseURL: URL { target.baseURL }
    /// The wrapped target's method.
    public var method: HTTPMethod { target.method }
    /// The wrapped target's sample.
    public var sampleData: Data { target.sampleData }
    /// The wrapped target's task.
    public var task: Task { target.task }
    /// The wrapped target's validation.
    public var validationType: ValidationType { target.validationType }
    /// The wrapped target's header fields.
    public var headers: [String: String]? { target.headers }
}

extension MultiTarget: AccessTokenAuthorizable {
    /// The wrapped target's authorization; `nil` if it has none.
    public var authorizationType: AuthorizationType? {
        (target as? any AccessTokenAuthorizable)?.authorizationType
    }
}
