// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension TransportRequest {
    /// What the transport is asked to do, after a last look at what closures and plugins have made of the request.
    init(_ request: URLRequest, _ endpoint: Endpoint, _ call: ProviderCall) throws {
        try self.init(checked: request, endpoint, call)
        let hasBody = if case .none = body { false } else { true }
        try RequestCheck(of: request, hasBody: hasBody).check(request)
    }

    /// The same for a request that is as its endpoint has made it, and so has been looked at already.
    init(checked request: URLRequest, _ endpoint: Endpoint, _ call: ProviderCall) throws {
        var destination = endpoint.task.destination
        if case .stream(let buffer) = call.plan.delivery {
            if case .file = destination { throw InvalidRequest.streamedDownload }
            destination = .stream(buffer: buffer)
        }
        if case .file(let file) = destination { try PendingDownload.check(file) }
        self.init(
            urlRequest: request,
            body: try endpoint.body(of: request),
            destination: destination,
            timeout: try call.plan.exchangeOfCall ?? endpoint.transportTimeout(of: request)
                ?? call.plan.timeout.exchange,
            progress: call.progress
        )
    }
}

extension Endpoint {
    /// `URLRequest` has no word for "the transport's own limits": its 60 seconds mean that, unless the endpoint names a time.
    fileprivate func transportTimeout(of request: URLRequest) throws -> Duration? {
        let seconds = request.timeoutInterval
        if timeout == nil, seconds == 60 { return nil }
        guard seconds.isFinite, seconds < 1e9 else { return nil }
        guard seconds > 0 else { throw InvalidRequest.invalidTimeout(.seconds(seconds)) }
        return .milliseconds(max(1, Int64(seconds * 1000)))
    }
}
