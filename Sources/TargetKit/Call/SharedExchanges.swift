// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The shared exchanges of a provider that are in flight.
///
/// An exchange is a call of its own, in its own task. It is cancelled when the last call that waits for it is
/// cancelled. Joining and leaving take the same lock, so a call cannot join an exchange whose last waiter has left.
final class SharedExchanges: Sendable {
    private typealias Outcome = Result<Response, TargetKitError>
    private typealias ID = UInt64
    private typealias Continuation = UnsafeContinuation<Outcome?, Never>
    typealias Progress = @Sendable (TransferProgress) -> Void

    private enum Waiter: Sendable {
        /// The call has joined and is not suspended yet.
        case joined
        case waiting(Continuation)
    }

    private struct Exchange: Sendable {
        let key: SharedExchangeKey
        let handle: RequestHandle
        var priority: TaskPriority
        var waiters: [RequestContext.ID: Waiter]
        var listeners: [RequestContext.ID: Progress] = [:]
        /// The latest step of each direction, for a call that joins later.
        var latest: [TransferProgress.Direction: TransferProgress] = [:]
        /// The result, for waiters that have joined and are not suspended yet.
        var outcome: Outcome?
    }

    private struct Table: Sendable {
        var exchanges: [ID: Exchange] = [:]
        var byKey: [SharedExchangeKey: ID] = [:]
        /// The last exchange number. A call's own number would not be unique: a retried call can begin a second
        /// exchange while the first still delivers its result.
        var lastID: ID = 0

        mutating func remove(_ id: ID) -> Exchange? {
            guard let exchange = exchanges.removeValue(forKey: id) else { return nil }
            if byKey[exchange.key] == id { byKey[exchange.key] = nil }
            return exchange
        }
    }

    private let table = Locked(Table())

    /// The handles of the exchanges whose hooks run this code. A call that a hook makes cannot wait for any of them.
    @TaskLocal private static var enclosing: Set<ObjectIdentifier> = []

    /// The number of exchanges that are in flight or deliver their result.
    var count: Int { table.withLock(\.exchanges.count) }

    /// The number of calls that wait for these exchanges.
    var waiterCount: Int { table.withLock { $0.exchanges.values.reduce(0) { $0 + $1.waiters.count } } }

    /// Whether a hook of the exchange for the key makes this call.
    func isWithinExchange(for key: SharedExchangeKey) -> Bool {
        let enclosing = Self.enclosing
        if enclosing.isEmpty { return false }
        return table.withLock { table in
            guard let exchange = table.byKey[key].flatMap({ table.exchanges[$0] }) else { return false }
            return enclosing.contains(ObjectIdentifier(exchange.handle))
        }
    }

    /// Joins the exchange for the key, or begins one. Returns its result, or `nil` if the call was cancelled first.
    ///
    /// - Parameters:
    ///   - key: Identifies equal requests.
    ///   - id: The identifier of the call.
    ///   - deadline: When the call times out. The exchange has the latest deadline of its calls.
    ///   - progress: Receives the latest progress from before the call joined, then that of the exchange.
    ///   - begin: Begins the exchange and returns the function that performs it. It receives the handle that cancels
    ///     the exchange, and the closure to report progress to.
    func result(
        for key: SharedExchangeKey,
        id: RequestContext.ID,
        deadline: Deadline?,
        progress: Progress?,
        begin: (RequestHandle, @escaping Progress) -> @Sendable () async -> Result<Response, TargetKitError>
    ) async -> Result<Response, TargetKitError>? {
        let (exchange, handle, isNew) = join(key, id, deadline, progress)
        if isNew {
            let perform = begin(handle) { self.report($0, of: exchange) }
            let enclosing = Self.enclosing.union([ObjectIdentifier(handle)])
            let task = Self.$enclosing.withValue(enclosing) {
                Task.startingNow { self.finish(exchange, await perform()) }
            }
            handle.attach(task)
        }
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { wait(id, for: exchange, $0) }
        } onCancel: {
            leave(id, exchange)
        }
    }

    private func join(
        _ key: SharedExchangeKey,
        _ id: RequestContext.ID,
        _ deadline: Deadline?,
        _ progress: Progress?
    ) -> (exchange: ID, handle: RequestHandle, isNew: Bool) {
        let priority = Task.currentPriority
        let (exchange, handle, steps, isLifted) = table.withLock { table in
            if let known = table.byKey[key], var exchange = table.exchanges.removeValue(forKey: known) {
                exchange.waiters[id] = .joined
                exchange.listeners[id] = progress
                let isLifted = exchange.priority < priority
                if isLifted { exchange.priority = priority }
                table.exchanges[known] = exchange
                return (known, exchange.handle, Array(exchange.latest.values) as [TransferProgress]?, isLifted)
            }
            var exchange = Exchange(
                key: key,
                handle: RequestHandle(deadline: deadline),
                priority: priority,
                waiters: [id: .joined]
            )
            exchange.listeners[id] = progress
            table.lastID += 1
            table.exchanges[table.lastID] = exchange
            table.byKey[key] = table.lastID
            return (table.lastID, exchange.handle, nil, false)
        }
        if steps != nil { handle.extendDeadline(to: deadline) }
        if let progress { steps?.forEach(progress) }
        if isLifted { handle.escalateTask(to: priority) }
        return (exchange, handle, steps == nil)
    }

    private func wait(_ id: RequestContext.ID, for exchange: ID, _ continuation: Continuation) {
        let outcome: Outcome?? = table.withLock { table in
            guard table.exchanges[exchange]?.waiters[id] != nil else { return .some(nil) }
            guard let outcome = table.exchanges[exchange]?.outcome else {
                table.exchanges[exchange]?.waiters[id] = .waiting(continuation)
                return nil
            }
            table.exchanges[exchange]?.waiters[id] = nil
            if table.exchanges[exchange]?.waiters.isEmpty == true { table.exchanges[exchange] = nil }
            return outcome
        }
        if let outcome { continuation.resume(returning: outcome) }
    }

    /// Removes a waiter without a result. Removing the last waiter cancels the exchange, and no call can join it any
    /// more.
    private func leave(_ id: RequestContext.ID, _ exchange: ID) {
        let (waiter, handle) = table.withLock { table -> (Waiter?, RequestHandle?) in
            guard table.exchanges[exchange]?.outcome == nil,
                let waiter = table.exchanges[exchange]?.waiters.removeValue(forKey: id)
            else { return (nil, nil) }
            table.exchanges[exchange]?.listeners[id] = nil
            guard table.exchanges[exchange]?.waiters.isEmpty == true else { return (waiter, nil) }
            return (waiter, table.remove(exchange)?.handle)
        }
        handle?.cancel()
        if case .waiting(let continuation) = waiter { continuation.resume(returning: nil) }
    }

    private func finish(_ id: ID, _ outcome: Outcome) {
        let continuations = table.withLock { table -> [Continuation] in
            guard var exchange = table.remove(id) else { return [] }
            var continuations: [Continuation] = []
            for case (let waiter, .waiting(let continuation)) in exchange.waiters {
                continuations.append(continuation)
                exchange.waiters[waiter] = nil
            }
            if !exchange.waiters.isEmpty {
                exchange.outcome = outcome
                exchange.listeners = [:]
                table.exchanges[id] = exchange
            }
            return continuations
        }
        for continuation in continuations { continuation.resume(returning: outcome) }
    }

    private func report(_ step: TransferProgress, of exchange: ID) {
        let listeners = table.withLock { table -> [Progress] in
            table.exchanges[exchange]?.latest[step.direction] = step
            return table.exchanges[exchange].map { Array($0.listeners.values) } ?? []
        }
        for listener in listeners { listener(step) }
    }
}

extension Call {
    /// Returns the result of the exchange that identical calls share, or `nil` if the request cannot be compared, or a
    /// hook of that exchange makes this call.
    func sharedExchange(
        _ request: TransportRequest,
        of original: URLRequest,
        with target: Resolved,
        _ context: RequestContext
    ) async throws -> Result<Response, TargetKitError>? {
        guard let key = SharedExchangeKey(request, to: target, context),
            !configuration.sharedExchanges.isWithinExchange(for: key)
        else { return nil }
        let result = await configuration.sharedExchanges.result(
            for: key,
            id: context.id,
            deadline: handle.deadline,
            progress: progress
        ) {
            [configuration, plugins, exchangeTimeout] handle, report in
            let call = Call(
                configuration,
                plugins: plugins,
                context: context.ofExchange(handle),
                isSharedExchange: true,
                exchangeTimeout: exchangeTimeout,
                progress: report
            )
            // Counted here, because the exchange's task may start after its calls have left.
            context.scope.beginExchange()
            return { await call.runExchange(request, of: original, with: target) }
        }
        guard let result else { throw failure(CancellationError(), at: .transport, request: request.urlRequest) }
        return result.of(context)
    }

    /// Runs a shared exchange, which consists of attempts only. Its scope waits for it.
    private func runExchange(
        _ request: TransportRequest,
        of original: URLRequest,
        with target: Resolved
    ) async -> Result<Response, TargetKitError> {
        var (context, request) = (context, request)
        request.progress = progress
        let result = await attempts(of: original, to: target, prepared: request, &context)
        configuration.learn(from: handle)
        handle.releaseAtEnd()
        context.scope.endExchange()
        return ended(result)
    }
}

extension Result<Response, TargetKitError> {
    /// The result of a shared exchange, with the target and decoder of one of its calls.
    fileprivate func of(_ call: RequestContext) -> Self {
        let decoder = call.options.decoder
        switch self {
        case .success(let response):
            return .success(response.of(call.target, decoder: decoder))
        case .failure(var error):
            error.target = call.target
            error.response = error.response?.of(call.target, decoder: decoder)
            return .failure(error)
        }
    }
}
