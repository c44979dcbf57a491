// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What has to be equal for two calls to share one network call.
struct SharedCallKey: Hashable {
    private enum Body: Hashable {
        case none
        case data(Data)
        case file(URL)
        case form(MultipartForm)
    }

    /// The responder: a stubbed call never shares with a real one, or with one that has another sample.
    private enum Answer: Hashable {
        case transport
        case sample(StubBehavior, status: Int, headers: HTTPHeaders, data: Data)
    }

    private let answer: Answer
    private let method: String?
    private let url: URL?
    private let headers: [String: String]
    private let body: Body
    private let destination: TransportRequest.Destination
    /// A call must not fail by the limit of another one, nor outstay its own.
    private let timeout: Duration?
    /// What makes a status an error is part of what is waited for.
    private let validation: StatusValidation

    /// `nil` for a call that cannot be shared: a stream, or one whose body or sample cannot be compared.
    init?(_ request: TransportRequest, of aim: Pipeline.Aim, validation: StatusValidation) {
        if case .stream = request.destination { return nil }
        if aim.stub == .never {
            answer = .transport
        } else {
            guard case .response(let status, let headers, let data) = aim.endpoint.sampleResponse else { return nil }
            answer = .sample(aim.stub, status: status, headers: headers, data: data)
        }
        switch request.body {
        case .none: body = .none
        case .data(let data): body = .data(data)
        case .file(let url): body = .file(url)
        case .stream:
            guard case .multipart(let form) = aim.endpoint.task.content else { return nil }
            body = .form(form)
        }
        method = request.urlRequest.httpMethod
        url = request.urlRequest.url
        headers = request.urlRequest.allHTTPHeaderFields ?? [:]
        destination = request.destination
        timeout = request.timeout
        self.validation = validation
    }
}
