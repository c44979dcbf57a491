// SPDX-License-Identifier: MIT
import TargetKit

/// What becomes of a failure that an ``ErrorHandler`` was asked about.
public enum ErrorHandling: Sendable {
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
