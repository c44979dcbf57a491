// SPDX-License-Identifier: MIT
import TargetKit

/// Handles failures of calls for an ``ErrorHandlingPlugin``.
///
/// ```swift
/// struct WaitWhenBusy: ErrorHandler {
///     func handle(_ error: TargetKitError, context: RequestContext) async -> ErrorDecision {
///         error.kind == .rateLimited && context.attempt < 2 ? .retry(after: .seconds(1)) : .next
///     }
/// }
/// ```
public protocol ErrorHandler: Sendable {
    /// Decides how a failed call goes on.
    ///
    /// - Parameters:
    ///   - error: The failure, or the error by which an earlier handler has replaced it.
    ///   - context: The call, with the number of the failed attempt.
    func handle(_ error: TargetKitError, context: RequestContext) async -> ErrorDecision
}

/// How a failed call goes on.
public enum ErrorDecision: Sendable {
    /// The next handler is asked about the same error.
    case next
    /// The next handler is asked about this error; after the last handler the call fails with it.
    case nextWith(TargetKitError)
    /// The call fails with this error; no other handler is asked.
    case fail(TargetKitError)
    /// The call is repeated after that delay, on the provider's clock; no other handler is asked. For a call that cannot be
    /// repeated (see ``ErrorHandlingPlugin``) the same as ``next``.
    case retry(after: Duration)
}

/// A closure as a handler.
public struct ClosureErrorHandler: ErrorHandler {
    private let body: @Sendable (TargetKitError, RequestContext) async -> ErrorDecision

    /// A handler that calls a closure.
    public init(_ body: @escaping @Sendable (TargetKitError, RequestContext) async -> ErrorDecision) {
        self.body = body
    }

    /// Returns the result of the closure.
    public func handle(_ error: TargetKitError, context: RequestContext) async -> ErrorDecision {
        await body(error, context)
    }
}
