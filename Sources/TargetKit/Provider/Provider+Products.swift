// SPDX-License-Identifier: MIT

extension Provider {
    /// Makes a call whose requests are sent by a driver that its target doesn't name, such as the handshake of a
    /// WebSocket, and waits for its response. A URL with the scheme `ws` or `wss` is requested with `http` or `https`.
    /// Cancelling the surrounding task cancels the call.
    ///
    /// - Parameters:
    ///   - target: The call. A task that has another driver fails with stage `.endpoint`.
    ///   - driver: Sends the requests.
    ///   - options: Override the target's and the provider's options; default: none. The response isn't decoded, so an
    ///     envelope has no effect.
    /// - Throws: ``TargetKitError``.
    public func request(
        _ target: Target,
        by driver: any TransferDriver,
        options: CallOptions = CallOptions()
    ) async throws(TargetKitError) -> Response {
        try await response(of: target, options: options, decoding: nil, driver: driver).get()
    }

    /// Keeps what makes calls of a target again and again in the provider's scope, as
    /// ``CallExchanges/keep(onShutdown:onCancel:)`` does.
    package func keep(
        for target: Target,
        options: CallOptions,
        onShutdown: @escaping @Sendable () -> Void,
        onCancel: @escaping @Sendable () -> Void
    ) -> ScopeEntry? {
        let call = RequestScope.Member(context: context(of: target, options: options), owner: ObjectIdentifier(self))
        return scope.keep(ScopeEntry.Kept(call: call, onShutdown: onShutdown, onCancel: onCancel))
    }
}

extension Provider {
    /// Reads what the plugins at ``PluginPlace/authentication`` and ``PluginPlace/signing`` note in the context when they
    /// prepare a target's request, which isn't sent. Other plugins aren't called, because they may wait.
    ///
    /// - Throws: The error of a plugin, for example of one that can't read the credential.
    package func authenticated<Value: Sendable>(
        _ target: Target,
        options: CallOptions = CallOptions(),
        read: (RequestContext) -> Value
    ) async throws -> Value {
        let (plugins, context) = (configuration.plugins.authenticating, context(of: target, options: options))
        defer {
            let cancelled = TargetKitError(stage: .cancelled, target: context.target, underlying: CancellationError())
            plugins.didFinish(FinishedCall(result: .failure(cancelled), duration: .zero), context: context)
            context.handle.releaseAtEnd()
        }
        _ = try await plugins.prepare(URLRequest(url: target.baseURL), context: context)
        return read(context)
    }
}

extension Provider {
    /// Returns a provider with these closures and options and another transport, without redirects and cookies.
    /// Downloads are received in memory.
    ///
    /// - Parameter plugins: Returns the plugins, out of those of this provider; default: none.
    package func replacing(
        transport: any Transport,
        plugins: ([any Plugin]) -> [any Plugin] = { _ in [] }
    ) -> Provider {
        Provider(
            endpointClosure: { [endpointClosure] target in
                var endpoint = try endpointClosure(target)
                endpoint.task.receiveInMemory()
                return endpoint
            },
            requestClosure: configuration.requestClosure,
            transport: transport,
            plugins: plugins(configuration.plugins.all),
            options: options,
            redirects: .none
        )
    }

    /// The request of an endpoint, before plugins prepare it.
    package func originalRequest(of endpoint: Endpoint) async throws -> URLRequest {
        guard let requestClosure = configuration.requestClosure else { return try endpoint.urlRequest() }
        return try await requestClosure(endpoint)
    }
}
