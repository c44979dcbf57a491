// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// A value with secrets that its textual forms do not show: interpolation, `debugPrint` and `dump` show ``redactedDescription``.
protocol RedactedDescription: ReflectsDescription, CustomDebugStringConvertible {
    /// The value in one line, without its secrets.
    var redactedDescription: String { get }
}

extension RedactedDescription {
    /// The redacted description.
    public var description: String { redactedDescription }
    /// The redacted description.
    public var debugDescription: String { redactedDescription }
}

/// An error whose redacted description, for developers, is also its `localizedDescription`.
protocol DescribedError: LocalizedError, DeveloperError, RedactedDescription {}

extension DescribedError {
    /// The redacted description.
    public var errorDescription: String? { redactedDescription }
}
