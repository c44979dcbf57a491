// SPDX-License-Identifier: MIT
import TargetKit

/// A closure as a handler.
public struct ClosureErrorHandler: ErrorHandler {
    private let body: @Sendable (TargetKitError, RequestContext) async -> ErrorHandling

    /// A handler that does what the closure says.
    public init(_ body: @escaping @Sendable (TargetKitError, RequestContext) async -> ErrorHandling) {
        self.body = body
    }

    /// What the closure says.
    public func handle(_ error: TargetKitError, context: RequestContext) async -> ErrorHandling {
        await body(error, context)
    }
}
