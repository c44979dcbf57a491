// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Behaviour around every call of a provider: tokens, logging, activity, sign-out. Each hook has a default that does nothing.
///
/// The hooks of one call, in order:
///
/// 1. ``prepare(_:context:)`` changes the request. A plugin that throws ends the call; nothing is sent.
/// 2. ``willSend(_:context:)`` sees the request as it goes out.
/// 3. ``didReceive(_:context:)`` sees what came back, or why nothing did. Each `willSend` is followed by **exactly one**
///    `didReceive`, also when the call is cancelled.
/// 4. ``retry(_:context:)`` may ask for another attempt. The first plugin that says other than `.doNotRetry` is followed; the
///    next attempt starts at `prepare`, with ``RequestContext/attempt`` one higher. A cancelled call is not asked about.
/// 5. ``process(_:context:)`` may change the result. It sees **every** call exactly once: also one that failed before it was
///    sent, whose `willSend` never came.
///
/// Plugins run in the order of the provider's array, at each hook. Hooks of one call never run at the same time; those of
/// different calls do. Stubbed calls run the same hooks.
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
    /// The header fields in which this plugin puts secrets, beside those of ``HeaderRedaction/standard``: they are not sent on
    /// when a redirect leads to another origin. Default: none.
    var secretHeaders: Set<HTTPHeaderName> { get }

    /// Changes the request before it goes out.
    ///
    /// - Throws: ends the call with an error of stage `.request`, or with the ``TargetKitError`` that is thrown.
    func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest

    /// Sees the request as it goes out.
    func willSend(_ request: URLRequest, context: RequestContext)

    /// Sees what one attempt brought, after the target's validation.
    func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext)

    /// Decides whether the call is tried again.
    func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision

    /// Changes what the caller gets.
    func process(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<Response, TargetKitError>
}

extension Plugin {
    /// No fields.
    public var secretHeaders: Set<HTTPHeaderName> { [] }

    /// The request as it is.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        context.idleHooks?.insert(Self.self, .prepare)
        return request
    }

    /// Nothing.
    public func willSend(_ request: URLRequest, context: RequestContext) {
        context.idleHooks?.insert(Self.self, .willSend)
    }

    /// Nothing.
    public func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        context.idleHooks?.insert(Self.self, .didReceive)
    }

    /// ``RetryDecision/doNotRetry``.
    public func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
        context.idleHooks?.insert(Self.self, .retry)
        return .doNotRetry
    }

    /// The result as it is.
    public func process(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        context.idleHooks?.insert(Self.self, .process)
        return result
    }
}
