// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Provider {
    /// The path of a request, from the target to the result that the caller gets.
    func perform(_ call: Call) async -> Result<Response, TargetKitError> {
        var call = call
        let result: Result<Response, TargetKitError>
        do throws(TargetKitError) {
            let endpoint = try endpoint(for: call)
            let request = try await request(for: endpoint, call)
            let prepared = try await prepare(request, endpoint, call)
            let ending =
                sharing.shares(call.context.target)
                ? await sharedExchange(prepared, request, endpoint, call)
                : await exchange(prepared, request, endpoint, call)
            call.context.attempt = ending.attempt
            result = ending.result
        } catch {
            result = .failure(error)
        }
        return await process(result, call)
    }

    /// One attempt after the other, until the plugins want no more.
    private func exchange(
        _ first: TransportRequest,
        _ request: URLRequest,
        _ endpoint: Endpoint,
        _ call: Call
    ) async -> ExchangeEnding {
        var (call, prepared) = (call, first)
        do throws(TargetKitError) {
            while true {
                if !plugins.finishers.isEmpty { prepared = try await finish(prepared, call) }
                plugins.willSend(prepared.urlRequest, call.plan.hooks, context: call.context)
                let result = await send(prepared, endpoint, call)
                plugins.didReceive(result, call.plan.hooks, context: call.context)
                guard try await isRetried(result, &call) else {
                    return ExchangeEnding(result: result, attempt: call.context.attempt)
                }
                prepared = try await prepare(request, endpoint, call)
            }
        } catch {
            return ExchangeEnding(result: .failure(error), attempt: call.context.attempt)
        }
    }

    /// An exchange that others which ask for the same wait for too.
    private func sharedExchange(
        _ prepared: TransportRequest,
        _ request: URLRequest,
        _ endpoint: Endpoint,
        _ call: Call
    ) async -> ExchangeEnding {
        let target = call.context.target
        guard let key = SharedCallKey(prepared, of: endpoint, validation: target.validation) else {
            return await exchange(prepared, request, endpoint, call)
        }
        let ending = await sharedCalls.ending(for: key, id: call.context.id, progress: call.progress) {
            (handle, report) in
            var (call, prepared) = (call, prepared)
            call.handle = handle
            call.progress = report
            prepared.progress = report
            return await self.exchange(prepared, request, endpoint, call)
        }
        guard let ending else {
            let failure = failure(CancellationError(), at: .cancelled, call, request: prepared.urlRequest)
            return ExchangeEnding(result: .failure(failure), attempt: call.context.attempt)
        }
        return ending.of(target)
    }

    private func endpoint(for call: Call) throws(TargetKitError) -> Endpoint {
        let endpoint: Endpoint
        do {
            guard call.plan.isAccepted else { throw TargetKitError(stage: .shutDown) }
            try call.plan.timeout.check()
            try call.checkCancellation()
            endpoint = try endpointClosure(call.plan.target)
        } catch {
            throw failure(error, at: .endpoint, call)
        }
        return call.plan.headers.isEmpty ? endpoint : endpoint.adding(headers: call.plan.headers)
    }

    private func request(for endpoint: Endpoint, _ call: Call) async throws(TargetKitError) -> URLRequest {
        do {
            try call.checkCancellation()
            return try await requestClosure(endpoint)
        } catch {
            throw failure(error, at: .request, call)
        }
    }

    private func prepare(
        _ request: URLRequest,
        _ endpoint: Endpoint,
        _ call: Call
    ) async throws(TargetKitError) -> TransportRequest {
        do {
            try call.checkCancellation()
            let prepared = try await plugins.prepare(request, call.plan.hooks, context: call.context)
            try call.checkCancellation()
            return try TransportRequest(prepared, endpoint, call)
        } catch {
            throw failure(error, at: .request, call, request: request)
        }
    }

    private func send(
        _ request: TransportRequest,
        _ endpoint: Endpoint,
        _ call: Call
    ) async -> Result<Response, TargetKitError> {
        do {
            let arrival = try await arrival(request, endpoint, call)
            try call.checkCancellation()
            let isStream = call.plan.delivery.isStream
            let response = try Response(arrival, target: call.context.target, decoder: decoder, isStream: isStream)
            return .success(try response.filter(call.context.target.validation))
        } catch {
            return .failure(failure(error, at: .transport, call, request: request.urlRequest))
        }
    }

    /// Sends by the sample's transport for a stubbed target, else by the provider's own. A sample is what the call ends with: a
    /// redirect in it is not followed.
    private func arrival(
        _ request: TransportRequest,
        _ endpoint: Endpoint,
        _ call: Call
    ) async throws -> RedirectFollower.Arrival {
        let stub: StubTransport
        switch stubClosure(call.plan.target) {
        case .never:
            let follower = RedirectFollower(
                transport: transport,
                policy: redirects,
                secretNames: plugins.secretHeaders,
                cookies: cookies
            )
            return try await follower.send(request, timeLimitBy: clock)
        case .immediate: stub = StubTransport(endpoint.sampleResponse)
        case .delayed(let delay): stub = StubTransport(endpoint.sampleResponse, delay: delay, clock: clock)
        }
        return try await RedirectFollower(transport: stub, policy: .none, secretNames: [], cookies: nil).send(request)
    }

    /// Asks the plugins, and waits as long as they say.
    private func isRetried(
        _ result: Result<Response, TargetKitError>,
        _ call: inout Call
    ) async throws(TargetKitError) -> Bool {
        if call.interruption != nil { return false }
        switch await plugins.retry(result, call.plan.hooks, context: call.context) {
        case .doNotRetry: return false
        case .fail(let error): throw failure(error, at: .transport, call)
        case .retry(let delay):
            do {
                if delay > .zero { try await clock.sleep(for: delay) }
                try call.checkCancellation()
            } catch {
                throw failure(error, at: .cancelled, call)
            }
            call.context.attempt += 1
            return true
        }
    }

    /// Lets the target name its own error, and the plugins change the result. A call that was interrupted ends as that, whatever
    /// they make of it.
    private func process(
        _ result: Result<Response, TargetKitError>,
        _ call: Call
    ) async -> Result<Response, TargetKitError> {
        var result = interrupted(result, call)
        if let target = call.context.target as? any ErrorMappingTarget { result = target.mapped(result) }
        let processed = await plugins.process(result, call.plan.hooks, context: call.context)
        return interrupted(processed, call)
    }

    /// The result, or the interruption of a call that was interrupted before it had one.
    func interrupted<Value>(_ result: Result<Value, TargetKitError>, _ call: Call) -> Result<Value, TargetKitError> {
        guard let interruption = call.interruption else { return result }
        guard case .failure(let error) = result else {
            let error = TargetKitError(stage: .cancelled, target: call.context.target, underlying: CancellationError())
            return .failure(error.ended(by: interruption))
        }
        return .failure(error.ended(by: interruption))
    }

    func failure(
        _ error: any Error,
        at stage: TargetKitError.Stage,
        _ call: Call,
        request: URLRequest? = nil
    ) -> TargetKitError {
        let failure = TargetKitError(error, at: stage, target: call.context.target, request: request)
        return call.interruption.map { failure.ended(by: $0) } ?? failure
    }
}

extension TargetKitError {
    /// This error as the end of a call that was interrupted.
    fileprivate func ended(by interruption: RequestHandle.Interruption) -> TargetKitError {
        var error = self
        switch interruption {
        case .cancelled:
            error.stage = .cancelled
            error.appError = nil
        case .timedOut:
            error.stage = .transport
            if (underlying as? URLError)?.code != .timedOut {
                error.underlying = URLError(.timedOut)
                error.appError = nil
            }
        }
        return error
    }
}
