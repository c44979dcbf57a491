// SPDX-License-Identifier: MIT

/// The properties that must be equal for two calls to share an exchange.
struct SharedExchangeKey: Hashable {
    private enum Body: Hashable {
        case none
        case data(Data)
        case file(URL)
        case form(MultipartForm)
    }

    /// A stubbed call never shares with a real call, or with a call that has a different sample.
    private enum Responder: Hashable {
        case transport
        case sample(StubBehavior, delay: Duration, status: Int, headers: HTTPHeaders, data: Data)
    }

    private let responder: Responder
    private let method: String?
    private let url: URL?
    private let headers: [String: String]
    private let body: Body
    private let limit: Int
    /// Calls with different timeouts don't share, because each must respect its own.
    private let timeout: Duration?
    private let refusedNetworks: RefusedNetworks
    private let followsRedirects: Bool
    /// The way in which a cache responds to the exchange.
    private let cachePolicy: URLRequest.CachePolicy
    /// The validation decides whether a status is an error, so it is part of the result.
    private let validation: StatusValidation

    /// Returns `nil` for a call that can't be shared: one whose response doesn't go to memory, or whose body or sample
    /// can't be compared.
    init?(_ request: TransportRequest, of resolved: ResolvedRequest, _ context: RequestContext) {
        guard case .memory(let limit) = request.destination else { return nil }
        self.limit = limit
        if !resolved.isStubbed {
            responder = .transport
        } else {
            let sample =
                if case .scenario(let name) = resolved.stub { resolved.endpoint.sampleResponse(in: name) } else {
                    resolved.endpoint.sampleResponse
                }
            let (delay, result) = sample.withDelay
            guard case .response(let status, let headers, let data) = result else { return nil }
            responder = .sample(resolved.stub, delay: delay, status: status, headers: headers, data: data)
        }
        switch request.body {
        case .none: body = .none
        case .data(let data): body = .data(data)
        case .file(let url): body = .file(url)
        case .stream:
            // Comparing the app's body sources would run its code under a lock.
            guard case .multipart(let form) = resolved.endpoint.task.content, !form.hasSources else { return nil }
            body = .form(form)
        }
        let urlRequest = request.urlRequest
        method = urlRequest.httpMethod
        url = urlRequest.url
        // The identifiers of a trace (W3C Trace Context) don't change the response.
        headers = (urlRequest.allHTTPHeaderFields ?? [:]).filter {
            !["traceparent", "tracestate"].contains($0.key.lowercased())
        }
        timeout = request.timeout
        refusedNetworks = context.options.refusedNetworks
        followsRedirects = context.options.followsRedirects
        cachePolicy = urlRequest.cachePolicy
        validation = context.target.validation
    }
}
