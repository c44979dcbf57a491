// SPDX-License-Identifier: MIT
import TargetKit

/// A span of a tracing system: one attempt of a call.
///
/// ```swift
/// struct LoggedSpan: TraceSpan {
///     let context: TraceContext
///     let name: String
///     let start = ContinuousClock.now
///
///     func end(_ result: Result<Response, TargetKitError>) {
///         print(name, context.traceID, context.spanID, start.duration(to: .now))
///     }
/// }
/// ```
public protocol TraceSpan: Sendable {
    /// The trace context to send to the server, which identifies this span.
    var context: TraceContext { get }

    /// Ends the span. Called exactly once, on any thread.
    ///
    /// - Parameter result: The result of the attempt; stage `.cancelled` if it was abandoned before it was sent.
    func end(_ result: Result<Response, TargetKitError>)
}

/// Sends the trace context of each attempt to the server, in `traceparent` and `tracestate` (W3C Trace Context), and
/// can start a span for it in a tracing system.
///
/// ```swift
/// TraceContextPlugin()                                        // only the header fields
/// TraceContextPlugin(isTraced: { $0.host() == "api.example.com" }) { parent, request, context in
///     LoggedSpan(context: parent.child(), name: "\(context.target)")
/// }
/// ```
///
/// All attempts of a call belong to one trace, and each is a separate span. The call continues the trace of the
/// request's `traceparent` if the target sets one, or else ``TraceContext/current``; otherwise it starts a new trace.
/// The fields aren't signed, because intermediaries may change them.
public struct TraceContextPlugin: Plugin {
    /// The span of an attempt. It ends when it is released, unless it has already ended.
    private final class Attempt: Sendable {
        private let span: Locked<(any TraceSpan)?>

        init(_ span: any TraceSpan) {
            self.span = Locked(span)
        }

        deinit {
            end(.failure(TargetKitError(stage: .cancelled, underlying: CancellationError())))
        }

        func end(_ result: Result<Response, TargetKitError>) {
            let span = span.withLock { span in
                defer { span = nil }
                return span
            }
            span?.end(result)
        }
    }

    private let isTraced: @Sendable (URL) -> Bool
    private let startSpan: (@Sendable (TraceContext, URLRequest, RequestContext) -> any TraceSpan)?
    private let parent = PluginStorage<TraceContext>()
    private let attempt = PluginStorage<Attempt>()

    /// After `PluginPlace.signing`: 620.
    public var place: PluginPlace { PluginPlace(rawValue: PluginPlace.signing.rawValue + 20) }

    /// The hooks that the plugin implements.
    public var hooks: PluginHooks { [.prepare, .didReceive] }

    /// Creates a plugin that sends the trace context. Each attempt is an unrecorded span with a random identifier.
    ///
    /// - Parameter isTraced: Whether requests to a URL are traced; default: all. A trace shows servers which requests
    ///   belong together, so consider tracing only your own servers.
    public init(isTraced: @escaping @Sendable (URL) -> Bool = { _ in true }) {
        self.isTraced = isTraced
        startSpan = nil
    }

    /// Creates a plugin that sends the trace context and starts a span for each attempt.
    ///
    /// - Parameters:
    ///   - isTraced: Whether requests to a URL are traced; default: all.
    ///   - startSpan: Starts the span of an attempt, and returns it. The context of the span is sent. The parent is the
    ///     trace to continue.
    public init(
        isTraced: @escaping @Sendable (URL) -> Bool = { _ in true },
        startSpan:
            @escaping @Sendable (_ parent: TraceContext, _ request: URLRequest, _ context: RequestContext) ->
            any TraceSpan
    ) {
        self.isTraced = isTraced
        self.startSpan = startSpan
    }

    /// Starts the attempt's span, and adds the header fields.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        guard let url = request.url, isTraced(url) else { return request }
        let parent = parent(of: request, context: context)
        var sent = parent.child()
        if let startSpan {
            // An earlier attempt that wasn't sent ends here.
            let span = startSpan(parent, request, context)
            context[attempt] = Attempt(span)
            sent = span.context
        }
        var request = request
        try request.setField("traceparent", to: sent.traceparent)
        try request.setField("tracestate", to: sent.tracestate)
        return request
    }

    /// Ends the attempt's span.
    public func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        guard startSpan != nil else { return }
        context[attempt]?.end(result)
    }

    private func parent(of request: URLRequest, context: RequestContext) -> TraceContext {
        if let text = request.value(of: "traceparent"),
            let sent = TraceContext(traceparent: text, tracestate: request.value(of: "tracestate"))
        {
            return sent
        }
        if let parent = context[parent] { return parent }
        let start = TraceContext.current ?? TraceContext()
        context[parent] = start
        return start
    }
}
