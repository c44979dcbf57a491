// SPDX-License-Identifier: MIT

/// A type whose `dump` shows the description only, because its properties can hold secrets.
package protocol ReflectsDescription: CustomStringConvertible, CustomReflectable {}

extension ReflectsDescription {
    /// Reflects only the description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// A value with secrets that its textual forms omit: interpolation, `debugPrint` and `dump` show the redacted
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

/// An error whose text is for the developer; the person reads the sentences of its kind instead.
package protocol DeveloperError: Error {}
