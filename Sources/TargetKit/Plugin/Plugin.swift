// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Behavior around every call of a provider: tokens, logging, activity, sign-out. Each hook has a default that does
/// nothing.
///
/// The hooks of one call, in order:
///
/// 1. ``prepare(_:context:)`` changes the request. An error that it throws ends the call; nothing is sent.
/// 2. ``willSend(_:context:)`` receives the prepared request.
/// 3. ``exchange(_:context:next:)`` surrounds each exchange with the server: what needs the network, or may make the
///    call wait, belongs here. It is called again for each redirect that is followed, and not for stubbed calls.
/// 4. ``didReceive(_:context:)`` receives the response or the error. Each `willSend` is followed by **exactly one**
///    `didReceive`, even if the call is cancelled.
/// 5. ``retry(_:context:)`` may ask for another attempt, even if the response could not be decoded. The first plugin
///    that returns a decision other than `.doNotRetry` decides; the next attempt begins with `prepare`, and its
///    ``RequestContext/attempt`` is one higher. A cancelled call is not retried.
/// 6. ``process(_:context:)`` may change the result. It is called **exactly once** for every call, including calls that
///    failed before they were sent.
/// 7. ``didFinish(_:context:)`` is the last hook, called **exactly once** for every call; for a stream, when its body
///    ends.
///
/// The ``place`` of a plugin determines its position among the others. Hooks of a call run one after another, except
/// `exchange`: a plugin can pass on several requests at the same time. Hooks of different calls can run at the same
/// time. Stubbed calls run every hook except `exchange`. Store what a plugin keeps between the hooks of a call in the
/// context: `context[Key.self]`.
///
/// Calls that share an exchange (``CallOptions/sharesInFlight``) have their own `prepare`, `process` and `didFinish`.
/// The exchange has a context of its own for `willSend`, `exchange`, `didReceive` and `retry`; its storage starts as a
/// copy of the first call's.
///
/// ```swift
/// struct TracePlugin: Plugin {
///     func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
///         var request = request
///         request.setValue("\(context.id)", forHTTPHeaderField: "X-Trace")
///         return request
///     }
/// }
/// ```
public protocol Plugin: Sendable {
    /// The plugin's position among the provider's plugins; default ``PluginPlace/standard``.
    var place: PluginPlace { get }

    /// The hooks that the provider calls; default ``PluginHooks/all``. A plugin that names its own costs nothing in the
    /// others.
    var hooks: PluginHooks { get }

    /// Whether a provider can have only one plugin of this type, because two would both answer, wait or retry; default
    /// `false`. With two of them, each call fails and its error names the type.
    var isSingle: Bool { get }

    /// The header fields in which this plugin puts secrets, in addition to those of ``HeaderRedaction/standard``. They
    /// are not sent to another origin after a redirect, and TargetKit's plugins do not log them. Default: none.
    var secretHeaders: Set<HTTPHeaderName> { get }

    /// Changes the request before it is sent.
    ///
    /// - Throws: Any error, which ends the call with stage `.request`. A ``TargetKitError`` ends the call unchanged.
    func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest

    /// Called with the prepared request, before the exchange.
    func willSend(_ request: URLRequest, context: RequestContext)

    /// Performs one exchange: passes the request on, changed or not, once, several times or never.
    ///
    /// The plugins surround each other in the order of ``PluginPlace``, from the cache to the signature, and the
    /// innermost `next` is the transport.
    ///
    /// - Parameters:
    ///   - request: The request, or that of a redirect.
    ///   - context: The context of the attempt.
    ///   - next: The other plugins and the transport.
    /// - Throws: The error of the attempt, with stage `.transport`. A ``TargetKitError`` keeps its stage and ends the
    ///   call: no plugin is asked to retry it.
    func exchange(
        _ request: TransportRequest,
        context: RequestContext,
        next: Exchange
    ) async throws -> TransportResponse

    /// Called with the result of one attempt, after the target's validation and before decoding.
    func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext)

    /// Decides whether to retry the call.
    func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision

    /// Changes the result of the call. A response that it replaces is decoded again.
    func process(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<Response, TargetKitError>

    /// Called when the call has ended.
    func didFinish(_ call: FinishedCall, context: RequestContext)
}

extension Plugin {
    /// ``PluginPlace/standard``.
    public var place: PluginPlace { .standard }

    /// ``PluginHooks/all``.
    public var hooks: PluginHooks { .all }

    /// `false`.
    public var isSingle: Bool { false }

    /// No fields.
    public var secretHeaders: Set<HTTPHeaderName> { [] }

    /// Returns the request unchanged.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        request
    }

    /// Does nothing.
    public func willSend(_ request: URLRequest, context: RequestContext) {}

    /// Passes the request on.
    public func exchange(
        _ request: TransportRequest,
        context: RequestContext,
        next: Exchange
    ) async throws -> TransportResponse {
        try await next(request)
    }

    /// Does nothing.
    public func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {}

    /// Returns ``RetryDecision/doNotRetry``.
    public func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
        .doNotRetry
    }

    /// Returns the result unchanged.
    public func process(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        result
    }

    /// Does nothing.
    public func didFinish(_ call: FinishedCall, context: RequestContext) {}
}

/// The hooks of a ``Plugin`` that a provider calls.
///
/// ```swift
/// struct TracePlugin: Plugin {
///     var hooks: PluginHooks { .prepare }
/// ```
public struct PluginHooks: OptionSet, Sendable, Hashable {
    /// A bit for each hook.
    public let rawValue: Int

    /// Creates a set from its bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// ``Plugin/prepare(_:context:)``.
    public static let prepare = PluginHooks(rawValue: 1 << 0)
    /// ``Plugin/willSend(_:context:)``.
    public static let willSend = PluginHooks(rawValue: 1 << 1)
    /// ``Plugin/didReceive(_:context:)``.
    public static let didReceive = PluginHooks(rawValue: 1 << 2)
    /// ``Plugin/retry(_:context:)``.
    public static let retry = PluginHooks(rawValue: 1 << 3)
    /// ``Plugin/process(_:context:)``.
    public static let process = PluginHooks(rawValue: 1 << 4)
    /// ``Plugin/didFinish(_:context:)``.
    public static let didFinish = PluginHooks(rawValue: 1 << 5)
    /// The asynchronous hooks can suspend, for example for a file or a server, so the provider runs them in a task that
    /// it cancels with the call. Without this option, suspend only in ``RequestContext/cancellable(_:)``.
    public static let waiting = PluginHooks(rawValue: 1 << 6)
    /// ``Plugin/exchange(_:context:next:)``.
    public static let exchange = PluginHooks(rawValue: 1 << 7)
    /// All hooks, which may wait.
    public static let all: PluginHooks = [
        .prepare, .willSend, .exchange, .didReceive, .retry, .process, .didFinish, .waiting,
    ]
}

/// A plugin's decision about another attempt.
public enum RetryDecision: Sendable {
    /// The plugin does not ask for another attempt.
    case doNotRetry
    /// Retry the call after a delay on the provider's clock.
    case retry(after: Duration)
    /// End the call with the error.
    case fail(TargetKitError)
}

/// A call that has ended.
public struct FinishedCall: Sendable {
    /// The caller's result. For a stream, the head of the response, or the failure of the head or the body.
    public let result: Result<Response, TargetKitError>
    /// The time from the start of the call to its end on the continuous clock, including plugins, attempts, delays,
    /// decoding, and the body of a stream.
    public let duration: Duration
    /// The number of bytes that a stream's reader has received, after content decoding; `nil` if the call is not a
    /// stream.
    public let streamedByteCount: Int64?

    /// The metrics of the last exchange; `nil` if there was no response or the transport does not measure them.
    public var metrics: TransportMetrics? {
        switch result {
        case .success(let response): response.metrics
        case .failure(let error): error.response?.metrics
        }
    }

    /// Creates a finished call, to test a plugin.
    public init(result: Result<Response, TargetKitError>, duration: Duration = .zero, streamedByteCount: Int64? = nil) {
        self.result = result
        self.duration = duration
        self.streamedByteCount = streamedByteCount
    }
}
