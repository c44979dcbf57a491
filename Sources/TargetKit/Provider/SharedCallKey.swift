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

    private let method: String?
    private let url: URL?
    private let headers: [String: String]
    private let body: Body
    private let destination: TransportRequest.Destination
    /// A call must not fail by the limit of another one, nor outstay its own.
    private let timeout: Duration?
    /// What makes a status an error is part of what is waited for.
    private let validation: StatusValidation

    /// `nil` for a call that cannot be shared: a stream, or a body that nothing can be compared by.
    init?(_ request: TransportRequest, of endpoint: Endpoint, validation: StatusValidation) {
        if case .stream = request.destination { return nil }
        switch request.body {
        case .none: body = .none
        case .data(let data): body = .data(data)
        case .file(let url): body = .file(url)
        case .stream:
            guard case .multipart(let form) = endpoint.task.content else { return nil }
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
