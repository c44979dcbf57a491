// SPDX-License-Identifier: MIT

/// A type whose `dump` shows only the description, because its properties can contain secrets.
package protocol ReflectsDescription: CustomStringConvertible, CustomReflectable {}

extension ReflectsDescription {
    /// Reflects only the description.
    public var customMirror: Mirror { Mirror(self, describedBy: description) }
}

/// A value whose secrets are omitted from its textual forms. Interpolation, `debugPrint` and `dump` show the redacted
/// description.
protocol RedactedDescription: ReflectsDescription, CustomDebugStringConvertible {
    /// The value on one line, without its secrets.
    var redactedDescription: String { get }
}

extension RedactedDescription {
    /// The redacted description.
    public var description: String { redactedDescription }
    /// The redacted description.
    public var debugDescription: String { redactedDescription }
}

/// An error whose text is for the developer; the user reads the sentences of its kind.
package protocol DeveloperError: Error {}

/// An error whose redacted description, for developers, is also its `localizedDescription`.
protocol DescribedError: LocalizedError, DeveloperError, RedactedDescription {}

extension DescribedError {
    /// The redacted description.
    public var errorDescription: String? { redactedDescription }
}

extension JSONParsingError: DeveloperError {}
