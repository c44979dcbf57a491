// SPDX-License-Identifier: MIT
import TargetKit

/// An error whose redacted description, for developers, is also its `localizedDescription`.
package protocol DescribedError: LocalizedError, DeveloperError, RedactedDescription {}

extension DescribedError {
    /// The redacted description.
    public var errorDescription: String? { redactedDescription }
}
