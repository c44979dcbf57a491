// SPDX-License-Identifier: MIT
import Foundation

/// A call's URL, method, task and header fields, which the provider's endpoint closure makes from a target.
///
/// ```swift
/// let provider = Provider<Catalog>(endpointClosure: { target in
///     try Endpoint(target: target).adding(headers: ["X-App-Version": "3.1"])
/// })
/// ```
public struct Endpoint: Sendable {
    /// The URL without the query of ``task``.
    public var url: URL
    /// The method.
    public var method: HTTPMethod
    /// The query and the body, and the destination of the response's body.
    public var task: HTTPTask
    /// The header fields of the call.
    public var headers: HTTPHeaders
    /// The limit of the exchange; default `nil`: that of the call's options (``CallOptions/timeout``).
    public var timeout: Duration?
    /// The result of a stubbed call. That of a target is read when it is needed, because it may read a file.
    public var sampleResponse: SampleResponse {
        get {
            switch sample {
            case .of(let target): target.sampleResponse
            case .given(let response): response
            }
        }
        set { sample = .given(newValue) }
    }

    private var sample: Sample

    private enum Sample: Sendable {
        case of(any TargetType)
        case given(SampleResponse)
    }

    /// Creates an endpoint.
    public init(
        url: URL,
        method: HTTPMethod = .get,
        task: HTTPTask = .plain,
        headers: HTTPHeaders = [:],
        timeout: Duration? = nil,
        sampleResponse: SampleResponse = .response(status: 200, data: Data())
    ) {
        self.url = url
        self.method = method
        self.task = task
        self.headers = headers
        self.timeout = timeout
        sample = .given(sampleResponse)
    }

    /// Creates the endpoint of a target.
    ///
    /// - Throws: ``TargetKitError`` of stage `.endpoint` if the path and the base URL are not a valid URL, or the path has a
    ///   segment `.` or `..`.
    public init(target: some TargetType) throws(TargetKitError) {
        do {
            url = try target.path.url(below: target.baseURL)
        } catch {
            throw TargetKitError(stage: .endpoint, target: target.innermost, underlying: error)
        }
        method = target.method
        task = target.task
        headers = target.headers
        timeout = nil
        sample = .of(target)
    }

    /// Returns the endpoint with header fields that replace its own of the same names.
    public func adding(headers: HTTPHeaders) -> Endpoint {
        var endpoint = self
        endpoint.headers = self.headers.merging(headers)
        return endpoint
    }
}

extension Endpoint: RedactedDescription {
    /// The method, URL and task, with secrets redacted.
    package var redactedDescription: String { "\(method) \(RedactedURL(url)), \(task)".inOneLine }
}
