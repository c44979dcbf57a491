// SPDX-License-Identifier: MIT
import Foundation

/// A value that describes one call of an API, usually a case of an enum.
public protocol TargetType {
    /// The base URL of the API.
    var baseURL: URL { get }
    /// The path that is appended to ``baseURL``.
    var path: String { get }
    /// The method.
    var method: HTTPMethod { get }
    /// The body of a stubbed call's response; default: empty.
    var sampleData: Data { get }
    /// The parameters and the body of the request, and the destination of the response's body.
    var task: Task { get }
    /// The status codes that are accepted; default: all.
    var validationType: ValidationType { get }
    /// The header fields of the request.
    var headers: [String: String]? { get }
}

extension TargetType {
    /// All status codes are accepted.
    public var validationType: ValidationType { .none }
    /// No bytes.
    public var sampleData: Data { Data() }
}

extension URL {
    /// Creates the URL of a target, which is the base URL with the path appended.
    public init<T: TargetType>(target: T) {
        self.init(targetWithPath: target)
    }

    init(targetWithPath target: some TargetType) {
        let path = target.path
        // Appending an empty path would add a slash.
        self = path.isEmpty ? target.baseURL : target.baseURL.appendingPathComponent(path)
    }
}

/// The status codes that a target accepts.
public enum ValidationType: Sendable, Equatable {
    /// All.
    case none
    /// 200 to 299.
    case successCodes
    /// 200 to 399.
    case successAndRedirectCodes
    /// The given ones. An empty list accepts all.
    case customCodes([Int])
}
