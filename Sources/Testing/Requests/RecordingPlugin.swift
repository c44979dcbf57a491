// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A plugin that records each hook, and does at each what the test says.
public struct RecordingPlugin: Plugin {
    /// A hook that was called.
    public enum Event: Sendable, Equatable {
        /// `prepare`, at that attempt.
        case prepare(attempt: Int)
        /// `willSend`, at that attempt.
        case willSend(attempt: Int)
        /// `didReceive`, at that attempt, with a status code or the stage of the error.
        case didReceive(attempt: Int, Outcome)
        /// `retry`, at that attempt.
        case retry(attempt: Int)
        /// `process`, with a status code or the stage of the error.
        case process(Outcome)
    }

    /// A result in short.
    public enum Outcome: Sendable, Equatable {
        /// A response of that status.
        case status(Int)
        /// An error of that stage.
        case failure(TargetKitError.Stage)

        /// The result in short.
        public init(_ result: Result<Response, TargetKitError>) {
            self =
                switch result {
                case .success(let response): .status(response.statusCode)
                case .failure(let error): .failure(error.stage)
                }
        }
    }

    /// Events in the order they came, each with the plugin's name.
    public struct Log: Sendable {
        /// The events.
        package let events = Recorder<(name: String, event: Event)>()
        /// How the calls have ended, each with the plugin's name.
        package let ends = Recorder<(name: String, call: FinishedCall)>()

        /// An empty log.
        public init() {}

        /// The events of one plugin.
        public func events(of name: String) -> [Event] {
            events.elements.filter { $0.name == name }.map(\.event)
        }
    }

    /// The name under which the events are written down.
    public let name: String
    /// Where the events are written down; several plugins may share it.
    public let log: Log
    /// Where the plugin stands among the others.
    public let place: PluginPlace
    private let onPrepare: @Sendable (URLRequest, RequestContext) async throws -> URLRequest
    private let onRetry: @Sendable (Result<Response, TargetKitError>, RequestContext) async -> RetryDecision
    private let onProcess:
        @Sendable (Result<Response, TargetKitError>, RequestContext) async -> Result<
            Response, TargetKitError
        >

    /// A plugin that leaves everything as it is, unless told otherwise.
    public init(
        _ name: String = "plugin",
        place: PluginPlace = .standard,
        log: Log = Log(),
        prepare: @escaping @Sendable (URLRequest, RequestContext) async throws -> URLRequest = { request, _ in request
        },
        retry: @escaping @Sendable (Result<Response, TargetKitError>, RequestContext) async -> RetryDecision = { _, _ in
            .doNotRetry
        },
        process:
            @escaping @Sendable (Result<Response, TargetKitError>, RequestContext) async -> Result<
                Response, TargetKitError
            > = { result, _ in result }
    ) {
        self.name = name
        self.place = place
        self.log = log
        onPrepare = prepare
        onRetry = retry
        onProcess = process
    }

    /// The events of this plugin.
    public var events: [Event] { log.events(of: name) }

    /// How the calls have ended.
    public var ends: [FinishedCall] { log.ends.elements.filter { $0.name == name }.map(\.call) }

    /// Writes down, and does what the test says.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        log.events.append((name, .prepare(attempt: context.attempt)))
        return try await onPrepare(request, context)
    }

    /// Writes down.
    public func willSend(_ request: URLRequest, context: RequestContext) {
        log.events.append((name, .willSend(attempt: context.attempt)))
    }

    /// Writes down.
    public func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        log.events.append((name, .didReceive(attempt: context.attempt, Outcome(result))))
    }

    /// Writes down, and does what the test says.
    public func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
        log.events.append((name, .retry(attempt: context.attempt)))
        return await onRetry(result, context)
    }

    /// Writes down, and does what the test says.
    public func process(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        log.events.append((name, .process(Outcome(result))))
        return await onProcess(result, context)
    }

    /// Writes down how the call has ended; it is not one of the events.
    public func didFinish(_ call: FinishedCall, context: RequestContext) {
        log.ends.append((name, call))
    }
}
