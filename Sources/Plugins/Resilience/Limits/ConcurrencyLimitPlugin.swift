// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Limits how many calls to a server are in flight at the same time. Other calls wait for their turn.
///
/// ```swift
/// let provider = Provider<Photos>(plugins: [ConcurrencyLimitPlugin(4)])
/// ```
///
/// - A request counts from when it is about to be sent until its attempt has ended; a stream until the end of its body.
///   A call that waits for the network, a token or a retry doesn't count, nor does one that shares an exchange or gets
///   a stored response.
/// - The most urgent call is sent first, by the priority of its task (`Task(priority:)`), and of these the one that has
///   waited longest. Every eighth turn goes to the call that has waited longest of all.
/// - A waiting call can be cancelled, and its `CallTimeout.wholeCall` includes the wait.
/// - A refresh of an ``AuthenticationPlugin`` and a call that the closure of a ``RequestSigningPlugin`` makes neither
///   wait nor count, because the call that waits for them may hold the last slot.
///
/// A stream holds its slot until its body ends, so code that makes other calls while it reads a stream can wait for
/// itself. Return `nil` as the key of long streams.
///
/// One plugin can be used by any number of providers; its copies share their limits.
public struct ConcurrencyLimitPlugin: Plugin {
    private let key: @Sendable (URLRequest, any TargetType) -> String?
    private let limits: ConcurrencyLimits
    private let permits = PluginStorage<Permit<String>>()

    /// Creates a plugin.
    ///
    /// - Parameters:
    ///   - limit: How many calls with the same key are in flight at most; at least 1.
    ///   - key: Which calls are limited together; `nil`: the call isn't limited. Default: those to one server, by
    ///     scheme, host and port.
    public init(_ limit: Int, key: (@Sendable (URLRequest, any TargetType) -> String?)? = nil) {
        self.key = key ?? { request, _ in request.url.flatMap(ServerOrigin.init)?.description }
        limits = ConcurrencyLimits(limit)
    }

    /// Just before `PluginPlace.signing`.
    public var place: PluginPlace { .concurrencyLimit }

    /// The hooks that it implements.
    public var hooks: PluginHooks { [.exchange, .didReceive, .waiting] }

    /// The number of keys with calls in flight, and of calls that wait.
    package var counts: (keys: Int, waiting: Int) { limits.counts }

    /// Waits for the call's turn.
    ///
    /// - Throws: `CancellationError`.
    public func exchange(
        _ request: TransportRequest,
        context: RequestContext,
        next: Exchange
    ) async throws -> TransportResponse {
        let isLimited = RefreshTask.current.isEmpty && !SigningTask.isRunning
        let key = isLimited ? key(request.urlRequest, context.target) : nil
        // The body of a stream may still be open when the call is retried.
        if key == nil || context[permits]?.value != key {
            context[permits] = nil
            if let key {
                try await limits.wait(for: key)
                // Stored at once: it is released with the context.
                context[permits] = Permit(key) { [limits] key, _ in limits.release(key) }
            }
        }
        return try await next(request)
    }

    /// Lets the next call be sent, unless the body of a stream is still to come.
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

    /// Takes a slot, as soon as one is free.
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
    /// Servers that aren't called take no memory.
    fileprivate mutating func removeIfUnused(_ key: String) {
        if let entry = self[key], entry.inFlight == 0, entry.waiting.isIdle { self[key] = nil }
    }
}
