// SPDX-License-Identifier: MIT
import TargetKit

/// Asks handlers, one after the other, how a call that fails goes on.
///
/// ```swift
/// let errors = ErrorHandlingPlugin(
///     RefreshSession(),
///     WaitWhenBusy(),
///     ClosureErrorHandler { error, context in error.kind == .offline ? .fail(error) : .next }
/// )
/// ```
///
/// - The handlers are asked in order after each attempt that failed, also if its response could not be decoded. Each is asked at
///   most once per attempt: an instance of a class that is twice in the list counts once.
/// - They are asked at the end of the call about a failure that came after or before the attempts: a target without a URL, a token
///   that could not be fetched, what an `ErrorMappingTarget` or another plugin's `process` makes of a response. Such a call cannot
///   be repeated; `.retry` then counts as `.next`.
/// - They are not asked about cancelled calls.
/// - They are asked about an exchange that calls share, whose context is its own, and at its end about each of these calls, which
///   cannot be repeated then.
///
/// Handlers must limit the attempts by `context.attempt`: a handler that always retries never ends.
///
/// Its place is `PluginPlace.errorHandling`: it is asked to retry after the plugins that repeat calls themselves, and its `process`
/// comes after those that react to the original error and before those that record the result.
public struct ErrorHandlingPlugin: Plugin {
    private let handlers: [any ErrorHandler]
    /// The last attempt that the handlers were asked about.
    private let lastAttempt = PluginStorage<Int>()

    /// A plugin with those handlers.
    public init(_ handlers: [any ErrorHandler]) {
        var seen: Set<ObjectIdentifier> = []
        self.handlers = handlers.filter { handler in
            guard let identity = Self.identity(of: handler) else { return true }
            return seen.insert(identity).inserted
        }
    }

    /// A plugin with those handlers.
    public init(_ handlers: any ErrorHandler...) {
        self.init(handlers)
    }

    /// `PluginPlace.errorHandling`.
    public var place: PluginPlace { .errorHandling }

    /// Asks the handlers about an attempt that failed.
    public func retry(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> RetryDecision {
        guard case .failure(let error) = result, error.stage != .cancelled else { return .doNotRetry }
        context[lastAttempt] = context.attempt
        switch await handle(error, context, canRetry: true) {
        case .next: return .doNotRetry
        case .nextWith(let error), .fail(let error): return .fail(error)
        case .retry(let delay): return .retry(after: delay)
        }
    }

    /// Asks the handlers about a failure that they have not been asked about.
    public func process(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        guard case .failure(let error) = result, error.stage != .cancelled,
            context[lastAttempt] != context.attempt
        else { return result }
        switch await handle(error, context, canRetry: false) {
        case .next, .retry: return result
        case .nextWith(let error), .fail(let error): return .failure(error)
        }
    }

    /// The decision of the handlers: `nextWith` if one has changed the error and none has decided.
    private func handle(
        _ first: TargetKitError,
        _ context: RequestContext,
        canRetry: Bool
    ) async -> ErrorDecision {
        var outcome = ErrorDecision.next
        var error = first
        for handler in handlers {
            switch await handler.handle(error, context: context) {
            case .next: continue
            case .nextWith(let other):
                error = other
                outcome = .nextWith(other)
            case .fail(let error): return .fail(error)
            case .retry(let delay) where canRetry: return .retry(after: delay)
            case .retry: continue
            }
        }
        return outcome
    }

    /// `nil` for a value type: two equal values are two handlers.
    private static func identity(of handler: any ErrorHandler) -> ObjectIdentifier? {
        guard type(of: handler) is AnyClass else { return nil }
        return ObjectIdentifier(handler as AnyObject)
    }
}
