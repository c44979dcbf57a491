// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// Limits the number of calls to a server that are in flight at the same time. Other calls wait.
///
/// ```swift
/// let provider = Provider<Photos>(plugins: [ConcurrencyLimitPlugin(4)])
/// ```
///
/// - A request counts from just before it is sent until the end of its attempt; a stream, until the end of its body.
///   Calls that wait for the network, a token or a retry don't count, nor do calls that share an exchange or return a
///   cached response.
/// - The call with the highest task priority (`Task(priority:)`) is sent first, and among equal priorities, the one
///   that has waited longest. Every eighth call is the one that has waited longest of all.
/// - A waiting call can be cancelled, and its `CallTimeout.wholeCall` includes the wait.
/// - Refreshes of an `AuthenticationPlugin` and calls in the closure of a `RequestSigningPlugin` neither wait nor
///   count, because the call that waits for them may hold the last slot.
///
/// A stream holds its slot until its body ends, so code that makes other calls while it reads a stream can deadlock.
/// Return `nil` as the key of long streams.
///
/// Several providers can use the same plugin. Copies share the limits.
public struct ConcurrencyLimitPlugin: Plugin {
    private let key: @Sendable (URLRequest, any TargetType) -> String?
    private let limits: ConcurrencyLimits
    private let permits = PluginStorage<Permit<String>>()

    /// Creates a plugin.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of calls in flight with the same key, at least 1.
    ///   - key: Returns the key by which calls are limited; `nil` for calls without a limit. Default: the server's
    ///     scheme, host and port.
    public init(_ limit: Int, key: (@Sendable (URLRequest, any TargetType) -> String?)? = nil) {
        self.key = key ?? { request, _ in request.url.flatMap(ServerOrigin.init)?.description }
        limits = ConcurrencyLimits(limit)
    }

    /// The place just before `PluginPlace.signing`.
    public var place: PluginPlace { .concurrencyLimit }

    /// The hooks that the plugin implements.
    public var hooks: PluginHooks { [.exchange, .didReceive] }

    /// The number of keys with calls in flight, and the number of waiting calls.
    package var counts: (keys: Int, waiting: Int) { limits.counts }

    /// Waits for the call's turn.
    ///
    /// - Throws: `CancellationError`.
    public func exchange(
        _ request: TransportRequest,
        context: RequestContext,
        next: Exchange
    ) async throws -> TransportResponse {
        let isLimited = !RefreshTask.isCurrent && !SigningTask.isRunning
        let key = isLimited ? key(request.urlRequest, context.target) : nil
        // The body of a stream may still be open when the call is retried.
        if key == nil || context[permits]?.value != key {
            context[permits] = nil
            if let key {
                try await limits.wait(for: key)
                // Stored immediately, so that it is released with the context.
                context[permits] = Permit(key) { [limits] key, _ in limits.release(key) }
            }
        }
        return try await next(request)
    }

    /// Sends the next call, unless the body of a stream is still open.
    public func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        if case .success(let response) = result, response.isStream { return }
        context[permits] = nil
    }
}

/// The calls in flight and the waiting calls of each key.
private final class ConcurrencyLimits: Sendable {
    fileprivate struct Entry: Sendable {
        var inFlight = 0
        var waiting = WaitingCalls()
    }

    private let limit: Int
    private let entries = Locked<[String: Entry]>([:])

    init(_ limit: Int) {
        self.limit = max(limit, 1)
    }

    var counts: (keys: Int, waiting: Int) {
        entries.withLock { entries in (entries.count, entries.values.reduce(0) { $0 + $1.waiting.count }) }
    }

    /// Waits until a slot is free, and takes it.
    func wait(for key: String) async throws {
        let priority = Task.currentPriority
        let id = entries.withLock { entries -> WaitingCalls.ID? in
            if entries[key, default: Entry()].inFlight < limit {
                entries[key, default: Entry()].inFlight += 1
                return nil
            }
            return entries[key, default: Entry()].waiting.add(priority)
        }
        guard let id else { return }
        try await WaitingCalls.wait { continuation in
            entries.withLock { entries in
                defer { entries.removeIfUnused(key) }
                return entries[key, default: Entry()].waiting.suspend(id, continuation: continuation)
            }
        } cancel: { [entries] in
            entries.withLock { $0[key]?.waiting.cancel(id) }
        }
    }

    /// Passes a slot to the next call, or returns it.
    func release(_ key: String) {
        let turn = entries.withLock { entries -> WaitingCalls.Turn? in
            if let turn = entries[key]?.waiting.next() { return turn }
            entries[key]?.inFlight -= 1
            entries.removeIfUnused(key)
            return nil
        }
        turn?.begin()
    }
}

extension [String: ConcurrencyLimits.Entry] {
    /// Removes the entry of a server without calls, so that it uses no memory.
    fileprivate mutating func removeIfUnused(_ key: String) {
        if let entry = self[key], entry.inFlight == 0, entry.waiting.isIdle { self[key] = nil }
    }
}
