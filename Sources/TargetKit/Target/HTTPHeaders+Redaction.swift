// SPDX-License-Identifier: MIT

extension HTTPHeaders: CustomReflectable {
    /// The description, so that `dump` does not show the values of secret fields either.
    public var customMirror: Mirror { Mirror(describing: self) }
}

extension HTTPHeaders.Field: CustomStringConvertible, CustomReflectable {
    /// `Name: value`, with the value redacted when the field is secret (``HeaderRedaction/standard``).
    public var description: String { "\(name): \(HeaderRedaction.standard.value(value, for: name))" }

    /// The description, so that `dump` does not show a secret either.
    public var customMirror: Mirror { Mirror(describing: self) }
}
