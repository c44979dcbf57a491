// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Pipeline {
    /// Where the requests of a call go.
    struct Way {
        let follower: RedirectFollower
        let line: RedirectFollower.Line
    }

    /// The response of a call that its caller waits for. Cancelling the caller's task ends the call.
    func response(to call: ProviderCall, _ aim: Result<Aim, TargetKitError>) async -> Result<Response, TargetKitError> {
        await withTaskCancellationHandler {
            if call.plan.runsInCallersTask { return await perform(call, aim) }
            // The caller is on no actor any more: starting right here saves a hop to another thread.
            let task = Task.startingNow { await self.perform(call, aim) }
            call.handle.attach(task)
            return await task.value
        } onCancel: {
            call.handle.cancel()
        }
    }

    /// The path of a request, from the endpoint to the result that the caller gets.
    ///
    /// Most of its steps become a part of it, since each function that can wait costs. What cannot wait stays out of line: a
    /// call holds the room of all that is a part of it for as long as it waits.
    func perform(_ call: ProviderCall, _ aim: Result<Aim, TargetKitError>) async -> Result<Response, TargetKitError> {
        var call = call
        let result: Result<Response, TargetKitError>
        do {
            let aim = try aim.get()
            let way = way(of: aim, call)
            let request = try await request(nil, aim, call)
            result =
                call.plan.isShared
                ? await sharedExchange(request, on: way, aim, &call)
                : await exchange(request, on: way, aim, &call)
        } catch {
            result = .failure(call.failure(error, at: .request))
        }
        let named = named(call.end(with: result), call)
        return plugins.isIdle(.process, call.plan.hooks) ? named : await process(named, call)
    }

    /// What a call goes to, which a closure makes of its target.
    func aim(of call: ProviderCall, _ aim: () throws -> Aim) -> Result<Aim, TargetKitError> {
        do {
            guard call.plan.isAccepted else { throw TargetKitError(stage: .shutDown) }
            try call.plan.timeout.check()
            try Task.checkCancellation()
            try call.checkCancellation()
            let aim = try aim()
            if call.plan.headers.isEmpty { return .success(aim) }
            return .success(Aim(endpoint: aim.endpoint.adding(headers: call.plan.headers), stub: aim.stub))
        } catch {
            return .failure(call.failure(error, at: .endpoint))
        }
    }

    /// To the sample's transport for a stubbed target, which keeps the time itself, else to the provider's own. A sample is what
    /// the call ends with: a redirect in it is not followed.
    private func way(of aim: Aim, _ call: ProviderCall) -> Way {
        let handle = call.plan.runsInCallersTask ? call.handle : nil
        let stub: StubTransport
        switch aim.stub {
        case .never:
            return Way(follower: follower, line: .init(transport, tied: interruptibleTransport, to: handle))
        case .immediate: stub = StubTransport(aim.endpoint.sampleResponse)
        case .delayed(let delay): stub = StubTransport(aim.endpoint.sampleResponse, delay: delay, clock: clock)
        }
        return Way(follower: .ofSamples, line: .init(stub, tied: stub, to: handle))
    }

    /// The request of an attempt; repetitions begin with the one that was made for the first.
    @inline(__always)
    private func request(
        _ made: URLRequest?,
        _ aim: Aim,
        _ call: ProviderCall
    ) async throws -> PreparedRequest {
        if let ready = try readyRequest(made, aim, call) { return ready }
        return try await prepare(made, aim, call)
    }

    /// The request where neither closure nor plugins have a say: nothing waits, and it has been looked at.
    @inline(never)
    private func readyRequest(
        _ made: URLRequest?,
        _ aim: Aim,
        _ call: ProviderCall
    ) throws -> PreparedRequest? {
        guard requestClosure == nil, plugins.isIdle(.prepare, call.plan.hooks) else { return nil }
        var request = made
        do {
            let ready = try made ?? aim.endpoint.urlRequest()
            request = ready
            // To encode a body may take its time.
            try call.checkCancellation()
            let checked = try TransportRequest(checked: ready, aim.endpoint, call)
            return PreparedRequest(original: ready, final: OutgoingRequest(checked))
        } catch {
            throw call.failure(error, at: .request, request: request)
        }
    }

    /// What the closure makes of the endpoint, or made of it before, as the plugins want it.
    private func prepare(
        _ made: URLRequest?,
        _ aim: Aim,
        _ call: ProviderCall
    ) async throws -> PreparedRequest {
        try await call.interruptibly {
            var request = made
            do {
                try call.checkCancellation()
                let original = if let made { made } else { try await self.originalRequest(of: aim.endpoint) }
                request = original
                var prepared = original
                if !self.plugins.isIdle(.prepare, call.plan.hooks) {
                    try call.checkCancellation()
                    prepared = try await self.plugins.prepare(original, call.plan.hooks, context: call.context)
                }
                try call.checkCancellation()
                let final = try TransportRequest(prepared, aim.endpoint, call)
                return PreparedRequest(original: original, final: OutgoingRequest(final))
            } catch {
                throw call.failure(error, at: .request, request: request)
            }
        }
    }

    private func originalRequest(of endpoint: Endpoint) async throws -> URLRequest {
        guard let requestClosure else { return try endpoint.urlRequest() }
        return try await requestClosure(endpoint)
    }

    /// The request as it goes out, after the plugins that have the last word.
    private func finish(
        _ request: OutgoingRequest,
        _ call: ProviderCall
    ) async throws -> OutgoingRequest {
        try await call.interruptibly {
            do {
                let finished = try await self.plugins.finish(request.content, context: call.context)
                try call.checkCancellation()
                return OutgoingRequest(finished)
            } catch {
                throw call.failure(error, at: .request, request: request.urlRequest)
            }
        }
    }

    /// One attempt after the other, until the plugins want no more.
    @inline(__always)
    private func exchange(
        _ first: PreparedRequest,
        on way: Way,
        _ aim: Aim,
        _ call: inout ProviderCall
    ) async -> Result<Response, TargetKitError> {
        var request = first
        do {
            while true {
                if !plugins.finishers.isEmpty { request.final = try await finish(request.final, call) }
                request.final = way.follower.withCookies(request.final)
                call.context.isBodyReadAsItIsSent = request.final.content.body.isStreamed
                plugins.willSend(request.final.urlRequest, call.plan.hooks, context: call.context)
                let result = await send(request.final, on: way, call)
                plugins.didReceive(result, call.plan.hooks, context: call.context)
                guard !plugins.isIdle(.retry, call.plan.hooks), call.interruption == nil,
                    let next = try await nextRequest(after: result, to: request, aim, &call)
                else { return result }
                request = next
            }
        } catch {
            return .failure(call.failure(error, at: .request))
        }
    }

    /// The request of the next attempt; `nil` when the plugins want none.
    private func nextRequest(
        after result: Result<Response, TargetKitError>,
        to request: PreparedRequest,
        _ aim: Aim,
        _ call: inout ProviderCall
    ) async throws -> PreparedRequest? {
        guard try await isRetried(result, call) else { return nil }
        call.context.attempt += 1
        return try await self.request(request.original, aim, call)
    }

    /// An exchange that others which ask for the same wait for too.
    private func sharedExchange(
        _ request: PreparedRequest,
        on way: Way,
        _ aim: Aim,
        _ call: inout ProviderCall
    ) async -> Result<Response, TargetKitError> {
        let target = call.context.target
        guard let key = SharedCallKey(request.final.content, of: aim, validation: target.validation) else {
            return await exchange(request, on: way, aim, &call)
        }
        let ending = await sharedCalls.ending(for: key, id: call.context.id, progress: call.progress) {
            [call] (handle, report) in
            var (call, request) = (call, request)
            call.handle = handle
            call.progress = report
            request.final = request.final.with { $0.progress = report }
            let result = await self.exchange(request, on: way, aim, &call)
            return ExchangeEnding(result: result, attempt: call.context.attempt)
        }
        guard let ending = ending?.of(target) else {
            return .failure(call.failure(CancellationError(), at: .cancelled, request: request.final.urlRequest))
        }
        call.context.attempt = ending.attempt
        return ending.result
    }

    @inline(__always)
    private func send(
        _ request: OutgoingRequest,
        on way: Way,
        _ call: ProviderCall
    ) async -> Result<Response, TargetKitError> {
        if case .file(let file) = request.content.destination {
            return await download(request, to: file, on: way, call)
        }
        do {
            return .success(try response(try await way.follower.send(request, over: way.line), call))
        } catch {
            return .failure(call.failure(error, at: .transport, request: request.urlRequest))
        }
    }

    /// What arrived, if the target takes it.
    @inline(never)
    func response(_ arrival: RedirectFollower.Arrival, _ call: ProviderCall) throws -> Response {
        try call.checkCancellation()
        let target = call.context.target
        let isStream = call.plan.delivery.isStream
        let response = try Response(arrival, target: target, decoder: decoder, isStream: isStream)
        return try response.filter(target.validation)
    }

    /// Asks the plugins, and waits as long as they say.
    private func isRetried(
        _ result: Result<Response, TargetKitError>,
        _ call: ProviderCall
    ) async throws -> Bool {
        try await call.interruptibly {
            switch await self.plugins.retry(result, call.plan.hooks, context: call.context) {
            case .doNotRetry: return false
            case .fail(let error): throw call.failure(error, at: .transport)
            case .retry(let delay):
                do {
                    if delay > .zero { try await self.clock.wait(for: delay) }
                    try call.checkCancellation()
                } catch {
                    throw call.failure(error, at: .cancelled)
                }
                return true
            }
        }
    }

    /// Lets the target name its own error.
    private func named(
        _ result: Result<Response, TargetKitError>,
        _ call: ProviderCall
    ) -> Result<Response, TargetKitError> {
        guard call.plan.canMapErrors, let target = call.context.target as? any ErrorMappingTarget else { return result }
        return target.mapped(result)
    }

    /// Lets the plugins change the result. A call that was interrupted ends as that, whatever they make of it.
    private func process(
        _ result: Result<Response, TargetKitError>,
        _ call: ProviderCall
    ) async -> Result<Response, TargetKitError> {
        let processed = await call.interruptibly { () async in
            await self.plugins.process(result, call.plan.hooks, context: call.context)
        }
        return call.end(with: processed)
    }
}
