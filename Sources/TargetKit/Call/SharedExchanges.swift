// SPDX-License-Identifier: MIT

/// The exchanges of a provider that identical calls share, while they are in flight.
///
/// A shared exchange is a part of its calls, with its own context and task: `willSend`, `exchange`, `didReceive`, and
/// the attempts that `retry` requests. It is cancelled when the last call that waits for it is cancelled. Joining and
/// leaving share a lock, so a call can't join an exchange whose last call left.
final class SharedExchanges: Sendable {
    private let table = Locked<[SharedExchangeKey: SharedExchange]>([:])

    /// The number of exchanges in flight.
    var count: Int { table.withLock(\.count) }

    /// The number of calls that are suspended until one of these exchanges ends.
    var waiterCount: Int { table.withLock { Array($0.values) }.reduce(0) { $0 + $1.outcome.waiterCount } }

    /// Joins the exchange for the key, or a new one. Returns `nil` if a hook of the exchange makes this call, which can't
    /// wait for it.
    fileprivate func join(_ key: SharedExchangeKey, by call: Call) -> (exchange: SharedExchange, isNew: Bool)? {
        var listener: ProgressListener?
        let joined = table.withLock { table -> (SharedExchange, Bool)? in
            let exchange = table[key] ?? SharedExchange(deadline: call.handle.deadline)
            if SharedExchange.enclosing.contains(ObjectIdentifier(exchange)) { return nil }
            listener = exchange.join(call)
            return (exchange, table.updateValue(exchange, forKey: key) == nil)
        }
        listener?.deliver()
        return joined
    }

    /// Removes an exchange that no further call may join.
    @discardableResult
    fileprivate func remove(
        _ exchange: SharedExchange,
        for key: SharedExchangeKey,
        if isOver: () -> Bool = { true }
    ) -> Bool {
        table.withLock { table in
            guard isOver(), table[key] === exchange else { return false }
            table[key] = nil
            return true
        }
    }
}

/// An exchange that calls share.
private final class SharedExchange: Sendable {
    private struct Calls: Sendable {
        /// The calls that wait, with those that receive the progress.
        var listeners: [RequestContext.ID: ProgressListener?] = [:]
        /// The latest step of each direction, for a call that joins later.
        var latest: [TransferProgress.Direction: TransferProgress] = [:]
    }

    /// The exchanges whose hooks run this code. A call by a hook can't wait for any of them.
    @TaskLocal static var enclosing: Set<ObjectIdentifier> = []

    let handle: RequestHandle
    let outcome = SharedOutcome<Result<Response, TargetKitError>>()
    private let calls = Locked(Calls())

    /// - Parameter deadline: The deadline of the call that begins it.
    init(deadline: Deadline?) {
        handle = RequestHandle(deadline: deadline)
    }

    /// Adds a call, and returns what delivers its progress, beginning with the latest steps.
    func join(_ call: Call) -> ProgressListener? {
        let listener = call.progress.map(ProgressListener.init)
        calls.withLock { calls in
            calls.listeners[call.context.id] = .some(listener)
            listener?.add([calls.latest[.upload], calls.latest[.download]].compactMap(\.self))
        }
        return listener
    }

    /// Returns the number of calls that are left.
    func leave(_ call: Call) -> Int {
        calls.withLock { calls in
            calls.listeners[call.context.id] = nil
            return calls.listeners.count
        }
    }

    func report(_ step: TransferProgress) {
        let listeners = calls.withLock { calls -> [ProgressListener] in
            calls.latest[step.direction] = step
            let listeners = calls.listeners.values.compactMap(\.self)
            for listener in listeners { listener.add([step]) }
            return listeners
        }
        for listener in listeners { listener.deliver() }
    }
}

extension Call {
    /// Returns the response of an exchange that identical calls share; `nil` if this call has an exchange of its own.
    ///
    /// - Throws: An error that isn't retried by this call, because the exchange was.
    func shared(
        _ request: TransportRequest,
        of resolved: ResolvedRequest,
        in context: RequestContext
    ) async throws -> Response? {
        let table = configuration.sharedExchanges
        guard let key = SharedExchangeKey(request, of: resolved, in: context),
            let (exchange, isNew) = table.join(key, by: self)
        else { return nil }
        if isNew { begin(exchange, for: key, with: request, of: resolved, in: context) }
        do {
            // The clock counts the exchange instead of the call.
            let result = try await waiting { try await exchange.outcome.value() }
            return try shared(result, to: request, in: context)
        } catch let error as CancellationError {
            if table.remove(exchange, for: key, if: { exchange.leave(self) == 0 }) { exchange.handle.cancel() }
            throw error
        }
    }

    /// This call's part of the result of a shared exchange.
    private func shared(
        _ result: Result<Response, TargetKitError>,
        to request: TransportRequest,
        in context: RequestContext
    ) throws(TargetKitError) -> Response {
        switch result {
        case .success(let response):
            if !request.urlRequest.isRepeatable() { handle.noteProcessing() }
            return response.of(context.target, decoder: context.options.decoder)
        case .failure(var error):
            if !error.marks.contains(.safeToRepeat) { handle.noteProcessing() }
            error.target = context.target
            error.response = error.response?.of(context.target, decoder: context.options.decoder)
            error.marks.insert(.final)
            throw error.unexplained
        }
    }

    /// Begins the attempts of a shared exchange, as a part with its own context. Its scope waits for it.
    private func begin(
        _ exchange: SharedExchange,
        for key: SharedExchangeKey,
        with request: TransportRequest,
        of resolved: ResolvedRequest,
        in context: RequestContext
    ) {
        let context = context.ofExchange(exchange.handle)
        var request = request
        request.progress = { exchange.report($0) }
        let part = Call(
            .part,
            in: context,
            by: configuration,
            progress: request.progress,
            exchangeTimeout: exchangeTimeout
        )
        // Counted here, because the exchange's task may start after its calls have left.
        context.scope.beginExchange()
        configuration.countingClock?.begin(context.id, isTimer: false)
        let enclosing = SharedExchange.enclosing.union([ObjectIdentifier(exchange)])
        _ = SharedExchange.$enclosing.withValue(enclosing) {
            part.startTask { [request, configuration] in
                let result = await part.attempts(of: resolved, prepared: request)
                exchange.handle.releaseAtEnd()
                context.scope.endExchange()
                configuration.countingClock?.end(context.id)
                configuration.sharedExchanges.remove(exchange, for: key)
                exchange.outcome.settle(part.notingRepeatability(of: part.unlessInterrupted(result)))
            }
        }
    }
}

/// The properties that must be equal for two calls to share an exchange.
struct SharedExchangeKey: Hashable {
    private enum Body: Hashable {
        case none
        case data(Data)
        case file(URL)
        case form(MultipartForm)
    }

    /// A stubbed call never shares with a real call, or with a call that has a different sample.
    private enum Responder: Hashable {
        case transport
        case sample(StubBehavior, delay: Duration, status: Int, headers: HTTPHeaders, data: Data)
    }

    private let responder: Responder
    private let method: String?
    private let url: URL?
    private let headers: [String: String]
    private let body: Body
    private let limit: Int
    /// Calls with different timeouts don't share, because each must respect its own.
    private let timeout: Duration?
    private let refusedNetworks: RefusedNetworks
    private let followsRedirects: Bool
    /// The way in which a cache responds to the exchange.
    private let cachePolicy: URLRequest.CachePolicy
    /// The validation decides whether a status is an error, so it is part of the result.
    private let validation: StatusValidation

    /// Returns `nil` for a call that can't be shared: one whose response doesn't go to memory, or whose body or sample
    /// can't be compared.
    init?(_ request: TransportRequest, of resolved: ResolvedRequest, in context: RequestContext) {
        guard case .memory(let limit) = request.destination else { return nil }
        self.limit = limit
        if !resolved.isStubbed {
            responder = .transport
        } else {
            let sample =
                if case .scenario(let name) = resolved.stub { resolved.endpoint.sampleResponse(in: name) } else {
                    resolved.endpoint.sampleResponse
                }
            let (delay, result) = sample.withDelay
            guard case .response(let status, let headers, let data) = result else { return nil }
            responder = .sample(resolved.stub, delay: delay, status: status, headers: headers, data: data)
        }
        switch request.body {
        case .none: body = .none
        case .data(let data): body = .data(data)
        case .file(let url): body = .file(url)
        case .stream:
            // Comparing the app's body sources would run its code under a lock.
            guard case .multipart(let form) = resolved.endpoint.task.content, !form.hasSources else { return nil }
            body = .form(form)
        }
        let urlRequest = request.urlRequest
        method = urlRequest.httpMethod
        url = urlRequest.url
        // The identifiers of a trace (W3C Trace Context) don't change the response.
        headers = (urlRequest.allHTTPHeaderFields ?? [:]).filter {
            !["traceparent", "tracestate"].contains($0.key.lowercased())
        }
        timeout = request.timeout
        refusedNetworks = context.options.refusedNetworks
        followsRedirects = context.options.followsRedirects
        cachePolicy = urlRequest.cachePolicy
        validation = context.target.validation
    }
}

/// Delivers progress to a call in the order in which it was added. No lock is held during delivery.
final class ProgressListener: Sendable {
    private struct State: Sendable {
        var pending: [TransferProgress] = []
        var isDelivering = false
    }

    private let receive: @Sendable (TransferProgress) -> Void
    private let state = Locked(State())

    init(_ receive: @escaping @Sendable (TransferProgress) -> Void) {
        self.receive = receive
    }

    func add(_ steps: [TransferProgress]) {
        state.withLock { $0.pending += steps }
    }

    /// Delivers the added progress, unless another thread is delivering.
    func deliver() {
        while true {
            let steps = state.withLock { state -> [TransferProgress] in
                if state.isDelivering { return [] }
                defer { state.pending = [] }
                state.isDelivering = !state.pending.isEmpty
                return state.pending
            }
            if steps.isEmpty { return }
            for step in steps { receive(step) }
            state.withLock { $0.isDelivering = false }
        }
    }
}
