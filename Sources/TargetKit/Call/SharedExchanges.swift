// SPDX-License-Identifier: MIT

/// The shared exchanges of a provider that are in flight.
///
/// An exchange is a separate call with its own task. It is cancelled when the last call that waits for it is cancelled.
/// Joining and leaving share a lock, so a call can't join an exchange whose last waiter left.
final class SharedExchanges: Sendable {
    private typealias Outcome = Result<Response, TargetKitError>
    private typealias ID = UInt64
    private typealias Continuation = UnsafeContinuation<Outcome?, Never>
    typealias Progress = @Sendable (TransferProgress) -> Void

    private enum Waiter: Sendable {
        /// The call joined and isn't suspended yet.
        case joined
        case waiting(Continuation)

        var isSuspended: Bool {
            if case .waiting = self { true } else { false }
        }
    }

    private struct Entry: Sendable {
        let key: SharedExchangeKey
        let handle: RequestHandle
        var priority: TaskPriority
        var waiters: [RequestContext.ID: Waiter]
        var listeners: [RequestContext.ID: ProgressListener] = [:]
        /// The latest step of each direction, for a call that joins later.
        var latest: [TransferProgress.Direction: TransferProgress] = [:]
        /// The result, for waiters that joined and aren't suspended yet.
        var outcome: Outcome?
    }

    private struct Table: Sendable {
        var exchanges: [ID: Entry] = [:]
        var byKey: [SharedExchangeKey: ID] = [:]
        /// The last exchange number. A call's number isn't unique, because a retried call can begin a second exchange
        /// while the first still delivers its result.
        var lastID: ID = 0

        mutating func remove(_ id: ID) -> Entry? {
            guard let exchange = exchanges.removeValue(forKey: id) else { return nil }
            if byKey[exchange.key] == id { byKey[exchange.key] = nil }
            return exchange
        }
    }

    private let table = Locked(Table())

    /// The handles of the exchanges whose hooks run this code. A call by a hook can't wait for any of them.
    @TaskLocal private static var enclosing: Set<ObjectIdentifier> = []

    /// The number of exchanges that are in flight or delivering their result.
    var count: Int { table.withLock(\.exchanges.count) }

    /// The number of calls that are suspended until one of these exchanges ends.
    var waiterCount: Int {
        table.withLock { table in
            table.exchanges.values.reduce(0) { $0 + $1.waiters.values.count(where: \.isSuspended) }
        }
    }

    /// Whether this call is made by a hook of the exchange for the key.
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
    ///   - progress: Receives the latest progress before the call joined, then further progress of the exchange.
    ///   - begin: Begins the exchange and returns the function that performs it. It receives the handle that cancels
    ///     the exchange, and the closure to report progress to.
    func result(
        for key: SharedExchangeKey,
        id: RequestContext.ID,
        deadline: Deadline?,
        progress: Progress?,
        begin: (RequestHandle, @escaping Progress) -> @Sendable () async -> Result<Response, TargetKitError>
    ) async -> Result<Response, TargetKitError>? {
        let (exchange, handle, isNew) = join(key, id: id, deadline: deadline, progress: progress)
        if isNew {
            let perform = begin(handle) { self.report($0, of: exchange) }
            let enclosing = Self.enclosing.union([ObjectIdentifier(handle)])
            let task = Self.$enclosing.withValue(enclosing) {
                Task.startingNow { self.finish(exchange, outcome: await perform()) }
            }
            handle.attach(task)
        }
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { wait(id, for: exchange, $0) }
        } onCancel: {
            leave(id, exchange: exchange)
        }
    }

    private func join(
        _ key: SharedExchangeKey,
        id: RequestContext.ID,
        deadline: Deadline?,
        progress: Progress?
    ) -> (exchange: ID, handle: RequestHandle, isNew: Bool) {
        let priority = Task.currentPriority
        let listener = progress.map(ProgressListener.init)
        let (exchange, handle, isNew, isLifted) = table.withLock { table in
            if let known = table.byKey[key], var exchange = table.exchanges.removeValue(forKey: known) {
                exchange.waiters[id] = .joined
                // Before the call counts as joined, because the exchange may be near its deadline.
                exchange.handle.extendDeadline(to: deadline)
                exchange.listeners[id] = listener
                // Delivered before any step that is reported from now on.
                listener?.add([exchange.latest[.upload], exchange.latest[.download]].compactMap(\.self))
                let isLifted = exchange.priority < priority
                if isLifted { exchange.priority = priority }
                table.exchanges[known] = exchange
                return (known, exchange.handle, false, isLifted)
            }
            var exchange = Entry(
                key: key,
                handle: RequestHandle(deadline: deadline),
                priority: priority,
                waiters: [id: .joined]
            )
            exchange.listeners[id] = listener
            table.lastID += 1
            table.exchanges[table.lastID] = exchange
            table.byKey[key] = table.lastID
            return (table.lastID, exchange.handle, true, false)
        }
        listener?.deliver()
        if isLifted { handle.escalateTask(to: priority) }
        return (exchange, handle, isNew)
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

    /// Removes a waiter without a result. Removing the last waiter cancels the exchange, and no call can join it. If
    /// the exchange can no longer be cancelled, the last waiter stays for its result.
    private func leave(_ id: RequestContext.ID, exchange: ID) {
        let (waiter, cancel) = table.withLock { table -> (Waiter?, (@Sendable () -> Void)?) in
            guard let found = table.exchanges[exchange], found.outcome == nil, let waiter = found.waiters[id] else {
                return (nil, nil)
            }
            guard found.waiters.count == 1 else {
                table.exchanges[exchange]?.waiters[id] = nil
                table.exchanges[exchange]?.listeners[id] = nil
                return (waiter, nil)
            }
            guard let cancel = found.handle.beginInterruption(.cancelled) else { return (nil, nil) }
            _ = table.remove(exchange)
            return (waiter, cancel)
        }
        cancel?()
        if case .waiting(let continuation) = waiter { continuation.resume(returning: nil) }
    }

    private func finish(_ id: ID, outcome: Outcome) {
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
        let listeners = table.withLock { table -> [ProgressListener] in
            table.exchanges[exchange]?.latest[step.direction] = step
            let listeners = table.exchanges[exchange].map { Array($0.listeners.values) } ?? []
            for listener in listeners { listener.add([step]) }
            return listeners
        }
        for listener in listeners { listener.deliver() }
    }
}

extension Call {
    /// Returns the result of the exchange that identical calls share, or `nil` if the request can't be compared, or a
    /// hook of that exchange makes this call.
    func sharedExchange(
        _ request: TransportRequest,
        of original: URLRequest,
        with target: ResolvedTarget,
        _ context: RequestContext
    ) async throws -> Result<Response, TargetKitError>? {
        guard let key = SharedExchangeKey(request, to: target, context),
            !configuration.sharedExchanges.isWithinExchange(for: key)
        else { return nil }
        // The clock counts the exchange instead of the call.
        configuration.countingClock?.setWaiting(true, call: context.id)
        defer { configuration.countingClock?.setWaiting(false, call: context.id) }
        let result = await configuration.sharedExchanges.result(
            for: key,
            id: context.id,
            deadline: handle.deadline,
            progress: progress
        ) {
            [configuration, plugins] handle, report in
            let context = context.ofExchange(handle)
            let call = Call(.exchange, in: context, configuration, plugins: plugins, progress: report)
            // Counted here, because the exchange's task may start after its calls have left.
            context.scope.beginExchange()
            configuration.countingClock?.begin(call.context.id)
            return { await call.trackedByTestClock { await call.runExchange(request, of: original, with: target) } }
        }
        guard let result else { throw failure(CancellationError(), at: .transport, request: request.urlRequest) }
        // The file is at its destination, even if this call was cancelled at the end.
        if case .success(let response) = result, response.file != nil { handle.commitLate() }
        let isRepeatable =
            switch result {
            case .success: request.urlRequest.isRepeatable()
            case .failure(let error): error.isRepeatable
            }
        if !isRepeatable { handle.noteProcessing() }
        return result.of(context)
    }

    /// Runs the attempts of a shared exchange. Its scope waits for it.
    private func runExchange(
        _ request: TransportRequest,
        of original: URLRequest,
        with target: ResolvedTarget
    ) async -> Result<Response, TargetKitError> {
        var (context, request) = (context, request)
        request.progress = progress
        let result = await attempts(of: original, to: target, prepared: request, &context)
        handle.releaseAtEnd()
        context.scope.endExchange()
        configuration.countingClock?.end(context.id)
        return notingRepeatability(of: unlessInterrupted(result))
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
