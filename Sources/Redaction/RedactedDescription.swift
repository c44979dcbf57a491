// SPDX-License-Identifier: MIT
import TargetKit

/// A value whose secrets are omitted from its textual forms. Interpolation, `debugPrint` and `dump` show the redacted
/// description.
package protocol RedactedDescription: ReflectsDescription, CustomDebugStringConvertible {
    /// The value on one line, without its secrets.
    var redactedDescription: String { get }
}

extension RedactedDescription {
    /// The redacted description.
    public var description: String { redactedDescription }
    /// The redacted description.
    public var debugDescription: String { redactedDescription }
}
