// SPDX-License-Identifier: MIT

/// The response to a request of a ``TransferDriver``, after its redirects.
public struct ExchangeResult: Sendable {
    /// The response.
    public var response: TransportResponse
    /// The request, or the last request after redirects.
    public let request: URLRequest
    /// The redirects before the response.
    public let redirects: [Redirect]
    /// The accepted statuses. If `nil`, the target's validation applies.
    public var validation: StatusValidation?
}

/// The way in which a driver receives the response to a request.
struct Reception: Sendable {
    /// The accepted statuses; `nil` for the target's validation.
    var validation: StatusValidation?
    /// Receives the body of a stream, or replaces the response.
    var receive: (@Sendable (ExchangeResult) async throws -> ExchangeResult)?
}

extension Call {
    /// Sends a prepared request: signing → `willSend` → redirects → plugins' `exchange` → transport → validation →
    /// `didReceive`.
    ///
    /// - Throws: The error of a signing plugin, before `willSend`.
    func exchange(
        _ prepared: TransportRequest,
        with target: ResolvedTarget,
        _ context: inout RequestContext,
        _ reception: Reception = Reception()
    ) async throws -> Result<Response, TargetKitError> {
        context.bodyOutsideRequest = prepared.body.isStreamed ? prepared.body : nil
        let request = plugins.signs ? try await signed(prepared, to: target, context) : prepared
        context.sentRequest = request.urlRequest
        plugins.willSend(request.urlRequest, context: context)
        let result: Result<Response, TargetKitError>
        do {
            let limited = limited(request, to: target)
            let received =
                if let receive = reception.receive {
                    try await driverResult(of: limited, to: target, receive)
                } else {
                    try await exchangeResult(of: limited, to: target)
                }
            let checked = kind.isStream ? try await checkedStream(received) : received
            try checkCancellation()
            result = .success(try validated(checked, reception))
        } catch {
            result = .failure(failure(error, of: request))
        }
        plugins.didReceive(result, context: context)
        return result
    }

    /// The request with the changes of signing plugins.
    func signed(
        _ request: TransportRequest,
        to target: ResolvedTarget,
        _ context: RequestContext
    ) async throws -> TransportRequest {
        guard plugins.signs else { return request }
        do {
            let signed = try await cancellable(in: .prepare) { [plugins] in
                try await plugins.sign(request.urlRequest, context: context)
            }
            try checkCancellation()
            return try self.replacing(signed, in: request, to: target)
        } catch {
            throw failure(error, at: .request, request: request.urlRequest)
        }
    }

    /// The response if its status code is accepted. Keeps the response's fields out of the frames of suspended calls.
    @inline(never)
    private func validated(_ result: ExchangeResult, _ reception: Reception) throws -> Response {
        try Response(
            result.response,
            to: result.request,
            after: result.redirects,
            of: context.target,
            decoder: context.options.decoder,
            isStream: kind.isStream
        )
        .filter(result.validation ?? reception.validation ?? context.target.validation)
    }

    private func failure(_ error: any Error, of request: TransportRequest) -> TargetKitError {
        let error = request.timeout.map { ExceededLimit.exchange($0).explaining(error) } ?? error
        return failure(error, at: .transport, request: request.urlRequest)
    }

    /// The request, with its timeout measured by a test clock. A stub applies its delay and timeout itself.
    private func limited(_ request: TransportRequest, to target: ResolvedTarget) -> TransportRequest {
        guard target.stub == .never, !kind.isStream, let timeout = request.timeout,
            let clock = configuration.exchangeClock
        else { return request }
        var request = request
        request.timeout = nil
        request.limit = ExchangeLimit(timeout, by: clock, configuration.elapsedTime)
        return request
    }

    /// Sends a request of a driver that reads the body or replaces the response.
    private func driverResult(
        of request: TransportRequest,
        to target: ResolvedTarget,
        _ receive: @escaping @Sendable (ExchangeResult) async throws -> ExchangeResult
    ) async throws -> ExchangeResult {
        let result = try await exchangeResult(of: request, to: target)
        // The timeout covers the body of a stream.
        let isStreamed = if case .stream = request.destination { true } else { false }
        return try await within(isStreamed ? request.limit : nil) {
            try await self.cancellable { try await receive(result) }
        }
    }
}

// MARK: - The network

extension Call {
    /// Sends a request and follows its redirects.
    private func exchangeResult(of first: TransportRequest, to target: ResolvedTarget) async throws -> ExchangeResult {
        let timeout = first.timeout.map { RedirectTimeout($0, isPluginTimeCounted: !plugins.exchanges) }
        var request = timeout?.startingWhenSent(first) ?? first
        let redirect: RedirectFollower.Step
        // The response is released before the next exchange.
        do {
            var response = try await performExchange(request, to: target)
            if let next = try withoutExpectation(request, after: response.head, of: target, within: timeout) {
                request = next
                response = try await performExchange(request, to: target)
            }
            guard let next = try step(after: response, to: request, of: target) else {
                return arrived(response, to: request)
            }
            redirect = next
        }
        return try await follow(redirect, of: target, within: timeout)
    }

    /// Follows redirects until there is another response.
    private func follow(
        _ first: RedirectFollower.Step,
        of target: ResolvedTarget,
        within timeout: RedirectTimeout?
    ) async throws -> ExchangeResult {
        var step = first
        var redirects: [Redirect] = []
        while true {
            redirects.append(step.redirect)
            try configuration.redirects.check(redirects)
            var request = step.request
            request.onSend = nil
            request.timeout = try timeout?.remainingTime
            if step.redirect.isCrossOrigin { request.isCrossOrigin = true }
            // The response is released before the next exchange.
            do {
                var response = try await redirectedResponse(to: request, of: target, after: redirects)
                if let next = try withoutExpectation(request, after: response.head, of: target, within: timeout) {
                    request = next
                    response = try await redirectedResponse(to: request, of: target, after: redirects)
                }
                guard let next = try self.step(after: response, to: request, of: target) else {
                    return arrived(response, to: request, after: redirects)
                }
                step = next
            }
        }
    }

    /// The request without its expectation of 100 (Continue), to send again after a server that doesn't support it
    /// rejected it without processing the request (RFC 9110 §10.1.1); otherwise `nil`.
    private func withoutExpectation(
        _ request: TransportRequest,
        after head: ResponseHead,
        of target: ResolvedTarget,
        within timeout: RedirectTimeout?
    ) throws -> TransportRequest? {
        guard head.statusCode == 417, target.stub == .never,
            request.urlRequest.value(forHTTPHeaderField: "Expect")?.lowercased() == "100-continue"
        else { return nil }
        var next = request
        next.urlRequest.setValue(nil, forHTTPHeaderField: "Expect")
        next.timeout = try timeout?.remainingTime
        return next
    }

    /// The step after a response; `nil` if it isn't a redirect or isn't followed.
    private func step(
        after response: TransportResponse,
        to request: TransportRequest,
        of target: ResolvedTarget
    ) throws -> RedirectFollower.Step? {
        // A redirect in a sample response isn't followed.
        guard target.stub == .never, context.options.followsRedirects else { return nil }
        return try configuration.redirects.step(after: response.head, to: request)
    }

    private func arrived(
        _ response: TransportResponse,
        to request: TransportRequest,
        after redirects: [Redirect] = []
    ) -> ExchangeResult {
        meter?.responseArrived()
        return ExchangeResult(response: response, request: request.urlRequest, redirects: redirects)
    }

    /// Performs an exchange after a redirect. Its error records the redirects.
    private func redirectedResponse(
        to request: TransportRequest,
        of target: ResolvedTarget,
        after redirects: [Redirect]
    ) async throws -> TransportResponse {
        do {
            return try await performExchange(request, to: target)
        } catch let error as URLError {
            throw error.after(redirects, of: request.urlRequest)
        } catch var error as TargetKitError {
            error.isBehindRedirect = true
            throw error
        }
    }

    /// Performs one exchange with the plugins that surround it.
    private func performExchange(
        _ request: TransportRequest,
        to target: ResolvedTarget
    ) async throws -> TransportResponse {
        if target.stub != .never {
            let request = try await admitted(request)
            return try await notingProcessing(of: request) { try await sampleResponse(to: request, of: target) }
        }
        // A plugin's `willSend` may have cancelled the call before its task was attached to the handle.
        try checkCancellation()
        if plugins.exchanges { return try await surrounded(request, to: target) }
        return try await send(request, inTask: hasOwnTask)
    }

    /// The response of a stubbed call.
    private func sampleResponse(
        to request: TransportRequest,
        of target: ResolvedTarget
    ) async throws -> TransportResponse {
        request.onSend?(request.urlRequest)
        let transport = stubTransport(for: target)
        if let response = try transport.immediateResponse(to: request) { return response }
        return hasOwnTask
            ? try await transport.send(request) : try await transport.send(request, cancelledBy: handle)
    }

    /// Keeps the plugins' state off the frame of calls without plugins.
    @inline(never)
    private func surrounded(_ request: TransportRequest, to target: ResolvedTarget) async throws -> TransportResponse {
        var context = context
        context.attempt = handle.attempt
        let isInTask = hasOwnTask || plugins.waitingHooks.contains(.exchange)
        let chain = ExchangeChain(call: self, target: target, context: context, isInTask: isInTask)
        do {
            return try await cancellable(in: .exchange) { try await chain.response(to: request, from: 0) }
        } catch var error as TargetKitError {
            error.isOfPlugin = true
            throw error
        }
    }

    /// Sends a request over the transport.
    ///
    /// - Parameter isInTask: Whether cancelling the task is enough; otherwise the handle cancels the exchange.
    func send(_ request: TransportRequest, inTask isInTask: Bool) async throws -> TransportResponse {
        let request = try await admitted(request)
        let transport = configuration.transport
        return try await notingProcessing(of: request) {
            request.onSend?(request.urlRequest)
            if !isInTask { return try await transport.send(request, cancelledBy: handle) }
            if request.limit == nil { return try await transport.send(request) }
            return try await within(request.limit) { try await transport.send(request) }
        }
    }

    /// Runs a part of the exchange, until the limit is reached.
    private func within<Value: Sendable>(
        _ limit: ExchangeLimit?,
        work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let limit else { return try await work() }
        let timer = timer()
        defer { timer.end() }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await work() }
            group.addTask {
                try await timer.run { try await limit.wait() }
                return nil
            }
            defer { group.cancelAll() }
            if let value = try await group.next() ?? nil { return value }
            group.cancelAll()
            // The file may have been moved to its destination just now.
            if let value = try? await group.next() ?? nil, handle.isCommitted { return value }
            throw URLError(.timedOut)
        }
    }

    private func stubTransport(for target: ResolvedTarget) -> StubTransport {
        let (endpoint, clock) = (target.endpoint, configuration.clock)
        switch target.stub {
        case .never, .immediate: return StubTransport(endpoint.sampleResponse, clock: clock)
        case .delayed(let delay): return StubTransport(endpoint.sampleResponse, delay: delay, clock: clock)
        case .scenario(let name): return StubTransport(endpoint.sampleResponse(in: name), clock: clock)
        }
    }
}

extension URLError {
    /// This error, with the redirects that led to the request.
    fileprivate func after(_ redirects: [Redirect], of request: URLRequest) -> URLError {
        var userInfo = userInfo
        userInfo[FailureMark.redirects] = redirects.count
        if userInfo[NSURLErrorFailingURLErrorKey] == nil {
            userInfo[NSURLErrorFailingURLErrorKey] = request.url?.redacted
        }
        return URLError(code, userInfo: userInfo)
    }
}

/// The timeout of an exchange and its redirects, measured on the continuous clock, as in transports.
private final class RedirectTimeout: Sendable {
    private struct State: Sendable {
        var deadline: Deadline
        var isStarted: Bool
    }

    private let limit: Duration
    private let state: Locked<State>

    /// - Parameter isPluginTimeCounted: Whether the time starts now, rather than when the first request is sent.
    init(_ limit: Duration, isPluginTimeCounted: Bool) {
        self.limit = limit
        let deadline = Deadline(in: limit, elapsedTime: .continuous)
        state = Locked(State(deadline: deadline, isStarted: isPluginTimeCounted))
    }

    /// The first request, which starts the time when it is sent.
    func startingWhenSent(_ request: TransportRequest) -> TransportRequest {
        guard !state.withLock(\.isStarted) else { return request }
        var request = request
        request.onSend = { [onSend = request.onSend, self] sent in
            start()
            onSend?(sent)
        }
        return request
    }

    private func start() {
        let deadline = Deadline(in: limit, elapsedTime: .continuous)
        state.withLock { state in
            if !state.isStarted { state = State(deadline: deadline, isStarted: true) }
        }
    }

    /// The time for another exchange.
    ///
    /// - Throws: `URLError(.timedOut)` if none is left.
    var remainingTime: Duration {
        get throws {
            let left = state.withLock(\.deadline).remainingTime
            guard left > .zero else { throw URLError(.timedOut) }
            return left
        }
    }
}
