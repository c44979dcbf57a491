// SPDX-License-Identifier: MIT

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
