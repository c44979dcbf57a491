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
    /// Whether the last request went to another origin than the call's.
    let isCrossOrigin: Bool

    init(
        _ response: TransportResponse,
        to request: TransportRequest,
        after redirects: [Redirect],
        validation: StatusValidation?
    ) {
        self.response = response
        self.request = request.urlRequest
        self.redirects = redirects
        self.validation = validation
        isCrossOrigin = request.isCrossOrigin
    }
}

extension Call {
    /// The request, with the time limit of its exchange. A test clock measures it here, transports by the continuous
    /// clock. A stub applies its delay and timeout itself.
    func withDeadline(_ request: TransportRequest, of resolved: ResolvedRequest) -> TransportRequest {
        guard let timeout = request.timeout else { return request }
        var request = request
        let clock = configuration.clock
        if !resolved.isStubbed, kind != .stream, !(clock is ContinuousClock) {
            request.timeout = nil
            request.deadline = Deadline(in: timeout, by: configuration.elapsedTime, on: clock, isStarted: false)
        } else {
            // With plugins around the exchange, the time starts when the first request is sent.
            request.deadline = Deadline(in: timeout, by: .continuous, isStarted: !plugins.hasExchange)
        }
        return request
    }
}

// MARK: - The network

extension Call {
    /// Sets the request that follows a response. Returns `false` if none does.
    @inline(never)
    func follow(
        _ head: ResponseHead,
        to request: inout TransportRequest,
        after redirects: inout [Redirect],
        of resolved: ResolvedRequest
    ) throws -> Bool {
        // A redirect in a sample response isn't followed.
        let isFollowed = !resolved.isStubbed
        if isFollowed, request.isExpectationRejected(head) {
            request.urlRequest.setValue(nil, forHTTPHeaderField: "Expect")
        } else if isFollowed, context.options.followsRedirects,
            let step = try configuration.redirects.step(after: head, to: request)
        {
            redirects.append(step.redirect)
            try configuration.redirects.check(redirects)
            request = step.request
            request.onSend = nil
            if step.redirect.isCrossOrigin { request.isCrossOrigin = true }
        } else {
            meter?.responseArrived()
            return false
        }
        try request.limitToRemainingTime()
        return true
    }

    /// Performs one exchange: a stub's, or that of the plugins and the transport.
    func exchange(_ request: TransportRequest, of resolved: ResolvedRequest) async throws -> TransportResponse {
        if resolved.isStubbed {
            return try await transmit(request, over: StubTransport(resolved.sample, clock: configuration.clock))
        }
        // A plugin's `willSend` may have cancelled the call.
        try checkInterruption()
        if plugins.hasExchange { return try await surrounded(request) }
        return try await transmit(request, over: configuration.transport)
    }

    /// Keeps the plugins' state off the frame of calls without plugins.
    @inline(never)
    private func surrounded(_ request: TransportRequest) async throws -> TransportResponse {
        let chain = ExchangeChain(of: self, in: context.ofLastAttempt)
        do {
            return try await hook { try await chain.response(to: request) }
        } catch var error as TargetKitError {
            error.mark(.ofPlugin)
            throw error
        }
    }

    /// Sends a request over a transport, and notes whether the server may have processed it.
    @inline(__always)
    func transmit(_ request: TransportRequest, over transport: some Transport) async throws -> TransportResponse {
        var request = request
        if let gate = context.options.sendingGate { request = try await admitted(request, by: gate) }
        do {
            request.deadline?.start()
            request.onSend?(request.urlRequest)
            let response: TransportResponse
            if let deadline = request.deadline, deadline.clock != nil {
                response = try await within(deadline) { [request] in try await transport.send(request) }
            } else {
                response = try await transport.send(request)
            }
            noteProcessing(of: request, status: response.head.statusCode)
            return response
        } catch {
            noteProcessing(of: request, failure: error)
            throw error
        }
    }

    /// Runs a part of the exchange, until a deadline on a clock that transports don't know. One copy of the code for all
    /// values takes 8 KB less.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    func within<Value: Sendable>(
        _ deadline: Deadline?,
        work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let deadline, let clock = deadline.clock else { return try await work() }
        let timer = timer()
        defer { timer.end() }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await work() }
            group.addTask {
                try await timer.run { try await deadline.wait(on: clock) }
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
}

extension ResolvedRequest {
    /// The sample that a stubbed call returns.
    var sample: SampleResponse {
        switch stub {
        case .never, .immediate: endpoint.sampleResponse
        case .delayed(let delay): .delayed(delay, endpoint.sampleResponse)
        case .scenario(let name): endpoint.sampleResponse(in: name)
        }
    }
}

extension TransportRequest {
    /// The deadline of a driver that reads the response, if its body is a stream.
    var readDeadline: Deadline? {
        if case .stream = destination { deadline } else { nil }
    }

    /// Whether the server rejected the request without processing it, because it doesn't support the expectation of 100
    /// (Continue) (RFC 9110 §10.1.1).
    fileprivate func isExpectationRejected(_ head: ResponseHead) -> Bool {
        head.statusCode == 417 && urlRequest.value(forHTTPHeaderField: "Expect")?.lowercased() == "100-continue"
    }

    /// Shortens the timeout of another exchange to what is left of the deadline.
    ///
    /// - Throws: `URLError(.timedOut)` if nothing is left.
    fileprivate mutating func limitToRemainingTime() throws {
        guard timeout != nil, let deadline else { return }
        let left = deadline.remainingTime
        guard left > .zero else { throw URLError(.timedOut) }
        timeout = left
    }
}

extension URLError {
    /// This error with the URL of the request after redirects. A URL that the transport doesn't support is then the
    /// server's fault.
    func ofRedirect(to url: URL) -> URLError {
        var userInfo = userInfo
        if userInfo[NSURLErrorFailingURLErrorKey] == nil { userInfo[NSURLErrorFailingURLErrorKey] = url.redacted }
        guard code == .badURL || code == .unsupportedURL else { return URLError(code, userInfo: userInfo) }
        userInfo[FailureMark.words] = "the redirect can't be followed: the transport doesn't support its Location"
        return URLError(.redirectToNonExistentLocation, userInfo: userInfo)
    }
}

/// Admits a request before it is sent. It can change the request, or throw.
package typealias SendingGate = @Sendable (inout TransportRequest, RequestContext) async throws -> Void

extension CallOptions {
    /// Admits the call's requests, for example for a queue whose calls belong to one user; default `nil`: all of them.
    ///
    /// Called for each request immediately before it is passed to the transport, after all plugins. If it throws, the
    /// request isn't sent, and the call ends with stage `.request`.
    package var sendingGate: SendingGate? {
        get { self[SendingGateKey.self] }
        set { self[SendingGateKey.self] = newValue }
    }
}

private enum SendingGateKey: CallOptionKey { static let defaultValue: SendingGate? = nil }

extension Call {
    /// The request after the call's ``CallOptions/sendingGate``.
    func admitted(_ request: TransportRequest, by gate: SendingGate) async throws -> TransportRequest {
        var request = request
        do {
            try await gate(&request, context.ofLastAttempt)
            return request
        } catch  where !(error is CancellationError) {
            var failure = TargetKitError(stage: .request, request: request.urlRequest, underlying: error)
            failure.mark(.ofPlugin)
            throw failure
        }
    }
}
