// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Measures every call: how long it took, what went over the wire, how often it was tried again, how it ended; one by one for a
/// closure, and summed up by endpoint.
///
/// ```swift
/// let metrics = MetricsPlugin { call in
///     if call.duration > .seconds(2) { log("\(call.endpoint) took \(call.duration), \(call.retryCount) retries") }
/// }
/// let provider = Provider<Orders>(plugins: [metrics])
/// print(metrics.summaries["GET Orders.latest"]?.p90 ?? .zero)
/// ```
///
/// Each call is reported exactly once, also one that was cancelled or has failed before it was sent. One plugin may serve any
/// number of providers; it then counts their calls together. Its memory is bounded: by 8 KiB for each endpoint
/// (its percentiles are within 1/64, 1.6 %, of the exact ones), and by the number of endpoints.
///
/// On Apple's systems `SignpostPlugin` shows the calls in Instruments.
///
/// Order: first, so that the time that other plugins take counts.
public struct MetricsPlugin: Plugin {
    private struct Running: Sendable {
        let start: Duration
        var attemptStart: Duration?
        var attempts: [CallMetrics.Attempt] = []
    }

    private struct State: Sendable {
        var running: [RequestContext.ID: Running] = [:]
        var summaries: [String: EndpointSummary] = [:]
    }

    /// What endpoints are summed up under that come when there are as many as may be.
    package static let otherEndpoints = "other"

    private let elapsedTime: ElapsedTime
    private let endpointLimit: Int
    private let name: @Sendable (any TargetType) -> String
    private let report: @Sendable (CallMetrics) -> Void
    private let state = Locked(State())

    /// A plugin that measures calls.
    ///
    /// - Parameters:
    ///   - clock: What durations are measured by; default the continuous clock, which does not jump.
    ///   - endpointLimit: How many endpoints are summed up by themselves; default 200. Calls of more are summed up under
    ///     `other`.
    ///   - report: Is called with each call, once, when its result stands; on any thread. Default: nobody is told.
    ///   - name: The name of a target's endpoint. It should have no identifiers in it, `GET /users/:id`, so that there are not
    ///     too many. Default `nil`: method, type and case of the target, `GET Orders.latest`.
    public init(
        clock: any Clock<Duration> = ContinuousClock(),
        endpointLimit: Int = 200,
        report: @escaping @Sendable (CallMetrics) -> Void = { _ in },
        name: (@Sendable (any TargetType) -> String)? = nil
    ) {
        elapsedTime = ElapsedTime(clock)
        self.endpointLimit = endpointLimit
        self.name = name ?? { "\($0.method.rawValue) \($0.name)" }
        self.report = report
    }

    /// What the calls of each endpoint have cost since the start, or since ``reset()``.
    public var summaries: [String: EndpointSummary] { state.withLock(\.summaries) }

    /// Forgets the summaries, and returns them: for a report every minute.
    @discardableResult
    public func reset() -> [String: EndpointSummary] {
        state.withLock { state in
            defer { state.summaries = [:] }
            return state.summaries
        }
    }

    /// Starts the call, at the first attempt.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        if context.attempt == 0 {
            let now = elapsedTime.current
            state.withLock { $0.running[context.id] = Running(start: now) }
        }
        return request
    }

    /// Starts an attempt.
    public func willSend(_ request: URLRequest, context: RequestContext) {
        let now = elapsedTime.current
        state.withLock { $0.running[context.id]?.attemptStart = now }
    }

    /// Ends an attempt.
    public func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        let now = elapsedTime.current
        guard let start = state.withLock({ $0.running[context.id]?.attemptStart }) else { return }
        let attempt = CallMetrics.Attempt(
            duration: now - start,
            statusCode: result.response?.statusCode,
            failure: result.failureKind,
            transport: result.response?.metrics
        )
        state.withLock { state in
            state.running[context.id]?.attemptStart = nil
            state.running[context.id]?.attempts.append(attempt)
        }
    }

    /// Ends the call, counts it and reports it.
    public func process(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        let now = elapsedTime.current
        let running = state.withLock { $0.running.removeValue(forKey: context.id) }
        let call = CallMetrics(
            id: context.id,
            target: context.target,
            endpoint: name(context.target),
            attempts: running?.attempts ?? [],
            duration: running.map { now - $0.start } ?? .zero,
            statusCode: result.response?.statusCode,
            failure: result.failureKind
        )
        state.withLock { state in
            let isKnown = state.summaries[call.endpoint] != nil || state.summaries.count < endpointLimit
            state.summaries[isKnown ? call.endpoint : Self.otherEndpoints, default: EndpointSummary()]
                .add(call, isMeasured: running != nil)
        }
        report(call)
        return result
    }
}

extension Result where Success == Response, Failure == TargetKitError {
    /// The response, that of a failure too.
    fileprivate var response: Response? {
        switch self {
        case .success(let response): response
        case .failure(let error): error.response
        }
    }

    fileprivate var failureKind: TargetKitError.Kind? {
        if case .failure(let error) = self { error.kind } else { nil }
    }
}
