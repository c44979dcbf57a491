// SPDX-License-Identifier: MIT

/// The exchanges of a provider that identical calls share, while they are in flight.
///
/// A shared exchange is a part of its calls, with its own context and task: `willSend`, `exchange`, `didReceive`, and
/// the attempts that `retry` requests. It is cancelled when the last call that waits for it is cancelled. Joining and
/// leaving share a lock, so a call can't join an exchange whose last call left.
final class SharedExchanges: Sendable {
    fileprivate typealias Outcome = SharedOutcome<Result<Response, TargetKitError>>

    private struct Entry: Sendable {
        let handle: RequestHandle
        let outcome = Outcome()
        /// The calls that wait, with what receives their progress.
        var calls: [RequestContext.ID: (@Sendable (TransferProgress) -> Void)?] = [:]
    }

    /// The exchanges whose hooks run this code. A call by a hook can't wait for any of them.
    @TaskLocal fileprivate static var enclosing: Set<ObjectIdentifier> = []

    private let table = Locked<[SharedExchangeKey: Entry]>([:])

    /// The number of exchanges in flight.
    var count: Int { table.withLock(\.count) }

    /// The number of calls that are suspended until one of these exchanges ends.
    var waiterCount: Int { table.withLock { $0.values.map(\.outcome) }.reduce(0) { $0 + $1.waiterCount } }

    /// Joins the exchange for the key, and returns its outcome. A new exchange is begun with a handle, which has the
    /// deadline of the call. Returns `nil` if a hook of the exchange makes this call, which can't wait for it.
    fileprivate func join(
        _ key: SharedExchangeKey,
        by call: Call,
        begin: (Outcome, RequestHandle) -> Void
    ) -> Outcome? {
        let joined = table.withLock { table -> (Entry, isNew: Bool)? in
            var entry = table[key] ?? Entry(handle: RequestHandle(deadline: call.handle.deadline))
            if Self.enclosing.contains(ObjectIdentifier(entry.outcome)) { return nil }
            entry.calls[call.context.id] = .some(call.progress)
            return (entry, table.updateValue(entry, forKey: key) == nil)
        }
        guard let (entry, isNew) = joined else { return nil }
        if isNew { begin(entry.outcome, entry.handle) }
        return entry.outcome
    }

    /// Removes a call from an exchange, which is cancelled if that was its last call.
    fileprivate func leave(_ outcome: Outcome, for key: SharedExchangeKey, by call: Call) {
        let abandoned = table.withLock { table -> RequestHandle? in
            guard var entry = table[key], entry.outcome === outcome else { return nil }
            entry.calls[call.context.id] = nil
            table[key] = entry.calls.isEmpty ? nil : entry
            return entry.calls.isEmpty ? entry.handle : nil
        }
        abandoned?.cancel()
    }

    /// Removes an exchange that ended, and passes its result to its calls.
    fileprivate func end(_ outcome: Outcome, for key: SharedExchangeKey, with result: Result<Response, TargetKitError>)
    {
        table.withLock { if $0[key]?.outcome === outcome { $0[key] = nil } }
        outcome.settle(result)
    }

    /// Reports progress to the calls of an exchange.
    fileprivate func report(_ step: TransferProgress, to outcome: Outcome, for key: SharedExchangeKey) {
        let calls = table.withLock { $0[key].flatMap { $0.outcome === outcome ? $0.calls : nil } }
        for receive in calls?.values.compactMap(\.self) ?? [] { receive(step) }
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
            let outcome = table.join(
                key,
                by: self,
                begin: { begin($0, for: key, with: request, of: resolved, in: context.ofExchange($1)) }
            )
        else { return nil }
        do {
            // The clock counts the exchange instead of the call.
            let result = try await waiting { try await outcome.value() }
            return try shared(result, to: request, in: context)
        } catch let error as CancellationError {
            table.leave(outcome, for: key, by: self)
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
            if !error.isMarked(.safeToRepeat) { handle.noteProcessing() }
            error.target = context.target
            error.response = error.response?.of(context.target, decoder: context.options.decoder)
            error.mark(.final)
            throw error.unexplained
        }
    }

    /// Begins the attempts of a shared exchange, as a part with its own context. Its scope waits for it.
    private func begin(
        _ outcome: SharedExchanges.Outcome,
        for key: SharedExchangeKey,
        with request: TransportRequest,
        of resolved: ResolvedRequest,
        in context: RequestContext
    ) {
        let exchanges = configuration.sharedExchanges
        var request = request
        request.progress = { exchanges.report($0, to: outcome, for: key) }
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
        let enclosing = SharedExchanges.enclosing.union([ObjectIdentifier(outcome)])
        _ = SharedExchanges.$enclosing.withValue(enclosing) {
            part.startTask { [request] in
                let result = await part.attempts(of: resolved, prepared: request)
                part.handle.releaseAtEnd()
                part.context.scope.endExchange()
                part.configuration.countingClock?.end(part.context.id)
                exchanges.end(outcome, for: key, with: part.notingRepeatability(of: part.unlessInterrupted(result)))
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
