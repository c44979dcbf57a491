// SPDX-License-Identifier: MIT
import TargetKit

/// One thing to try when a call fails, for an ``ErrorHandlingPlugin``.
///
/// ```swift
/// struct WaitWhenBusy: ErrorHandler {
///     func handle(_ error: TargetKitError, context: RequestContext) async -> ErrorDecision {
///         error.kind == .rateLimited && context.attempt < 2 ? .retry(after: .seconds(1)) : .next
///     }
/// }
/// ```
public protocol ErrorHandler: Sendable {
    /// Says what becomes of a failure.
    ///
    /// - Parameters:
    ///   - error: The failure, or what the handlers before have made of it.
    ///   - context: The call, and which attempt failed.
    func handle(_ error: TargetKitError, context: RequestContext) async -> ErrorDecision
}

/// What becomes of a failure that an ``ErrorHandler`` was asked about.
public enum ErrorDecision: Sendable {
    /// The next handler is asked about the same error.
    case next
    /// The next handler is asked about this error; after the last it is what the caller gets.
    case nextWith(TargetKitError)
    /// The call fails with this error now; no handler is asked any more.
    case fail(TargetKitError)
    /// The call is tried again after that time, on the provider's clock; no handler is asked any more. It is ``next`` for a
    /// failure that cannot be tried again, see ``ErrorHandlingPlugin``.
    case retry(after: Duration)
}

/// A closure as a handler.
public struct ClosureErrorHandler: ErrorHandler {
    private let body: @Sendable (TargetKitError, RequestContext) async -> ErrorDecision

    /// A handler that does what the closure says.
    public init(_ body: @escaping @Sendable (TargetKitError, RequestContext) async -> ErrorDecision) {
        self.body = body
    }

    /// What the closure says.
    public func handle(_ error: TargetKitError, context: RequestContext) async -> ErrorDecision {
        await body(error, context)
    }
}
