// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Call {
    /// Creates the transport's request after checking what closures and plugins have changed.
    func transportRequest(_ prepared: URLRequest, to target: Resolved) throws -> TransportRequest {
        let (endpoint, step) = (target.endpoint, target.step)
        let request = step?.restricted(prepared, secretNames: context.secretHeaders) ?? prepared
        let body = try step?.body(of: request, endpoint) ?? endpoint.body(of: request)
        // A request that no closure or plugin has changed was checked by its endpoint.
        if plugins.prepares || plugins.signs || configuration.requestClosure != nil {
            try RequestCheck(of: request, hasBody: body.isBody).check(request)
        }
        var transportRequest = TransportRequest(
            of: context,
            urlRequest: request,
            givenHeaders: endpoint.headers,
            body: body,
            destination: try destination(of: endpoint.task),
            download: endpoint.task.download,
            timeout: try exchangeTimeout(of: request, endpoint),
            // A resumable transfer sends several requests, each of which is identified by itself.
            transferID: step == nil && endpoint.task.download?.isResumable != true ? context.options.transferID : nil,
            progress: step.map { $0.progress(progress) } ?? progress
        )
        if step?.isCrossOrigin == true { transportRequest.isCrossOrigin = true }
        return transportRequest
    }

    private func destination(of task: HTTPTask) throws -> TransportRequest.Destination {
        guard let download = task.download else {
            if case .stream(let buffer) = delivery { return .stream(buffer: buffer) }
            return task.destination
        }
        if delivery.isStream { throw InvalidRequest.streamedDownload }
        try DownloadPlace(download).check()
        // Replaced by the part's for the exchange.
        return .memory()
    }

    /// The call's limit, else that of the endpoint or its request, else that of the target or provider.
    private func exchangeTimeout(of request: URLRequest, _ endpoint: Endpoint) throws -> Duration? {
        if let exchangeTimeout { return exchangeTimeout }
        // 60 seconds is the default of `URLRequest`, so it stands for "no limit set" unless the endpoint has a timeout.
        let seconds = request.timeoutInterval
        if endpoint.timeout == nil, seconds == 60 { return context.options.timeout.exchange }
        guard seconds.isFinite, seconds < 1e9 else { return context.options.timeout.exchange }
        guard seconds > 0 else { throw InvalidRequest.invalidTimeout(.seconds(seconds)) }
        return .milliseconds(max(1, Int64(seconds * 1000)))
    }
}
