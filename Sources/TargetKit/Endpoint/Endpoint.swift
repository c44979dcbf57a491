// SPDX-License-Identifier: MIT
import Foundation

/// A call with nothing left open: where it goes, how, with what. The provider's endpoint closure makes one from a target.
///
/// ```swift
/// let provider = Provider<Catalog>(endpointClosure: { target in
///     try Endpoint(target: target).adding(headers: ["X-App-Version": "3.1"])
/// })
/// ```
///
/// Two endpoints are equal when method, URL, header fields and body are: what goes out is the same. Timeout, destination and
/// sample do not count.
public struct Endpoint: Sendable {
    /// The URL without what ``task`` adds to its query.
    public var url: URL
    /// The method.
    public var method: HTTPMethod
    /// What goes out in query and body, and where the response's body goes.
    public var task: HTTPTask
    /// Header fields of the call.
    public var headers: HTTPHeaders
    /// How long the exchange may take; default `nil`: as the options of the call set it (``CallOptions/timeout``).
    public var timeout: Duration?
    /// What a stubbed call answers with. That of a target is asked for when it is needed: it may read a file.
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

    /// An endpoint made by hand.
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

    /// The endpoint of a target: its path below its base URL, everything else as the target says.
    ///
    /// - Throws: ``TargetKitError`` of stage `.endpoint` when path and base URL make no URL, or the path has a segment `.`
    ///   or `..`.
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

    /// This endpoint with those header fields set over its own.
    public func adding(headers: HTTPHeaders) -> Endpoint {
        var endpoint = self
        endpoint.headers = self.headers.merging(headers)
        return endpoint
    }

    /// This endpoint with another task.
    public func replacing(task: HTTPTask) -> Endpoint {
        var endpoint = self
        endpoint.task = task
        return endpoint
    }
}

extension Endpoint: Hashable {
    /// Whether both send the same: method, URL, header fields and body.
    public static func == (left: Self, right: Self) -> Bool {
        left.method == right.method && left.fingerprint == right.fingerprint
    }

    /// Feeds method, URL, header fields and body.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(fingerprint)
    }
}

extension Endpoint: ReflectsDescription {
    /// The method, URL and task, with secrets redacted.
    public var description: String { "\(method) \(RedactedURL(url)), \(task)".inOneLine }
}
