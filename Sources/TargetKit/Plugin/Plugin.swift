// SPDX-License-Identifier: MIT

/// Behavior around every call of a provider, such as tokens, logging, activity and sign-out. Each hook has a default
/// that does nothing.
///
/// The hooks of one call, in order:
///
/// 1. ``prepare(_:context:)`` changes the request. An error ends the call without sending the request.
/// 2. ``willSend(_:context:)`` receives the prepared request.
/// 3. ``exchange(_:context:next:)`` surrounds each exchange with the server. Use it for work that needs the network or
///    may delay the call. It is called again for each followed redirect, but not for stubbed calls.
/// 4. ``didReceive(_:context:)`` receives the response or the error. Each `willSend` is followed by **exactly one**
///    `didReceive`, even if the call is cancelled.
/// 5. ``retry(_:context:)`` may request another attempt, even if the response couldn't be decoded. The first decision
///    other than `.doNotRetry` applies. The next attempt begins with `prepare`, and its ``RequestContext/attempt`` is
///    one higher. A cancelled call isn't retried.
/// 6. ``process(_:context:)`` may change the result. It is called **exactly once** for every call, including calls that
///    failed before they were sent.
/// 7. ``didFinish(_:context:)`` is the last hook, called **exactly once** for every call. For a stream, it is called
///    when the body ends.
///
/// If the body of a response is to be stored, ``rejectsCredential(_:context:)`` is called first.
///
/// The ``place`` of a plugin determines its position among the others. Hooks of a call run one after another, except
/// `exchange`, in which a plugin can pass on several requests concurrently. Hooks of different calls can run
/// concurrently. Stubbed calls run every hook except `exchange`. To store a value between the hooks of a call, use the
/// context: `context[Key.self]`.
///
/// Calls that share an exchange (``CallOptions/sharesInFlight``) have their own `prepare`, `process` and `didFinish`.
/// The exchange has its own context for `willSend`, `exchange`, `didReceive` and `retry`; its storage starts as a copy
/// of the first call's storage.
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

    /// The hooks that the provider calls; default ``PluginHooks/all``. Hooks that aren't listed cost nothing.
    var hooks: PluginHooks { get }

    /// Whether a provider can have only one plugin of this type, because two would both respond, wait or retry; default
    /// `false`. With two of them, each call fails with an error that names the type.
    var isSingle: Bool { get }

    /// The header fields in which this plugin puts secrets, in addition to ``HeaderRedaction/standard``; default: none.
    /// They aren't sent to another origin after a redirect, and TargetKit's plugins don't log them.
    var secretHeaders: Set<HTTPHeaderName> { get }

    /// Changes the request before it is sent.
    ///
    /// - Throws: Any error ends the call with stage `.request`. A ``TargetKitError`` is passed on unchanged.
    func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest

    /// Called with the prepared request, before the exchange.
    func willSend(_ request: URLRequest, context: RequestContext)

    /// Performs one exchange by passing on the request, changed or not, once, several times or never.
    ///
    /// The plugins surround each other in the order of ``PluginPlace``. The innermost `next` is the transport.
    ///
    /// - Parameters:
    ///   - request: The request, or the request of a redirect.
    ///   - context: The context of the attempt.
    ///   - next: The other plugins and the transport.
    /// - Throws: The error of the attempt, with stage `.transport`. A ``TargetKitError`` retains its stage and ends the
    ///   call without a retry.
    func exchange(
        _ request: TransportRequest,
        context: RequestContext,
        next: Exchange
    ) async throws -> TransportResponse

    /// Called with the result of one attempt, after the target's validation and before decoding.
    func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext)

    /// Decides whether to retry the call.
    func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision

    /// Whether the body of a response with an accepted status reports that the server rejected the call's credential.
    ///
    /// A download or a stream of such a response fails with stage `.envelope` and the kind `.unauthorized`, so that the
    /// user's file isn't replaced, and a cache doesn't store the response. The result of any other call doesn't change.
    /// Called with the complete body, at any time between the response and the end of the call, and for responses that
    /// a cache requests in the background.
    func rejectsCredential(_ response: Response, context: RequestContext) -> Bool

    /// Changes the result of the call. A replaced response is decoded again.
    func process(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<Response, TargetKitError>

    /// Called when the call ends.
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

    /// Passes on the request.
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

    /// Returns `false`.
    public func rejectsCredential(_ response: Response, context: RequestContext) -> Bool { false }

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
/// }
/// ```
public struct PluginHooks: OptionSet, Sendable, Hashable {
    /// One bit per hook.
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
    /// ``Plugin/exchange(_:context:next:)``.
    public static let exchange = PluginHooks(rawValue: 1 << 6)
    /// ``Plugin/rejectsCredential(_:context:)``.
    public static let rejectsCredential = PluginHooks(rawValue: 1 << 7)
    /// All hooks.
    public static let all: PluginHooks = [
        .prepare, .willSend, .exchange, .didReceive, .retry, .process, .didFinish, .rejectsCredential,
    ]
}

/// A plugin's decision about another attempt.
public enum RetryDecision: Sendable {
    /// The plugin doesn't request another attempt.
    case doNotRetry
    /// Retry the call after a delay on the provider's clock.
    case retry(after: Duration)
    /// End the call with the error.
    case fail(TargetKitError)
}

/// A call that ended.
public struct FinishedCall: Sendable {
    /// The caller's result. For a stream, the head of the response, or the failure of its head or body.
    public let result: Result<Response, TargetKitError>
    /// The time from the start of the call to its end on the continuous clock, including plugins, attempts, delays,
    /// decoding, and the body of a stream.
    public let duration: Duration
    /// The number of bytes that a stream's reader received, after content decoding; `nil` if the call isn't a stream.
    public let streamedByteCount: Int64?

    /// The metrics of the last exchange; `nil` if there was no response or the transport doesn't measure them.
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
