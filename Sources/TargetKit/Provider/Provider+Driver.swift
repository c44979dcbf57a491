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
        let call = begin(target, options: options)
        let result = await result(of: call) {
            await call.run {
                var (endpoint, stub) = try self.makeEndpoint(of: target, for: call)
                endpoint.task = endpoint.task.driver(driver)
                if let url = endpoint.url.ofHandshake { endpoint.url = url }
                return (endpoint, stub)
            }
        }
        return try result.get()
    }

    /// Keeps what makes calls of a target again and again in the provider's scope, as
    /// ``CallExchanges/keep(onShutdown:onCancel:)`` does.
    package func keep(
        for target: Target,
        options: CallOptions,
        onShutdown: @escaping @Sendable () -> Void,
        onCancel: @escaping @Sendable () -> Void
    ) -> ScopeEntry? {
        let handle = RequestHandle()
        let context = RequestContext(
            inner: target.innermost,
            scope: scope,
            options: self.options(options, of: target),
            secretHeaders: [],
            handle: handle
        )
        let call = RequestScope.Call(context: context, owner: ObjectIdentifier(self), handle: handle)
        return scope.keep(ScopeEntry.Kept(call: call, onShutdown: onShutdown, onCancel: onCancel))
    }
}
