// SPDX-License-Identifier: MIT
import TargetKit

/// One thing to try when a call fails, for an ``ErrorHandlingPlugin``.
///
/// ```swift
/// struct WaitWhenBusy: ErrorHandler {
///     func handle(_ error: TargetKitError, context: RequestContext) async -> ErrorHandling {
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
    func handle(_ error: TargetKitError, context: RequestContext) async -> ErrorHandling
}
