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
        let result = await withTaskCancellationHandler {
            let task = Task.startingNow {
                await call.trackedByTestClock {
                    await self.run(call, of: target, by: driver, timeout: options.timeout.exchange)
                }
            }
            call.handle.attach(task)
            return await task.value
        } onCancel: {
            call.handle.cancel()
        }
        end(call, result: result)
        return try result.get()
    }

    private func run(
        _ call: Call,
        of target: Target,
        by driver: any TransferDriver,
        timeout: Duration?
    ) async -> Result<Response, TargetKitError> {
        let limit = startTimeout(of: call)
        defer { limit?.cancel() }
        return await call.run {
            var endpoint = try endpoint(of: target, options: call.context.options)
            endpoint.task = endpoint.task.driver(driver)
            if let url = endpoint.url.ofHandshake { endpoint.url = url }
            return ResolvedTarget(endpoint: endpoint, stub: stubClosure(target), timeout: timeout)
        }
    }
}
