// SPDX-License-Identifier: MIT

extension Call {
    /// Creates the transport's request after checking the changes by closures and plugins.
    ///
    /// - Parameters:
    ///   - original: The request before plugins changed it.
    ///   - body: The body; `nil` for the task's body. The bytes of the request take precedence.
    func transportRequest(
        _ request: URLRequest,
        changedFrom original: URLRequest,
        body: TransportRequest.Body? = nil,
        of resolved: ResolvedRequest
    ) throws -> TransportRequest {
        let endpoint = resolved.endpoint
        let body = try request.httpBody.map(TransportRequest.Body.data) ?? body ?? endpoint.body(of: request)
        // The endpoint already checked a request that no closure or plugin changed.
        let isOriginalChecked = configuration.requestClosure == nil && endpoint.task.driver == nil
        if plugins.prepares || !isOriginalChecked {
            let check = RequestCheck(of: request, hasBody: body.isBody)
            try check.check(request, changedFrom: isOriginalChecked ? original : nil)
        }
        let destination =
            if case .stream(let buffer) = kind { TransportRequest.Destination.stream(buffer: buffer) } else {
                endpoint.task.destination
            }
        return TransportRequest(
            TransportRequest.Fields(
                urlRequest: request,
                body: body,
                destination: destination,
                timeout: try exchangeTimeout(of: request, to: endpoint),
                progress: progress,
                target: context.target,
                secretHeaders: context.secretHeaders,
                // If there are several requests, each identifies itself.
                transferID: endpoint.task.hasSeveralRequests ? nil : context.options.transferID,
                ownerID: plugins.prepares ? context.credentialOwner?.identifier : nil,
                givenHeaders: endpoint.headers,
                maxExpansion: context.options.maxExpansion
            )
        )
    }

    /// The limit of the call, or else of the endpoint or its request, or else of the target or provider.
    private func exchangeTimeout(of request: URLRequest, to endpoint: Endpoint) throws -> Duration? {
        if let timeout { return timeout }
        // `URLRequest` has a default of 60 seconds, so this value means that no limit is set, unless the endpoint has a
        // timeout.
        let seconds = request.timeoutInterval
        if endpoint.timeout == nil, seconds == 60 { return context.options.timeout.exchange }
        guard seconds.isFinite, seconds < 1e9 else { return context.options.timeout.exchange }
        guard seconds > 0 else { throw InvalidRequest.invalidTimeout(.seconds(max(-1e9, seconds))) }
        return .milliseconds(max(1, Int64(seconds * 1000)))
    }
}
