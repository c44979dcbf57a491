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
        // Seconds, because the operators of Date find a date that isn't a number in every range.
        let known = Date.distantPast.timeIntervalSince1970...Date.distantFuture.timeIntervalSince1970
        return known.contains(timeIntervalSince1970) ? description : "\(timeIntervalSince1970) s since 1970"
    }
}
