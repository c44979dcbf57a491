// SPDX-License-Identifier: MIT
import TargetKit

/// Calls handlers that decide how a failed call continues.
///
/// ```swift
/// let errors = ErrorHandlingPlugin(
///     { error, context in error.kind == .rateLimited && context.attempt < 2 ? .retry(after: .seconds(1)) : .doNotRetry },
///     { error, _ in error.kind == .offline ? .fail(error) : .doNotRetry }
/// )
/// ```
///
/// - The handlers are asked in order after each attempt that failed, also if its response couldn't be decoded. The
///   first that returns another decision than `.doNotRetry` decides: `.retry` retries the call after a delay, on the
///   provider's clock; `.fail` ends it with that error. If none decides, the call ends with its error.
/// - They are asked at the end of the call about a failure that came after or before the attempts: a target without a
///   URL, a token that couldn't be fetched, what an `ErrorMappingTarget` or another plugin's `process` makes of a
///   response. Such a call can't be retried; `.retry` then counts as `.doNotRetry`.
/// - They aren't asked about cancelled calls, nor about an error that a handler of this or another plugin has created.
/// - They are asked about an exchange that calls share, whose context is its own, and at its end about each of these
///   calls, which can't be repeated then.
/// - `.retry` counts as `.doNotRetry` for a call that isn't safe to retry: it has neither an idempotent method (RFC
///   9110 §9.2.2) nor an `Idempotency-Key`. If the failure itself shows that the server hasn't processed the request,
///   as a code in the body may, pass `retriesNonIdempotentCalls: true`.
///
/// Handlers must limit the attempts by `context.attempt`: a handler that always retries never ends.
public struct ErrorHandlingPlugin: Plugin {
    private typealias Handler = @Sendable (TargetKitError, RequestContext) async -> RetryDecision

    private let retriesNonIdempotentCalls: Bool
    private let handlers: [Handler]
    /// The last attempt that the handlers were asked about.
    private let lastAttempt = PluginStorage<Int>()

    /// Creates a plugin with handlers.
    ///
    /// - Parameters:
    ///   - retriesNonIdempotentCalls: Whether the handlers may also retry calls that aren't safe to retry, such as a
    ///     POST without an `Idempotency-Key`; default: `false`.
    ///   - handlers: Each gets the failure and the call, with the number of the failed attempt.
    public init(
        retriesNonIdempotentCalls: Bool = false,
        _ handlers: (@Sendable (_ error: TargetKitError, _ context: RequestContext) async -> RetryDecision)...
    ) {
        self.retriesNonIdempotentCalls = retriesNonIdempotentCalls
        self.handlers = handlers
    }

    /// `PluginPlace.errorHandling`.
    public var place: PluginPlace { .errorHandling }

    /// The hooks that it implements.
    public var hooks: PluginHooks { [.retry, .process] }

    /// Asks the handlers about an attempt that failed.
    public func retry(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> RetryDecision {
        guard case .failure(let error) = result, error.stage != .cancelled else { return .doNotRetry }
        context[lastAttempt] = context.attempt
        let isRepeatable = retriesNonIdempotentCalls || context.isRepeatable
        for handler in handlers {
            switch await context.cancellable({ await handler(error, context) }) {
            case .retry(let delay) where isRepeatable: return .retry(after: delay)
            case .fail(let other): return .fail(other.handled)
            case .doNotRetry, .retry: continue
            }
        }
        return .doNotRetry
    }

    /// Asks the handlers about a failure that they haven't been asked about.
    public func process(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        guard case .failure(let error) = result, error.stage != .cancelled, !error.isHandled,
            context[lastAttempt] != context.attempt
        else { return result }
        for handler in handlers {
            if case .fail(let other) = await context.cancellable({ await handler(error, context) }) {
                return .failure(other.handled)
            }
        }
        return result
    }
}

extension TargetKitError {
    /// This error, marked as created by a handler.
    fileprivate var handled: TargetKitError {
        var error = self
        error.isHandled = true
        return error
    }
}
