// SPDX-License-Identifier: MIT
import TargetKit

/// The result of a stubbed call.
public enum EndpointSampleResponse {
    /// A status code and a body.
    case networkResponse(Int, Data)
    /// A head and a body.
    case response(HTTPURLResponse, Data)
    /// A failure without a response.
    case networkError(NSError)
}

/// A complete description of a call's request, and of its result if it is stubbed.
open class Endpoint {
    /// Returns the result of a stubbed call.
    public typealias SampleResponseClosure = () -> EndpointSampleResponse

    /// The URL, without the parameters of ``task``.
    public let url: String
    /// Returns the result of a stubbed call.
    public let sampleResponseClosure: SampleResponseClosure
    /// The method.
    public let method: HTTPMethod
    /// The parameters and the body of the request, and the destination of the response's body.
    public let task: Task
    /// The header fields of the request.
    public let httpHeaderFields: [String: String]?

    /// Creates an endpoint.
    public init(
        url: String,
        sampleResponseClosure: @escaping SampleResponseClosure,
        method: HTTPMethod,
        task: Task,
        httpHeaderFields: [String: String]?
    ) {
        self.url = url
        self.sampleResponseClosure = sampleResponseClosure
        self.method = method
        self.task = task
        self.httpHeaderFields = httpHeaderFields
    }

    /// Returns this endpoint with additional header fields, which replace those with the same name.
    open func adding(newHTTPHeaderFields: [String: String]) -> Endpoint {
        let fields =
            newHTTPHeaderFields.isEmpty
            ? httpHeaderFields : (httpHeaderFields ?? [:]).merging(newHTTPHeaderFields) { $1 }
        return Endpoint(
            url: url,
            sampleResponseClosure: sampleResponseClosure,
            method: method,
            task: task,
            httpHeaderFields: fields
        )
    }

    /// Returns this endpoint with another task.
    open func replacing(task: Task) -> Endpoint {
        Endpoint(
            url: url,
            sampleResponseClosure: sampleResponseClosure,
            method: method,
            task: task,
            httpHeaderFields: httpHeaderFields
        )
    }
}

extension Endpoint: Hashable {
    /// Whether both endpoints send the same request, with equal methods, URLs, header fields, bodies, files and parts.
    /// Two endpoints without a valid request are equal if their URLs and methods are equal.
    public static func == (left: Endpoint, right: Endpoint) -> Bool {
        left === right || left.content == right.content
    }

    /// Hashes the compared properties.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(content)
    }

    /// The content that identifies equal endpoints.
    struct Content: Hashable, Sendable {
        var url: String
        var method: String
        var fields: [String: String]?
        var body: Data?
        var file: URL?
        var parts: MultipartForm?
        var isRequest: Bool
    }

    var content: Content {
        // `URLRequest` compares neither header fields nor body on Linux.
        let request = try? urlRequest()
        return Content(
            url: request?.url?.absoluteString ?? url,
            method: method.rawValue,
            fields: request?.allHTTPHeaderFields,
            body: request?.httpBody,
            file: task.file,
            parts: task.parts.map { MultipartForm(parts: $0.map(MultipartForm.Part.init), boundary: "") },
            isRequest: request != nil
        )
    }
}
