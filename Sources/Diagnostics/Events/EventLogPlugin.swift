// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// Reports the steps of every call as values: prepared, sent, head, body, failed, retry with its reason, stored bytes
/// dropped with the reason, finished.
///
/// ```swift
/// let failures = EventFile(folder.appending(path: "failures.jsonl"), sizeLimit: 256 << 10)
/// let log = EventLogPlugin { event in
///     if event.failure != nil { failures.append(event) }                // a log of errors that outlives the process
///     if event.step == .retry { counter.increment("retries", event.reason) }
/// }
/// let provider = Provider<Orders>(plugins: [log])
/// ```
///
/// Each call ends with one `CallEvent.Step.finished`, even if it was cancelled or failed before it was sent; for a
/// stream, at the end of its body. Events of one call arrive in order; events of different calls may arrive at the same
/// time. A shared exchange has its own events from `CallEvent.Step.sent` on. Bodies aren't reported.
///
/// For a readable log, use a `NetworkLoggerPlugin`, which reports the same steps.
public struct EventLogPlugin: Plugin {
    private let events: CallEvents

    /// `PluginPlace.observation`: the request is reported as it is sent.
    public var place: PluginPlace { .observation }

    /// The hooks that the plugin implements.
    public var hooks: PluginHooks { [.prepare, .willSend, .didReceive, .didFinish] }

    /// Creates a log.
    ///
    /// - Parameters:
    ///   - redaction: The secrets to redact; default: `Redaction()`.
    ///   - output: Receives each event, on any thread, and should return quickly.
    public init(redaction: Redaction = Redaction(), output: @escaping @Sendable (_ event: CallEvent) -> Void) {
        self.init(redaction: redaction, clock: ContinuousClock(), output: output)
    }

    /// Creates a log that measures durations with a test's clock.
    package init(
        redaction: Redaction = Redaction(),
        clock: any Clock<Duration>,
        output: @escaping @Sendable (_ event: CallEvent) -> Void
    ) {
        events = CallEvents(redaction: redaction, clock: clock) { event, _ in output(event) }
    }

    /// Reports `retry`, if it isn't the first attempt, and `prepared`.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        events.prepared(request, context: context)
        return request
    }

    /// Reports `sent`.
    public func willSend(_ request: URLRequest, context: RequestContext) {
        events.sent(request, context: context)
    }

    /// Reports `head`, `body` and `failed`.
    public func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        events.received(result, context: context)
    }

    /// Reports the `body` of a stream, and `finished`.
    public func didFinish(_ call: FinishedCall, context: RequestContext) {
        events.finished(call, context: context)
    }
}
