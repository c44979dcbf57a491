// SPDX-License-Identifier: MIT
import Foundation

/// A call of one URL, for a request without an API of its own.
///
/// ```swift
/// let provider = Provider<URLTarget>()
/// let response = try await provider.request(URLTarget(url))
/// let created = try await provider.request(URLTarget(url, method: .post, task: .json(note)), as: Note.self)
/// ```
public struct URLTarget: TargetType {
    /// The whole URL; a query that it has is kept.
    public var baseURL: URL
    /// The method.
    public var method: HTTPMethod
    /// What is sent in query and body, and where the response's body goes.
    public var task: HTTPTask
    /// Header fields of the call.
    public var headers: HTTPHeaders

    /// A call of that URL.
    public init(_ url: URL, method: HTTPMethod = .get, task: HTTPTask = .plain, headers: HTTPHeaders = [:]) {
        baseURL = url
        self.method = method
        self.task = task
        self.headers = headers
    }

    /// Empty: the URL is used as it is.
    public var path: RequestPath { "" }
}

extension URLTarget: ReflectsDescription {
    /// The method and the URL, without user, query and fragment, which can contain secrets.
    public var description: String { "\(method) \(RedactedURL(baseURL))".inOneLine }
}
