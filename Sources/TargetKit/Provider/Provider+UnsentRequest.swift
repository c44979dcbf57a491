// SPDX-License-Identifier: MIT

/// The request of a call that isn't sent, and its endpoint.
package struct UnsentRequest: Sendable {
    package let endpoint: Endpoint
    package let request: TransportRequest
}

extension Provider {
    /// Builds the request of a target without sending it: closures → plugins' `prepare`, signatures last → plugins'
    /// `exchange`.
    ///
    /// Nothing is sent, shared, retried or counted by the scope. Plugins whose place counts, delays, admits or observes
    /// calls aren't called. For the other plugins, `didFinish` receives a cancellation.
    ///
    /// - Parameter hasPlugins: Whether the plugins prepare the request; default `true`.
    package func unsentRequest(
        of target: Target,
        options: CallOptions = CallOptions(),
        hasPlugins: Bool = true
    ) async throws(TargetKitError) -> UnsentRequest {
        let plugins = hasPlugins ? configuration.plugins.withoutObservers() : PluginChain([])
        let call = unsentCall(of: target, options: options, plugins: plugins)
        defer { call.endUnsent() }
        do {
            return try await call.unsentRequest {
                let endpoint = try endpoint(of: target, options: call.context.options)
                return ResolvedTarget(endpoint: endpoint, stub: .never, timeout: options.timeout.exchange)
            }
        } catch {
            throw call.mapped(call.failure(error, at: .request))
        }
    }

    /// Reads what the plugins at ``PluginPlace/authentication`` and ``PluginPlace/signing`` note in the context when they
    /// prepare a target's request, which isn't sent. Other plugins aren't called, because they may wait.
    ///
    /// - Throws: The error of a plugin, for example of one that can't read the credential.
    package func authenticated<Value: Sendable>(
        _ target: Target,
        options: CallOptions = CallOptions(),
        read: (RequestContext) -> Value
    ) async throws -> Value {
        let plugins = configuration.plugins.authenticating
        let call = unsentCall(of: target, options: options, plugins: plugins)
        defer { call.endUnsent() }
        let request = try await plugins.prepare(URLRequest(url: target.baseURL), context: call.context)
        _ = try await plugins.sign(request, context: call.context)
        return read(call.context)
    }

    private func unsentCall(of target: Target, options: CallOptions, plugins: PluginChain) -> Call {
        let all = self.options(options, of: target)
        let context = RequestContext(
            inner: target.innermost,
            scope: scope,
            options: all,
            secretHeaders: plugins.secretHeaders,
            handle: RequestHandle(deadline: all.timeout.deadline(by: configuration.elapsedTime))
        )
        return Call(.response, in: context, configuration, plugins: plugins)
    }

    /// Returns a provider with these closures and options and another transport, without plugins, redirects and
    /// cookies. Downloads are received in memory.
    package func replacing(transport: any Transport) -> Provider {
        Provider(
            endpointClosure: { [endpointClosure] target in
                var endpoint = try endpointClosure(target)
                endpoint.task.receiveInMemory()
                return endpoint
            },
            requestClosure: configuration.requestClosure,
            transport: transport,
            options: options,
            redirects: .none
        )
    }
}

extension Provider {
    /// The request of an endpoint, before plugins prepare it.
    package func originalRequest(of endpoint: Endpoint) async throws -> URLRequest {
        guard let requestClosure = configuration.requestClosure else { return try endpoint.urlRequest() }
        return try await requestClosure(endpoint)
    }
}

extension Call {
    fileprivate func unsentRequest(_ resolve: () throws -> ResolvedTarget) async throws -> UnsentRequest {
        let target = try resolved(resolve)
        let original =
            if let requestClosure = configuration.requestClosure {
                try await originalRequest(of: target, by: requestClosure)
            } else {
                try originalRequest(of: target)
            }
        let prepared = try await prepare(original, to: target, in: context)
        let signed = try await signed(prepared, to: target, context)
        return UnsentRequest(endpoint: target.endpoint, request: try await passed(signed, to: target))
    }

    /// The request that the plugins pass to the transport.
    private func passed(_ request: TransportRequest, to target: ResolvedTarget) async throws -> TransportRequest {
        guard plugins.exchanges else { return request }
        let result = Locked<TransportRequest?>(nil)
        let chain = ExchangeChain(call: self, target: target, context: context, end: .request(result))
        do {
            _ = try await chain.response(to: request, from: 0)
        } catch {
            guard result.withLock(\.self) != nil else { throw error }
        }
        return result.withLock(\.self) ?? request
    }

    fileprivate func endUnsent() {
        let cancelled = TargetKitError(stage: .cancelled, target: context.target, underlying: CancellationError())
        plugins.didFinish(FinishedCall(result: .failure(cancelled), duration: .zero), context: context)
        handle.releaseAtEnd()
    }

    fileprivate func mapped(_ error: TargetKitError) -> TargetKitError {
        if case .failure(let error) = mapped(.failure(error)) { error } else { error }
    }
}
