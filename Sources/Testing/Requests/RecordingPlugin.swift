// SPDX-License-Identifier: MIT
import TargetKit

/// A plugin that records its hooks, the sent requests, and the finished calls. Pass closures to change requests, retry
/// calls, or replace results.
///
/// ```swift
/// let recorder = RecordingPlugin(retry: { _, context in context.attempt == 0 ? .retry(after: .zero) : .doNotRetry })
/// let provider = Provider<Catalog>(stubClosure: { _ in .immediate }, plugins: [recorder])
/// _ = try await provider.request(.search("tea"))
/// #expect(recorder.events.last == .process(.status(200)))
/// try recorder.log.expect(.target(Catalog.search("tea")), times: 2)
/// #expect(recorder.finishedCalls.count == 1)
/// ```
public struct RecordingPlugin: Plugin {
    /// The result of an attempt or call.
    public enum Outcome: Sendable, Hashable {
        /// A response with a status code.
        case status(Int)
        /// An error at a stage.
        case failure(TargetKitError.Stage)

        package init(_ result: Result<Response, TargetKitError>) {
            switch result {
            case .success(let response): self = .status(response.statusCode)
            case .failure(let error): self = .failure(error.stage)
            }
        }
    }

    /// A hook that was called. The attempts of a call are counted from 0.
    public enum Event: Sendable, Hashable {
        /// `prepare`.
        case prepare(attempt: Int)
        /// `willSend`.
        case willSend(attempt: Int)
        /// `didReceive`, with the attempt's result.
        case didReceive(attempt: Int, Outcome)
        /// `retry`.
        case retry(attempt: Int)
        /// `process`, with the call's result.
        case process(Outcome)
    }

    /// The hooks that it records.
    public var hooks: PluginHooks { [.prepare, .willSend, .didReceive, .retry, .process, .didFinish] }
    /// The place of the plugin.
    public let place: PluginPlace
    /// The requests passed to `willSend`. Bodies are included if they are in memory.
    public let log: RequestLog
    private let recordedEvents = Recorder<Event>()
    private let recordedCalls = Recorder<FinishedCall>()
    private let onPrepare: @Sendable (URLRequest, RequestContext) async throws -> URLRequest
    private let onRetry: @Sendable (Result<Response, TargetKitError>, RequestContext) async -> RetryDecision
    private let onProcess:
        @Sendable (Result<Response, TargetKitError>, RequestContext) async -> Result<Response, TargetKitError>

    /// Creates a plugin.
    ///
    /// - Parameters:
    ///   - place: The place of the plugin; default: `.standard`.
    ///   - log: The log for the requests; default: a new one.
    ///   - prepare: Returns the request to send; default: the unchanged request.
    ///   - retry: Returns whether to retry; default: never.
    ///   - process: Returns the result of the call; default: the unchanged result.
    public init(
        place: PluginPlace = .standard,
        log: RequestLog = RequestLog(),
        prepare: @escaping @Sendable (URLRequest, RequestContext) async throws -> URLRequest = { request, _ in request
        },
        retry: @escaping @Sendable (Result<Response, TargetKitError>, RequestContext) async -> RetryDecision = { _, _ in
            .doNotRetry
        },
        process:
            @escaping @Sendable (
                Result<Response, TargetKitError>, RequestContext
            ) async -> Result<Response, TargetKitError> = { result, _ in result }
    ) {
        self.place = place
        self.log = log
        onPrepare = prepare
        onRetry = retry
        onProcess = process
    }

    /// The hooks that were called, in order. `didFinish` isn't included; see ``finishedCalls``.
    public var events: [Event] { recordedEvents.elements }

    /// The calls that finished, in order.
    public var finishedCalls: [FinishedCall] { recordedCalls.elements }

    /// Returns when a number of hooks have been called.
    package func waitForEvents(_ count: Int) async {
        await recordedEvents.waitForCount(count)
    }

    /// Records the hook, and calls the closure.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        recordedEvents.append(.prepare(attempt: context.attempt))
        return try await onPrepare(request, context)
    }

    /// Records the hook and the request.
    public func willSend(_ request: URLRequest, context: RequestContext) {
        recordedEvents.append(.willSend(attempt: context.attempt))
        log.append(
            RecordedRequest(request, body: request.httpBody ?? Data(), target: context.target, context.secretHeaders)
        )
    }

    /// Records the hook and the result.
    public func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        recordedEvents.append(.didReceive(attempt: context.attempt, Outcome(result)))
    }

    /// Records the hook, and calls the closure.
    public func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
        recordedEvents.append(.retry(attempt: context.attempt))
        return await onRetry(result, context)
    }

    /// Records the hook and the result, and calls the closure.
    public func process(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        recordedEvents.append(.process(Outcome(result)))
        return await onProcess(result, context)
    }

    /// Records the call.
    public func didFinish(_ call: FinishedCall, context: RequestContext) {
        recordedCalls.append(call)
    }
}
