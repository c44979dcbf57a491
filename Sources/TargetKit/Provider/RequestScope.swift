// SPDX-License-Identifier: MIT

/// The calls that belong together, of any number of providers: those of an app, a session, a screen.
///
/// ```swift
/// let scope = RequestScope()
/// let catalog = Provider<Catalog>(scope: scope)
/// let orders = Provider<Orders>(scope: scope)
/// scope.cancelAll()                              // both
/// ```
public final class RequestScope: Sendable {
    private struct Call: Sendable {
        let context: RequestContext
        let owner: ObjectIdentifier
        let handle: RequestHandle
    }

    private let calls = Locked<[RequestContext.ID: Call]>([:])

    /// A scope without calls.
    public init() {}

    /// The number of calls that have started and have not ended.
    public var inFlightCount: Int { calls.withLock(\.count) }

    /// Cancels every call in flight. Each ends with an error of stage `.cancelled`; this does not wait for it.
    public func cancelAll() {
        cancelAll { _ in true }
    }

    /// Cancels every call in flight for which the closure says so.
    ///
    /// - Parameter isMeant: Sees each call as its plugins do at the first attempt.
    public func cancelAll(where isMeant: (RequestContext) -> Bool) {
        let calls = self.calls.withLock { Array($0.values) }
        for call in calls where isMeant(call.context) { call.handle.cancel() }
    }

    /// Cancels the calls of one provider.
    func cancelAll(ownedBy owner: AnyObject) {
        let calls = self.calls.withLock { Array($0.values) }
        for call in calls where call.owner == ObjectIdentifier(owner) { call.handle.cancel() }
    }

    func insert(_ context: RequestContext, owner: AnyObject, handle: RequestHandle) {
        let call = Call(context: context, owner: ObjectIdentifier(owner), handle: handle)
        calls.withLock { $0[context.id] = call }
    }

    func remove(_ id: RequestContext.ID) {
        calls.withLock { _ = $0.removeValue(forKey: id) }
    }
}
