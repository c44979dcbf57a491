// SPDX-License-Identifier: MIT
import TargetKit

/// A Moya target as a TargetKit target, for calls with ``MoyaProvider/targetKit``.
///
/// ```swift
/// let user = try await provider.targetKit.request(LegacyTarget(.userProfile("ann")), as: User.self)
/// ```
public struct LegacyTarget<Target: TargetType>: TargetKit.TargetType {
    private let box: Unchecked<Target>
    let call: MoyaCall?

    /// The target's base URL; for a call of a ``MoyaProvider``, the URL of its request.
    public let baseURL: URL
    /// The target's path; for a call of a ``MoyaProvider``, empty.
    public let path: RequestPath
    /// The target's method.
    public let method: TargetKit.HTTPMethod
    /// The target's task, without its parameters.
    public let task: HTTPTask
    /// The target's header fields.
    public let headers: TargetKit.HTTPHeaders
    /// The target's validation.
    public let validation: StatusValidation

    /// Wraps a target, and reads its properties. If the target is an object, it must not change while a call uses it.
    public init(_ target: Target) {
        box = Unchecked(target)
        call = nil
        baseURL = target.baseURL
        path = RequestPath(raw: target.path)
        method = TargetKit.HTTPMethod(rawValue: target.method.rawValue)
        task = HTTPTask(target.task, for: target.baseURL)
        headers = TargetKit.HTTPHeaders(target.headers ?? [:])
        validation = StatusValidation(target.validationType)
    }

    /// Wraps the target of a call whose request is known.
    init(_ target: Target, call: MoyaCall, request: URLRequest, endpoint: Endpoint) {
        box = Unchecked(target)
        self.call = call
        baseURL = request.url ?? target.baseURL
        path = ""
        method = TargetKit.HTTPMethod(rawValue: request.httpMethod ?? endpoint.method.rawValue)
        task = HTTPTask(endpoint.task, for: baseURL)
        headers = TargetKit.HTTPHeaders(request.allHTTPHeaderFields ?? [:])
        validation = StatusValidation(target.validationType)
    }

    /// The target.
    public var target: Target { box.value }
    /// The target's sample.
    public var sampleData: Data { target.sampleData }
}

extension StatusValidation {
    init(_ type: ValidationType) {
        switch type {
        case .none: self = .none
        case .successCodes: self = .successCodes
        case .successAndRedirectCodes: self = .successAndRedirectCodes
        case .customCodes(let codes): self = codes.isEmpty ? .none : .codes(codes)
        }
    }
}

/// A ``LegacyTarget`` of any target.
protocol LegacyTargetValue {
    var moyaTarget: any TargetType { get }
    var call: MoyaCall? { get }
}

extension LegacyTarget: LegacyTargetValue {
    var moyaTarget: any TargetType { target }
}

/// The state of a call for Moya plugins.
final class MoyaCall: Sendable {
    let request: Request
    /// The request before the plugins; `nil` for a call that TargetKit started.
    let urlRequest: URLRequest?
    let endpoint: Unchecked<Endpoint>?
    let stub: TargetKit.StubBehavior

    /// Creates the state of a call that TargetKit started.
    init(_ request: Request) {
        self.request = request
        urlRequest = nil
        endpoint = nil
        stub = .never
    }

    /// Creates the state of a call that a ``MoyaProvider`` started.
    init(_ request: Request, urlRequest: URLRequest, endpoint: Endpoint, stub: TargetKit.StubBehavior) {
        self.request = request
        self.urlRequest = urlRequest
        self.endpoint = Unchecked(endpoint)
        self.stub = stub
    }

    /// Whether the ``MoyaProvider`` passes the result to the plugins, on its callback queue.
    var endsOnCallbackQueue: Bool { urlRequest != nil }
}

extension TargetKit.Endpoint {
    /// The parts of an endpoint that aren't in its request, and the request's URL and method.
    init(_ endpoint: Endpoint, request: URLRequest?, isStubbed: Bool) throws {
        guard let url = request?.url ?? URL(escaped: endpoint.url) else {
            throw MoyaError.requestMapping(endpoint.url)
        }
        self.init(
            url: url,
            method: TargetKit.HTTPMethod(rawValue: request?.httpMethod ?? endpoint.method.rawValue),
            task: HTTPTask(endpoint.task, for: url),
            // Reading a sample may access a file.
            sampleResponse: isStubbed ? SampleResponse(endpoint.sampleResponseClosure) : .status(200)
        )
    }
}

extension SampleResponse {
    fileprivate init(_ sample: Endpoint.SampleResponseClosure) {
        switch sample() {
        case .networkResponse(let status, let data): self = .response(status: status, data: data)
        case .response(let head, let data):
            let headers = TargetKit.HTTPHeaders(head.headers.dictionary)
            self = .response(status: head.statusCode, headers: headers, data: data)
        case .networkError(let error): self = .failure(error)
        }
    }
}

extension HTTPTask {
    /// The file, the form and the destination of a task. Parameters and bodies in memory are in the request.
    fileprivate init(_ task: Task, for url: URL) {
        self = .plain
        if let file = task.file { self = upload(file: file) }
        if let parts = task.parts { self = multipart(MultipartForm(parts: parts.map(MultipartForm.Part.init))) }
        if let destination = task.destination { self = download(to: .choosing(destination, for: url)) }
    }
}
