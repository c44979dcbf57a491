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

/// An error that describes itself to developers in one line, which is also its `localizedDescription`.
protocol DescribedError: LocalizedError, DeveloperError, CustomStringConvertible {}

extension DescribedError {
    /// The description.
    public var errorDescription: String? { description }
}
