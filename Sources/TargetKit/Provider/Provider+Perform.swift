// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Provider {
    /// One call on its way through the provider.
    struct Call: Sendable {
        let target: Target
        var context: RequestContext
        let handle: RequestHandle
        var progress: (@Sendable (TransferProgress) -> Void)?

        /// The handle knows of a cancel first: the call may be running in the very step that starts its task.
        var isCancelled: Bool { Task.isCancelled || handle.isCancelled }

        func checkCancellation() throws {
            if isCancelled { throw CancellationError() }
        }
    }

    /// The path of a request, from the target to the result that the caller gets.
    func perform(_ call: Call) async -> Result<Response, TargetKitError> {
        var call = call
        var result: Result<Response, TargetKitError>
        do throws(TargetKitError) {
            let endpoint = try endpoint(for: call)
            let request = try await request(for: endpoint, call)
            repeat {
                let prepared = try await prepare(request, endpoint, call)
                plugins.willSend(prepared.urlRequest, context: call.context)
                result = await send(prepared, endpoint, call)
                plugins.didReceive(result, context: call.context)
            } while try await isRetried(result, &call)
        } catch {
            result = .failure(error)
        }
        return await process(result, call)
    }

    private func endpoint(for call: Call) throws(TargetKitError) -> Endpoint {
        let endpoint: Endpoint
        do {
            try call.checkCancellation()
            endpoint = try endpointClosure(call.target)
        } catch {
            throw failure(error, at: .endpoint, call)
        }
        return endpoint
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
            let prepared = try await plugins.prepare(request, context: call.context)
            try call.checkCancellation()
            return try endpoint.transportRequest(for: prepared, progress: call.progress)
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
            let arrival = try await transport(for: endpoint, call.target).send(request)
            try call.checkCancellation()
            let response = try Response(arrival, target: call.context.target)
            return .success(try response.filter(call.context.target.validation))
        } catch {
            return .failure(failure(error, at: .transport, call, request: request.urlRequest))
        }
    }

    /// The sample's transport for a stubbed target, else the provider's own. A sample is what the call ends with: a redirect
    /// in it is not followed.
    private func transport(for endpoint: Endpoint, _ target: Target) -> RedirectFollower {
        let stub: StubTransport
        switch stubClosure(target) {
        case .never:
            return RedirectFollower(
                transport: transport,
                policy: redirects,
                secretNames: plugins.secretHeaders,
                cookies: cookies
            )
        case .immediate: stub = StubTransport(endpoint.sampleResponse)
        case .delayed(let delay): stub = StubTransport(endpoint.sampleResponse, delay: delay, clock: clock)
        }
        return RedirectFollower(transport: stub, policy: .none, secretNames: [], cookies: nil)
    }

    /// Asks the plugins, and waits as long as they say.
    private func isRetried(
        _ result: Result<Response, TargetKitError>,
        _ call: inout Call
    ) async throws(TargetKitError) -> Bool {
        if call.isCancelled { return false }
        switch await plugins.retry(result, context: call.context) {
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

    /// Lets the plugins change the result. A call that was cancelled ends as cancelled, whatever they make of it.
    private func process(
        _ result: Result<Response, TargetKitError>,
        _ call: Call
    ) async -> Result<Response, TargetKitError> {
        let processed = await plugins.process(cancelled(result, call), context: call.context)
        return cancelled(processed, call)
    }

    /// The result, or the cancellation of a call that was cancelled before it had one.
    func cancelled<Value>(_ result: Result<Value, TargetKitError>, _ call: Call) -> Result<Value, TargetKitError> {
        guard call.isCancelled else { return result }
        if case .failure(let error) = result, error.stage == .cancelled { return result }
        let error = if case .failure(let error) = result { error as any Error } else { CancellationError() as any Error }
        return .failure(TargetKitError(stage: .cancelled, target: call.context.target, underlying: error))
    }

    private func failure(
        _ error: any Error,
        at stage: TargetKitError.Stage,
        _ call: Call,
        request: URLRequest? = nil
    ) -> TargetKitError {
        var failure = TargetKitError(error, at: stage, target: call.context.target, request: request)
        if call.isCancelled { failure.stage = .cancelled }
        return failure
    }
}

extension Endpoint {
    /// What the transport is asked to do, after a last look at what closures and plugins have made of the request.
    fileprivate func transportRequest(
        for request: URLRequest,
        progress: (@Sendable (TransferProgress) -> Void)?
    ) throws -> TransportRequest {
        let body = try body(of: request)
        let method = HTTPMethod(rawValue: request.httpMethod ?? HTTPMethod.get.rawValue)
        let hasBody = if case .none = body { false } else { true }
        try RequestCheck(method: method, hasBody: hasBody).check(request)
        return TransportRequest(
            urlRequest: request,
            body: body,
            destination: task.destination,
            timeout: try transportTimeout(of: request),
            progress: progress
        )
    }

    /// `URLRequest` has no word for "the transport's own limits": its 60 seconds mean that, unless the endpoint names a time.
    private func transportTimeout(of request: URLRequest) throws -> Duration? {
        let seconds = request.timeoutInterval
        if timeout == nil, seconds == 60 { return nil }
        guard seconds.isFinite, seconds < 1e9 else { return nil }
        guard seconds > 0 else { throw InvalidRequest.invalidTimeout(.seconds(seconds)) }
        return .milliseconds(max(1, Int64(seconds * 1000)))
    }
}
