// SPDX-License-Identifier: MIT
import TargetKit

/// An error whose redacted description, for developers, is also its `localizedDescription`.
package protocol DescribedError: LocalizedError, DeveloperError, RedactedDescription {}

extension DescribedError {
    /// The redacted description.
    public var errorDescription: String? { redactedDescription }
}

extension Date {
    /// The description. Foundation's ends the process for a date beyond its calendar, or one that isn't a number.
    package var safeDescription: String {
        (Date.distantPast...Date.distantFuture).contains(self) ? description : "\(timeIntervalSince1970) s since 1970"
    }
}
