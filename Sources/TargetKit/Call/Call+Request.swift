// SPDX-License-Identifier: MIT

/// The steps from the target to the request that a transport sends.
extension Call {
    /// Resolves the target into the request from which each attempt starts.
    @inline(__always)
    func resolved(
        _ makeEndpoint: () throws -> (endpoint: Endpoint, stub: StubBehavior)
    ) async throws(TargetKitError) -> ResolvedRequest {
        var stage = TargetKitError.Stage.endpoint
        do {
            try checkInterruption()
            if let type = plugins.repeatedType { throw InvalidRequest.twoPlugins(type: type) }
            let (endpoint, stub) = try makeEndpoint()
            stage = .request
            var request = try await configuration.requestClosure?(endpoint) ?? endpoint.urlRequest()
            // Encoding a body can take a long time.
            try checkInterruption()
            if !context.options.isEmpty {
                try context.options.timeout.check()
                request.apply(context.options)
            }
            return ResolvedRequest(request, of: endpoint, stub: stub)
        } catch {
            throw failure(error, at: stage)
        }
    }

    /// Returns a request after the plugins' `prepare`.
    ///
    /// - Parameters:
    ///   - body: The body; `nil` for the task's body. The bytes of the request take precedence.
    ///   - restriction: Removes fields added by plugins that must not be sent with this request.
    /// - Throws: An error that isn't retried.
    func prepare(
        _ original: URLRequest,
        body: TransportRequest.Body? = nil,
        of resolved: ResolvedRequest,
        restriction: (@Sendable (URLRequest) -> URLRequest)? = nil
    ) async throws(TargetKitError) -> TransportRequest {
        do {
            var request = original
            if plugins.hasPrepare {
                request = try await hook { [plugins, context = context.ofLastAttempt] in
                    try await plugins.prepare(original, context: context)
                }
                try checkInterruption()
            }
            if let restriction { request = restriction(request) }
            let prepared = try transportRequest(request, body: body, of: resolved)
            if !plugins.isEmpty { handle.prepared = prepared }
            return prepared
        } catch {
            var failure = failure(error, at: .request, request: original)
            failure.mark(.final)
            throw failure
        }
    }

    /// Creates the transport's request after checking the changes by closures and plugins.
    ///
    /// - Parameter body: The body; `nil` for the task's body. The bytes of the request take precedence.
    func transportRequest(
        _ request: URLRequest,
        body: TransportRequest.Body? = nil,
        of resolved: ResolvedRequest
    ) throws -> TransportRequest {
        let endpoint = resolved.endpoint
        let body = try request.httpBody.map(TransportRequest.Body.data) ?? body ?? endpoint.body(of: request)
        // The endpoint already checked a request that no closure or plugin changed.
        if plugins.hasPrepare || configuration.requestClosure != nil || endpoint.task.driver != nil {
            try RequestCheck.check(request, hasBody: body.isBody)
        }
        let destination =
            kind == .stream ? TransportRequest.Destination.stream(buffer: Self.streamBuffer) : endpoint.task.destination
        return TransportRequest(
            TransportRequest.Fields(
                urlRequest: request,
                body: body,
                destination: destination,
                timeout: try timeout(of: request, to: endpoint),
                progress: progress,
                target: context.target,
                secretHeaders: context.secretHeaders,
                // If there are several requests, each identifies itself.
                transferID: endpoint.task.hasSeveralRequests ? nil : context.options.transferID,
                ownerID: plugins.hasPrepare ? context.credentialOwner?.identifier : nil,
                givenHeaders: endpoint.headers,
                maxExpansion: context.options.maxExpansion
            )
        )
    }

    /// The limit of the call, or else of the endpoint or its request, or else of the target or provider.
    private func timeout(of request: URLRequest, to endpoint: Endpoint) throws -> Duration? {
        if let exchangeTimeout { return exchangeTimeout }
        // `URLRequest` has a default of 60 seconds, so this value means that no limit is set, unless the endpoint has a
        // timeout.
        let seconds = request.timeoutInterval
        if endpoint.timeout == nil, seconds == 60 { return context.options.timeout.exchange }
        guard seconds.isFinite, seconds < 1e9 else { return context.options.timeout.exchange }
        guard seconds > 0 else { throw InvalidRequest.invalidTimeout(.seconds(max(-1e9, seconds))) }
        return .milliseconds(max(1, Int64(seconds * 1000)))
    }
}
