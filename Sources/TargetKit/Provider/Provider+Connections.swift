// SPDX-License-Identifier: MIT

extension Provider {
    /// Keeps what opens connections again and again in the provider's scope, as
    /// ``CallExchanges/keepConnection(end:)`` does.
    package func keepConnection(
        to target: Target,
        end: @escaping @Sendable (ConnectionEnd) -> Void
    ) -> ScopedConnection? {
        let handle = RequestHandle()
        let context = RequestContext(
            inner: target.innermost,
            scope: scope,
            options: options(CallOptions(), of: target),
            secretHeaders: [],
            handle: handle
        )
        let call = RequestScope.Call(context: context, owner: ObjectIdentifier(self), handle: handle)
        return scope.insertConnection(of: call, end: end)
    }
}
