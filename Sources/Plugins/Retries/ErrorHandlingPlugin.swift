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
/// - The handlers are called in order after each failed attempt, including responses that can't be decoded. The first
///   decision other than `.doNotRetry` applies: `.retry` retries the call after a delay, on the provider's clock;
///   `.fail` ends it with another error. If all return `.doNotRetry`, the call ends with its error.
/// - They are called at the end of the call for a failure before or after the attempts, for example a target without a
///   URL, a token that couldn't be fetched, or an error of an `ErrorMappingTarget` or another plugin's `process`. Such
///   a call can't be retried, so `.retry` counts as `.doNotRetry`.
/// - They aren't called for cancelled calls, or for errors that a handler of this or another plugin created.
/// - They are called for a shared exchange with the exchange's context, and at its end for each of its calls, which
///   then can't be retried.
/// - `.retry` counts as `.doNotRetry` for a call that has neither an idempotent method (RFC 9110 §9.2.2) nor an
///   `Idempotency-Key`, because it isn't safe to retry. If the failure itself shows that the server hasn't processed
///   the request, for example with a code in the body, pass `retriesNonIdempotentCalls: true`.
///
/// Handlers must limit the attempts with `context.attempt`, because a handler that always retries never ends.
public struct ErrorHandlingPlugin: Plugin {
    private typealias Handler = @Sendable (TargetKitError, RequestContext) async -> RetryDecision

    private let retriesNonIdempotentCalls: Bool
    private let handlers: [Handler]
    /// The last attempt for which the handlers were called.
    private let lastAttempt = PluginStorage<Int>()

    /// Creates a plugin with handlers.
    ///
    /// - Parameters:
    ///   - retriesNonIdempotentCalls: Whether the handlers may also retry calls that aren't safe to retry, such as a
    ///     POST without an `Idempotency-Key`; default: `false`.
    ///   - handlers: The handlers. Each receives the failure and the context, with the number of the failed attempt.
    public init(
        retriesNonIdempotentCalls: Bool = false,
        _ handlers: (@Sendable (_ error: TargetKitError, _ context: RequestContext) async -> RetryDecision)...
    ) {
        self.retriesNonIdempotentCalls = retriesNonIdempotentCalls
        self.handlers = handlers
    }

    /// `PluginPlace.errorHandling`.
    public var place: PluginPlace { .errorHandling }

    /// The hooks that the plugin implements.
    public var hooks: PluginHooks { [.retry, .process] }

    /// Calls the handlers for a failed attempt.
    public func retry(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> RetryDecision {
        guard case .failure(let error) = result, error.stage != .cancelled else { return .doNotRetry }
        context[lastAttempt] = context.attempt
        let isRepeatable = retriesNonIdempotentCalls || context.isRepeatable
        for handler in handlers {
            switch await handler(error, context) {
            case .retry(let delay) where isRepeatable: return .retry(after: delay)
            case .fail(let other): return .fail(other.handled)
            case .doNotRetry, .retry: continue
            }
        }
        return .doNotRetry
    }

    /// Calls the handlers for a failure for which they haven't been called.
    public func process(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        guard case .failure(let error) = result, error.stage != .cancelled, !error.isMarked(.handled),
            context[lastAttempt] != context.attempt
        else { return result }
        for handler in handlers {
            if case .fail(let other) = await handler(error, context) { return .failure(other.handled) }
        }
        return result
    }
}

extension TargetKitError {
    /// This error, marked as created by a handler.
    fileprivate var handled: TargetKitError {
        var error = self
        error.mark(.handled)
        return error
    }
}
