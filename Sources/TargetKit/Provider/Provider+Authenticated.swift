// SPDX-License-Identifier: MIT

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
        let plugins = configuration.plugins.authenticating
        let options = self.options(options, of: target)
        let context = RequestContext(
            inner: target.innermost,
            scope: scope,
            options: options,
            secretHeaders: plugins.secretHeaders,
            handle: RequestHandle(deadline: options.timeout.deadline(by: configuration.elapsedTime))
        )
        defer {
            let cancelled = TargetKitError(stage: .cancelled, target: context.target, underlying: CancellationError())
            plugins.didFinish(FinishedCall(result: .failure(cancelled), duration: .zero), context: context)
            context.handle.releaseAtEnd()
        }
        _ = try await plugins.prepare(URLRequest(url: target.baseURL), context: context)
        return read(context)
    }
}
