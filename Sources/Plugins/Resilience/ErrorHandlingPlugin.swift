// SPDX-License-Identifier: MIT
import TargetKit

/// Asks handlers, one after the other, what becomes of a call that fails.
///
/// ```swift
/// let errors = ErrorHandlingPlugin(RefreshSession(), WaitWhenBusy(), ClosureErrorHandler { error, context in
///     error.kind == .offline ? .fail(error) : .next
/// })
/// ```
///
/// - The handlers are asked in order, after each attempt that failed. Each is asked at most once per attempt: an instance of a
///   class that stands in the list twice counts once.
/// - A failure before the send (a target without a URL, a token that did not come), and one that only appears when no
///   attempt is left (what an `ErrorMappingTarget` makes of a response, or a plugin in `process`), is asked about when the call
///   ends. It cannot be tried again, `.retry` then counts as `.next`.
/// - Cancelled calls are not asked about. Nor are failures of decoding, which come after the plugins.
///
/// Handlers count the attempts by `context.attempt` and stop of themselves: a handler that always retries never ends.
///
/// Order: the first plugin that decides about an attempt is followed, so place it after plugins that try again by themselves and
/// before those that are to see what it has made of the error in `process`.
public struct ErrorHandlingPlugin: Plugin {
    private let handlers: [any ErrorHandler]
    /// For each call that failed the last attempt that the handlers were asked about.
    private let asked = Locked<[RequestContext.ID: Int]>([:])

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

    /// Asks the handlers about an attempt that failed.
    public func retry(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> RetryDecision {
        guard case .failure(let error) = result, error.stage != .cancelled else { return .doNotRetry }
        asked.withLock { $0[context.id] = context.attempt }
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
        let lastAsked = asked.withLock { $0.removeValue(forKey: context.id) }
        guard case .failure(let error) = result, error.stage != .cancelled, lastAsked != context.attempt else {
            return result
        }
        switch await handle(error, context, canRetry: false) {
        case .next, .retry: return result
        case .nextWith(let error), .fail(let error): return .failure(error)
        }
    }

    /// What the handlers say in the end: `nextWith` when one has changed the error and none has decided.
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

    /// Structs have none: two that are equal stand for two handlers.
    private static func identity(of handler: any ErrorHandler) -> ObjectIdentifier? {
        guard type(of: handler) is AnyClass else { return nil }
        return ObjectIdentifier(handler as AnyObject)
    }
}
