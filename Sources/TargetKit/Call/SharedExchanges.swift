// SPDX-License-Identifier: MIT

/// The exchanges of a provider that identical calls share, while they are in flight.
///
/// A shared exchange is a part of its calls, with its own context and task: `willSend`, `exchange`, `didReceive`, and
/// the attempts that `retry` requests. It is cancelled when the last call that waits for it is cancelled. Joining and
/// leaving share a lock, so a call can't join an exchange whose last call left.
final class SharedExchanges: Sendable {
    fileprivate typealias Outcome = SharedOutcome<Result<Response, TargetKitError>>

    private struct Entry: Sendable {
        let key: SharedExchangeKey
        let handle: RequestHandle
        let outcome = Outcome()
        /// The calls that wait.
        var calls: [Call]
    }

    /// The exchanges whose hooks run this code. A call by a hook can't wait for any of them.
    @TaskLocal fileprivate static var enclosing: [ObjectIdentifier] = []

    private let entries = Locked<[Entry]>([])

    /// The number of exchanges in flight.
    var count: Int { entries.withLock(\.count) }

    /// The number of calls that are suspended until one of these exchanges ends.
    var waiterCount: Int { entries.withLock { $0.map(\.outcome) }.reduce(0) { $0 + $1.waiterCount } }

    /// Joins the exchange for the key, and returns its outcome. A new exchange is begun with a handle, which has the
    /// deadline of the call. Returns `nil` if a hook of the exchange makes this call, which can't wait for it.
    fileprivate func join(
        _ key: SharedExchangeKey,
        by call: Call,
        begin: (Outcome, RequestHandle) -> Void
    ) -> Outcome? {
        let joined = entries.withLock { entries -> (Outcome, new: RequestHandle?)? in
            guard let index = entries.firstIndex(where: { $0.key == key }) else {
                let entry = Entry(key: key, handle: RequestHandle(deadline: call.handle.deadline), calls: [call])
                entries.append(entry)
                return (entry.outcome, entry.handle)
            }
            if Self.enclosing.contains(ObjectIdentifier(entries[index].outcome)) { return nil }
            entries[index].calls.append(call)
            return (entries[index].outcome, nil)
        }
        guard let (outcome, new) = joined else { return nil }
        if let new { begin(outcome, new) }
        return outcome
    }

    /// Removes a call from an exchange, which is cancelled if that was its last call.
    fileprivate func leave(_ outcome: Outcome, by call: Call) {
        let abandoned = entries.withLock { entries -> RequestHandle? in
            guard let index = entries.firstIndex(where: { $0.outcome === outcome }) else { return nil }
            entries[index].calls.removeAll { $0 === call }
            return entries[index].calls.isEmpty ? entries.remove(at: index).handle : nil
        }
        abandoned?.cancel()
    }

    /// Removes an exchange that ended, and passes its result to its calls.
    fileprivate func end(_ outcome: Outcome, with result: Result<Response, TargetKitError>) {
        entries.withLock { $0.removeAll { $0.outcome === outcome } }
        outcome.settle(result)
    }

    /// Reports progress to the calls of an exchange.
    fileprivate func report(_ step: TransferProgress, to outcome: Outcome) {
        let calls = entries.withLock { $0.first { $0.outcome === outcome }?.calls }
        for call in calls ?? [] { call.progress?(step) }
    }
}

extension Call {
    /// Returns the response of an exchange that identical calls share; `nil` if this call has an exchange of its own.
    ///
    /// - Throws: An error that isn't retried by this call, because the exchange was.
    func shared(
        _ request: TransportRequest,
        of resolved: ResolvedRequest
    ) async throws -> Response? {
        let exchanges = configuration.sharedExchanges
        guard let key = SharedExchangeKey(request, of: resolved, in: context),
            let outcome = exchanges.join(key, by: self, begin: { begin($0, $1, with: request, of: resolved) })
        else { return nil }
        do {
            // The clock counts the exchange instead of the call.
            let result = try await waiting { try await outcome.value() }
            return try shared(result, to: request)
        } catch let error as CancellationError {
            exchanges.leave(outcome, by: self)
            throw error
        }
    }

    /// This call's part of the result of a shared exchange.
    private func shared(
        _ result: Result<Response, TargetKitError>,
        to request: TransportRequest
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
        _ handle: RequestHandle,
        with request: TransportRequest,
        of resolved: ResolvedRequest
    ) {
        let exchanges = configuration.sharedExchanges
        var request = request
        request.progress = { exchanges.report($0, to: outcome) }
        let part = Call(
            .part,
            in: context.ofLastAttempt.ofExchange(handle),
            by: configuration,
            progress: request.progress,
            exchangeTimeout: exchangeTimeout
        )
        // Counted here, because the exchange's task may start after its calls have left.
        context.scope.beginExchange()
        configuration.countingClock?.begin(part.context.id, isTimer: false)
        let enclosing = SharedExchanges.enclosing + [ObjectIdentifier(outcome)]
        _ = SharedExchanges.$enclosing.withValue(enclosing) {
            part.startTask { [request] in
                let result = await part.attempts(of: resolved, prepared: request)
                part.handle.releaseAtEnd()
                part.context.scope.endExchange()
                part.configuration.countingClock?.end(part.context.id)
                exchanges.end(outcome, with: part.notingRepeatability(of: part.unlessInterrupted(result)))
            }
        }
    }
}

/// The properties that must be equal for two calls to share an exchange.
struct SharedExchangeKey: Equatable {
    private enum Body: Equatable {
        case none
        case data(Data)
        case file(URL)
        case form(MultipartForm)
    }

    /// A stubbed call never shares with a real call, or with a call that has a different sample.
    private enum Responder: Equatable {
        case transport
        case sample(delay: Duration, status: Int, headers: HTTPHeaders, data: Data)
    }

    /// The hash of the URL, compared first: there can be thousands of other exchanges in flight.
    private let hash: Int
    private let url: URL?
    private let method: String?
    private let responder: Responder
    private let headers: [String: String]
    private let body: Body
    private let limit: Int
    /// Calls with different timeouts don't share, because each must respect its own.
    private let timeout: Duration?
    private let allowedNetworks: [Bool]
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
        if resolved.isStubbed {
            let (delay, result) = resolved.sample.withDelay
            guard case .response(let status, let headers, let data) = result else { return nil }
            responder = .sample(delay: delay, status: status, headers: headers, data: data)
        } else {
            responder = .transport
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
        hash = url?.absoluteString.hashValue ?? 0
        // The identifiers of a trace (W3C Trace Context) don't change the response.
        headers = (urlRequest.allHTTPHeaderFields ?? [:]).filter {
            !["traceparent", "tracestate"].contains($0.key.lowercased())
        }
        timeout = request.timeout
        allowedNetworks = context.options.allowedNetworks
        followsRedirects = context.options.followsRedirects
        cachePolicy = urlRequest.cachePolicy
        validation = context.target.validation
    }
}
