// SPDX-License-Identifier: MIT

/// The steps from the target to the request that a transport sends.
extension Call {
    /// Resolves the target into the request from which each attempt starts.
    @inline(never)
    func resolved(
        _ makeEndpoint: () throws -> (endpoint: Endpoint, stub: StubBehavior)
    ) throws(TargetKitError) -> ResolvedRequest {
        let (endpoint, stub) = try endpoint(makeEndpoint)
        do {
            return try checked(try endpoint.urlRequest(), of: endpoint, stub: stub)
        } catch {
            throw failure(error, at: .request)
        }
    }

    /// Resolves the target with the provider's request closure.
    func resolvedByClosure(
        _ makeEndpoint: () throws -> (endpoint: Endpoint, stub: StubBehavior)
    ) async throws(TargetKitError) -> ResolvedRequest {
        let (endpoint, stub) = try endpoint(makeEndpoint)
        do {
            let request = try await configuration.requestClosure?(endpoint)
            return try checked(try request ?? endpoint.urlRequest(), of: endpoint, stub: stub)
        } catch {
            throw failure(error, at: .request)
        }
    }

    private func endpoint(
        _ makeEndpoint: () throws -> (endpoint: Endpoint, stub: StubBehavior)
    ) throws(TargetKitError) -> (Endpoint, StubBehavior) {
        do {
            try checkInterruption()
            if let type = plugins.repeatedType { throw InvalidRequest.twoPlugins(type: type) }
            return try makeEndpoint()
        } catch {
            throw failure(error, at: .endpoint)
        }
    }

    private func checked(_ request: URLRequest, of endpoint: Endpoint, stub: StubBehavior) throws -> ResolvedRequest {
        // Encoding a body can take a long time.
        try checkInterruption()
        let options = context.options
        if options.isEmpty { return ResolvedRequest(request, of: endpoint, stub: stub) }
        try options.timeout.check()
        var request = request
        request.apply(options)
        return ResolvedRequest(request, of: endpoint, stub: stub)
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
        restriction: (@Sendable (URLRequest) -> URLRequest)? = nil,
        in context: RequestContext
    ) async throws(TargetKitError) -> TransportRequest {
        do {
            var request = original
            if plugins.hasPrepare {
                request = try await hook { [plugins] in try await plugins.prepare(original, context: context) }
                try checkInterruption()
            }
            if let restriction { request = restriction(request) }
            let prepared = try transportRequest(request, body: body, of: resolved)
            if !plugins.isEmpty { context.handle.prepared = prepared }
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
        // At most about 256 KiB of a stream wait for the reader.
        let destination =
            kind == .stream ? TransportRequest.Destination.stream(buffer: 256 << 10) : endpoint.task.destination
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
