// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

extension MoyaProvider {
    /// Creates the underlying TargetKit provider.
    func makePipeline() -> Provider<LegacyTarget<Target>> {
        let closures = Unchecked((endpoint: endpointClosure, stub: stubClosure))
        // Calls an override of `endpoint(_:)` as long as this provider exists.
        let endpoint = Unchecked<(Target) -> Endpoint> { [weak self] target in
            self?.endpoint(target) ?? closures.value.endpoint(target)
        }
        let stub = Unchecked<(LegacyTarget<Target>) -> TargetKit.StubBehavior> { target in
            target.call?.stub ?? closures.value.stub(target.target).targetKitBehavior
        }
        let targetKitEndpoint = Unchecked<(LegacyTarget<Target>) throws -> TargetKit.Endpoint> { target in
            let moyaEndpoint = target.call?.endpoint?.value ?? endpoint.value(target.target)
            let isStubbed = stub.value(target) != .never
            return try TargetKit.Endpoint(moyaEndpoint, request: target.call?.urlRequest, isStubbed: isStubbed)
        }
        var plugins: [any Plugin] = [
            RequestPlugin<Target>(session: session, endpoint: endpoint, request: Unchecked(requestClosure))
        ]
        plugins += self.plugins.map { LegacyPlugin($0) }
        plugins.append(SessionPlugin(session: session))
        plugins.append(
            TargetKitPlugins.CredentialsPlugin { target in (target as? any LegacyTargetValue)?.call?.request.credential
            }
        )
        return Provider(
            endpointClosure: targetKitEndpoint.function(),
            stubClosure: stub.function(),
            transport: session.makeTransport(),
            plugins: plugins + targetKitPlugins,
            options: session.options,
            redirects: session.redirectHandler?.behavior == .doNotFollow ? .none : .follow(),
            scope: session.scope
        )
    }
}

/// Replaces the request of a call with the request of the ``MoyaProvider``'s request closure, before all other plugins.
private struct RequestPlugin<Target: TargetType>: Plugin {
    let session: Session
    let endpoint: Unchecked<(Target) -> Endpoint>
    let request: Unchecked<MoyaProvider<Target>.RequestClosure>

    var place: PluginPlace { PluginPlace(rawValue: 0) }
    var hooks: PluginHooks { .prepare }

    func prepare(_ original: URLRequest, context: RequestContext) async throws -> URLRequest {
        guard let target = context.target as? LegacyTarget<Target> else { return original }
        let call = target.call
        if call == nil { context[MoyaCallKey.self] = MoyaCall(Request(session: session)) }
        let moyaEndpoint = call?.endpoint ?? Unchecked(endpoint.value(target.target))
        try moyaEndpoint.value.checkParts()
        var request: URLRequest
        if let known = call?.urlRequest { request = known } else { request = try await urlRequest(of: moyaEndpoint) }
        let task = moyaEndpoint.value.task
        if request.httpMethod == "GET", let body = request.httpBody {
            throw AFError.urlRequestValidationFailed(reason: .bodyDataInGETRequest(body))
        }
        if task.parts != nil {
            request.httpBody = original.httpBody
            request.setValue(original.value(forHTTPHeaderField: "Content-Type"), forHTTPHeaderField: "Content-Type")
        }
        // In a call of `targetKit`, it would limit the whole transfer.
        if call == nil, task.isUpload || task.destination != nil { request.timeoutInterval = 60 }
        request.setValue(nil, forHTTPHeaderField: "Content-Length")
        return request
    }

    /// Waits for the request closure.
    private func urlRequest(of endpoint: Unchecked<Endpoint>) async throws -> URLRequest {
        try await answer { outcome in
            request.value(endpoint.value) { result in outcome.settle(result.mapError { $0 as any Error }) }
        }
    }
}

/// Adapts and retries requests with the session's interceptor, and adds the session's header fields.
private struct SessionPlugin: Plugin {
    let session: Session

    var place: PluginPlace { .authentication }
    var hooks: PluginHooks { [.prepare, .willSend, .retry, .didFinish] }

    func prepare(_ original: URLRequest, context: RequestContext) async throws -> URLRequest {
        var request = original
        if let interceptor = session.interceptor {
            let state = RequestAdapterState(requestID: context.moyaCall.request.id, session: session)
            let adapting = Unchecked(interceptor)
            do {
                request = try await answer { outcome in
                    adapting.value.adapt(original, using: state) { outcome.settle($0) }
                }
            } catch {
                throw AFError.requestAdaptationFailed(error: error)
            }
        }
        // The transports set `Accept-Encoding`, and decode the codings that they request.
        for (name, value) in session.additionalHeaders where request.value(forHTTPHeaderField: name) == nil {
            if name != "Accept-Encoding" || value != HTTPHeader.defaultAcceptEncoding.value {
                request.setValue(value, forHTTPHeaderField: name)
            }
        }
        return request
    }

    func willSend(_ urlRequest: URLRequest, context: RequestContext) {
        let request = context.moyaCall.request
        request.record(urlRequest, attempt: context.attempt, secretHeaders: context.secretHeaders)
        for monitor in session.eventMonitors {
            monitor.queue.async(monitor) { monitor in
                monitor.request(request, didCreateURLRequest: urlRequest)
                if context.attempt == 0 { monitor.requestDidResume(request) }
            }
        }
    }

    func didFinish(_ call: FinishedCall, context: RequestContext) {
        guard !session.eventMonitors.isEmpty else { return }
        let request = context.moyaCall.request
        switch call.result {
        case .success(let response): request.didReceive(response.httpResponse, error: nil)
        case .failure(let error): request.didReceive(error.response?.httpResponse, error: error.afError)
        }
        for monitor in session.eventMonitors {
            monitor.queue.async(monitor) { monitor in
                if request.isCancelled { monitor.requestDidCancel(request) }
                monitor.requestDidFinish(request)
            }
        }
    }

    func retry(
        _ result: Result<TargetKit.Response, TargetKitError>,
        context: RequestContext
    ) async -> RetryDecision {
        guard let interceptor = session.interceptor, case .failure(let failure) = result, failure.stage != .cancelled
        else { return .doNotRetry }
        let (request, error) = (context.moyaCall.request, failure.afError)
        request.didReceive(failure.response?.httpResponse, error: error)
        let retrying = Unchecked(interceptor)
        let decision = try? await answer { outcome in
            retrying.value.retry(request, for: session, dueTo: error) { outcome.settle(.success($0)) }
        }
        switch decision {
        case .retry: return .retry(after: .zero)
        case .retryWithDelay(let seconds): return .retry(after: .seconds(min(max(0, seconds), 1e9)))
        case .doNotRetryWithError(let retryError):
            var failure = failure
            failure.underlying = AFError.requestRetryFailed(retryError: retryError, originalError: error)
            return .fail(failure)
        case .doNotRetry, nil: return .doNotRetry
        }
    }
}

/// Waits for a callback of the app, which may be called twice, or never if the task is cancelled.
private func answer<Value: Sendable>(_ ask: (SharedOutcome<Result<Value, any Error>>) -> Void) async throws -> Value {
    try _Concurrency.Task.checkCancellation()
    let outcome = SharedOutcome<Result<Value, any Error>>()
    ask(outcome)
    return try await outcome.value().get()
}

extension DispatchQueue {
    fileprivate func async(_ monitor: any EventMonitor, work: @escaping @Sendable (any EventMonitor) -> Void) {
        let monitor = Unchecked(monitor)
        async { work(monitor.value) }
    }
}
