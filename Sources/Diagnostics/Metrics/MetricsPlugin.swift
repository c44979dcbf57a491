// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// Measures the duration, bytes, attempts and result of every call. Reports each call to a closure, and summarizes
/// calls by endpoint.
///
/// ```swift
/// let metrics = MetricsPlugin { call in
///     if call.duration > .seconds(2) { log("\(call.endpoint) took \(call.duration), \(call.attempts.count) attempts") }
/// }
/// let provider = Provider<Orders>(plugins: [metrics])
/// print(metrics.summaries["GET Orders.latest"]?.percentile(0.9) ?? .zero)
/// ```
///
/// Each call is reported exactly once, at its end, even if it was cancelled or failed before it was sent; a stream, at
/// the end of its body. Several providers can share a plugin, which then counts their calls together. Each endpoint
/// uses at most 8 KiB, with percentiles within 1/64 (1.6 %) of the exact value, and the number of endpoints is limited.
///
/// On Apple platforms `SignpostPlugin` shows the calls in Instruments.
public struct MetricsPlugin: Plugin {
    /// The attempts of a call. A shared exchange adds its attempts to the call that started it.
    private struct Attempts: Sendable {
        var start: Duration?
        var finished: [CallMetrics.Attempt] = []
    }

    /// The endpoint that summarizes the calls of all endpoints above the limit.
    package static let otherEndpoints = "other"

    private let elapsedTime: ElapsedTime
    private let endpointLimit: Int
    private let name: @Sendable (any TargetType) -> String
    private let report: @Sendable (CallMetrics) -> Void
    private let endpoints = Locked<[String: EndpointSummary]>([:])
    private let attempts = PluginStorage<Locked<Attempts>>()

    /// `PluginPlace.start`.
    public var place: PluginPlace { .start }

    /// The hooks that the plugin implements.
    public var hooks: PluginHooks { [.prepare, .willSend, .didReceive, .didFinish] }

    /// Creates a plugin that measures calls.
    ///
    /// - Parameters:
    ///   - endpointLimit: The maximum number of endpoints with separate summaries; default: 200. Calls of other
    ///     endpoints are summarized as `other`.
    ///   - report: Called once for each call, at its end, on any thread; default: does nothing.
    ///   - name: Returns the name of a target's endpoint, for example `GET /users/:id`. It should contain no
    ///     identifiers, so that the number of endpoints stays small. Default `nil`: the method, type and case of the
    ///     target, for example `GET Orders.latest`.
    public init(
        endpointLimit: Int = 200,
        report: @escaping @Sendable (CallMetrics) -> Void = { _ in },
        name: (@Sendable (any TargetType) -> String)? = nil
    ) {
        self.init(clock: ContinuousClock(), endpointLimit: endpointLimit, report: report, name: name)
    }

    /// Creates a plugin that measures attempts with a test's clock.
    package init(
        clock: any Clock<Duration>,
        endpointLimit: Int = 200,
        report: @escaping @Sendable (CallMetrics) -> Void = { _ in },
        name: (@Sendable (any TargetType) -> String)? = nil
    ) {
        elapsedTime = ElapsedTime(clock)
        self.endpointLimit = endpointLimit
        self.name = name ?? { "\($0.method.rawValue) \($0.name)" }
        self.report = report
    }

    /// The summary of each endpoint, since the plugin was created or since ``reset()``.
    public var summaries: [String: EndpointSummary] { endpoints.withLock { $0 } }

    /// Returns the summaries and starts over, for example for a report every minute.
    @discardableResult
    public func reset() -> [String: EndpointSummary] {
        endpoints.withLock { endpoints in
            defer { endpoints = [:] }
            return endpoints
        }
    }

    /// Starts the call at its first attempt.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        if context[attempts] == nil { context[attempts] = Locked(Attempts()) }
        return request
    }

    /// Starts an attempt.
    public func willSend(_ request: URLRequest, context: RequestContext) {
        let now = elapsedTime.current
        context[attempts]?.withLock { $0.start = now }
    }

    /// Ends an attempt.
    public func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        let now = elapsedTime.current
        let (response, error) = result.parts
        context[attempts]?.withLock { attempts in
            guard let start = attempts.start else { return }
            attempts.start = nil
            attempts.finished.append(
                CallMetrics.Attempt(
                    duration: now - start,
                    statusCode: response?.statusCode,
                    failure: error?.kind,
                    transport: response?.metrics
                )
            )
        }
    }

    /// Counts the call and reports it.
    public func didFinish(_ call: FinishedCall, context: RequestContext) {
        let attempts = context[attempts]?.withLock(\.finished)
        let (response, error) = call.result.parts
        let metrics = CallMetrics(
            target: context.target,
            endpoint: name(context.target),
            attempts: attempts ?? [],
            duration: call.duration,
            statusCode: response?.statusCode,
            failure: error?.kind,
            streamedByteCount: call.streamedByteCount
        )
        endpoints.withLock { endpoints in
            let isKnown = endpoints[metrics.endpoint] != nil || endpoints.count < endpointLimit
            endpoints[isKnown ? metrics.endpoint : Self.otherEndpoints, default: EndpointSummary()]
                .add(metrics, isMeasured: attempts != nil)
        }
        report(metrics)
    }
}
