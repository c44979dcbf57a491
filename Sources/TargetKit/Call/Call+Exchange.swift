// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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

/// How a driver receives the response to a request.
struct Reception: Sendable {
    /// The accepted statuses; `nil` for the target's validation.
    var validation: StatusValidation?
    /// Whether pausing the call ends the exchange.
    var endsWhenPaused = false
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
        let request = try await signed(prepared, to: target, context)
        context.sentRequest = request.urlRequest
        plugins.willSend(request.urlRequest, context: context)
        let result: Result<Response, TargetKitError>
        do {
            result = .success(try await validatedResponse(to: request, of: target, reception))
        } catch {
            let error = request.timeout.map { ExceededLimit.exchange($0).explaining(error) } ?? error
            result = .failure(failure(error, at: .transport, request: request.urlRequest))
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

    /// Sends a request, and returns its response if the status code is accepted.
    private func validatedResponse(
        to request: TransportRequest,
        of target: ResolvedTarget,
        _ reception: Reception
    ) async throws -> Response {
        let result =
            if reception.endsWhenPaused || reception.receive != nil {
                try await driverResult(of: request, to: target, reception)
            } else {
                try await exchangeResult(of: request, to: target)
            }
        try checkCancellation()
        return try Response(
            result.response,
            to: result.request,
            after: result.redirects,
            in: context,
            isStream: kind.isStream
        )
        .filter(result.validation ?? reception.validation ?? context.target.validation)
    }

    /// Sends a request of a driver that reads the body or replaces the response.
    private func driverResult(
        of request: TransportRequest,
        to target: ResolvedTarget,
        _ reception: Reception
    ) async throws -> ExchangeResult {
        let isStreamed = if case .stream = request.destination { true } else { false }
        let receive = reception.receive
        // The timeout covers the body of a stream, and pausing the call ends it.
        let exchange = { @Sendable in
            try await self.exchangeResult(of: request, to: target, receive: isStreamed ? receive : nil)
        }
        let result = reception.endsWhenPaused ? try await pausable(exchange) : try await exchange()
        guard !isStreamed, let receive else { return result }
        return try await cancellable { try await receive(result) }
    }
}

// MARK: - The network

extension Call {
    /// Sends a request within its timeout and follows its redirects.
    private func exchangeResult(
        of request: TransportRequest,
        to target: ResolvedTarget,
        receive: (@Sendable (ExchangeResult) async throws -> ExchangeResult)? = nil
    ) async throws -> ExchangeResult {
        var request = request
        // A stub applies its delay and timeout itself.
        if target.stub == .never, !kind.isStream, let timeout = request.timeout,
            let clock = configuration.exchangeClock
        {
            request.timeout = nil
            request.limit = ExchangeLimit(timeout, by: clock, configuration.elapsedTime)
        }
        let result = try await follow(request, to: target)
        meter?.responseArrived()
        guard let receive else { return result }
        return try await within(request.limit) {
            try await self.cancellable { try await receive(result) }
        }
    }

    private func follow(_ first: TransportRequest, to target: ResolvedTarget) async throws -> ExchangeResult {
        var request = first
        var redirects: [Redirect] = []
        let begun = first.timeout.map { _ in ContinuousClock.now }
        var sentAt: Locked<ContinuousClock.Instant?>?
        if begun != nil, plugins.exchanges {
            // The time that plugins wait before the first request isn't counted.
            let time = Locked<ContinuousClock.Instant?>(nil)
            sentAt = time
            request.onSend = { [onSend = first.onSend] sent in
                time.withLock { $0 = $0 ?? .now }
                onSend?(sent)
            }
        }
        while true {
            let step: RedirectFollower.Step
            // The response is released before the next exchange.
            do {
                if !redirects.isEmpty, let timeout = first.timeout, let start = sentAt?.withLock(\.self) ?? begun {
                    request.timeout = try (start + LongestWait.limited(timeout)).remainingTime
                }
                let response = try await redirectedResponse(to: request, of: target, after: redirects)
                // A redirect in a sample response isn't followed.
                guard target.stub == .never, context.options.followsRedirects,
                    let next = try configuration.redirects.step(after: response.head, to: request)
                else {
                    return ExchangeResult(response: response, request: request.urlRequest, redirects: redirects)
                }
                step = next
            }
            redirects.append(step.redirect)
            try configuration.redirects.check(redirects)
            request = step.request
            request.onSend = nil
            if step.redirect.isCrossOrigin { request.isCrossOrigin = true }
        }
    }

    /// Performs one exchange. An error after a redirect records the redirects.
    private func redirectedResponse(
        to request: TransportRequest,
        of target: ResolvedTarget,
        after redirects: [Redirect]
    ) async throws -> TransportResponse {
        if redirects.isEmpty { return try await performExchange(request, to: target) }
        do {
            return try await performExchange(request, to: target)
        } catch let error as URLError {
            throw error.after(redirects, of: request.urlRequest)
        }
    }

    /// Performs one exchange with the plugins that surround it.
    private func performExchange(
        _ request: TransportRequest,
        to target: ResolvedTarget
    ) async throws -> TransportResponse {
        // A plugin's `willSend` may have cancelled the call before its task was attached to the handle.
        try checkCancellation()
        guard plugins.exchanges, target.stub == .never else {
            return try await send(request, to: target, inTask: hasOwnTask)
        }
        return try await surrounded(request, to: target)
    }

    /// Keeps the plugins' state off the frame of calls without plugins.
    @inline(never)
    private func surrounded(_ request: TransportRequest, to target: ResolvedTarget) async throws -> TransportResponse {
        var context = context
        context.attempt = handle.attempt
        let isInTask = hasOwnTask || plugins.waitingHooks.contains(.exchange)
        let chain = ExchangeChain(call: self, target: target, context: context, end: .transport(inTask: isInTask))
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
    func send(
        _ request: TransportRequest,
        to target: ResolvedTarget,
        inTask isInTask: Bool
    ) async throws -> TransportResponse {
        let transport = transport(for: target)
        request.onSend?(request.urlRequest)
        return isInTask
            ? try await within(request.limit) { try await transport.send(request) }
            : try await transport.send(request, cancelledBy: handle)
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

    private func transport(for target: ResolvedTarget) -> any Transport {
        switch target.stub {
        case .never: configuration.transport
        case .immediate: StubTransport(target.endpoint.sampleResponse, clock: configuration.clock)
        case .delayed(let delay):
            StubTransport(target.endpoint.sampleResponse, delay: delay, clock: configuration.clock)
        case .scenario(let name):
            StubTransport(target.endpoint.sampleResponse(in: name), clock: configuration.clock)
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

extension ContinuousClock.Instant {
    /// The time until this instant.
    ///
    /// - Throws: `URLError(.timedOut)` if the instant is in the past.
    fileprivate var remainingTime: Duration {
        get throws {
            let left = ContinuousClock.now.duration(to: self)
            guard left > .zero else { throw URLError(.timedOut) }
            return left
        }
    }
}
