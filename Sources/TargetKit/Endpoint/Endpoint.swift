// SPDX-License-Identifier: MIT

/// A complete description of a call's request. The provider's endpoint closure creates one from a target.
///
/// ```swift
/// let provider = Provider<Catalog>(endpointClosure: { target in
///     var endpoint = try Endpoint(target: target)
///     endpoint.headers["X-App-Version"] = "3.1"
///     return endpoint
/// })
/// ```
public struct Endpoint: Sendable {
    /// The URL, without the query items of ``task``.
    public var url: URL {
        get { address.url }
        set { address = .url(newValue) }
    }
    /// Parses a URL only once, with its query. Parsing takes 5,900 instructions, 4 % of a call over loopback
    /// (`Benchmarks counts`).
    private(set) var address: Address
    /// The method.
    public var method: HTTPMethod
    /// The query, the request body, and the destination of the response body.
    public var task: HTTPTask
    /// The header fields of the call.
    public var headers: HTTPHeaders
    /// The time limit of the exchange; default `nil`, which means the limit in the call's options
    /// (``CallOptions/timeout``).
    public var timeout: Duration?
    /// The response of a stubbed call. A target's sample is evaluated lazily, because it may read a file.
    public var sampleResponse: SampleResponse {
        get {
            switch sample {
            case .of(let target): target.sampleResponse
            case .given(let response): response
            }
        }
        set { sample = .given(newValue) }
    }

    /// The response of a call stubbed for a scenario; the ordinary sample if the target has none for the scenario.
    func sampleResponse(in scenario: String) -> SampleResponse {
        switch sample {
        case .of(let target): target.sampleResponse(in: scenario) ?? target.sampleResponse
        case .given(let response): response
        }
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
        address = .url(url)
        self.method = method
        self.task = task
        self.headers = headers
        self.timeout = timeout
        sample = .given(sampleResponse)
    }

    /// Creates the endpoint of a target.
    ///
    /// - Throws: ``TargetKitError`` with stage `.endpoint` if the base URL and path don't form a valid URL, or the path
    ///   has a `.` or `..` segment.
    public init(target: some TargetType) throws(TargetKitError) {
        do {
            address = try Address(of: target.path, below: target.baseURL)
        } catch {
            throw TargetKitError(stage: .endpoint, target: target.innermost, underlying: error)
        }
        method = target.method
        task = target.task
        headers = target.headers
        timeout = nil
        sample = .of(target)
    }

    /// The URL below which this endpoint has the target's path; `nil` if it has another path.
    func baseURL(of target: some TargetType) -> URL? {
        let path = target.path
        if (try? Address(of: path, below: target.baseURL))?.url == url { return target.baseURL }
        let suffix = "/" + path.escaped.drop { $0 == "/" }
        guard !path.escaped.isEmpty else { return url }
        return url.absoluteString.hasSuffix(suffix)
            ? URL(escaped: String(url.absoluteString.dropLast(suffix.count))) : nil
    }
}

extension Endpoint {
    /// The URL of an endpoint.
    enum Address: Sendable {
        case url(URL)
        /// The text of a valid URL without a query.
        case text(String, below: URL)

        init(of path: RequestPath, below baseURL: URL) throws(InvalidRequest) {
            if let text = path.plainText(below: baseURL) {
                self = .text(text, below: baseURL)
            } else {
                self = .url(try path.url(below: baseURL))
            }
        }

        var url: URL {
            switch self {
            case .url(let url): url
            case .text(let text, let baseURL): URL(escaped: text) ?? baseURL
            }
        }

        /// The URL with a query appended to its own.
        func url(escapedQuery query: String) throws(InvalidRequest) -> URL {
            let whole: URL?
            switch self {
            case .url(let url): whole = url.appending(escapedQuery: query)
            case .text(var text, _):
                text.reserveCapacity(text.utf8.count + 1 + query.utf8.count)
                if !query.isEmpty { text += "?" }
                text += query
                whole = URL(escaped: text)
            }
            guard let whole else { throw .unreadableURL(url.absoluteString) }
            return whole
        }
    }
}

extension Endpoint: RedactedDescription {
    /// The method, URL and task, with secrets redacted.
    var redactedDescription: String { "\(method) \(RedactedURL(url)), \(task)".inOneLine }
}
