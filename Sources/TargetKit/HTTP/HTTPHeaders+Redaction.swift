// SPDX-License-Identifier: MIT

extension HTTPHeaders: CustomReflectable {
    /// Reflects only the description, so `dump` omits the values of secret fields.
    public var customMirror: Mirror { Mirror(describing: self) }
}

extension HTTPHeaders.Field: CustomStringConvertible, CustomReflectable {
    /// `Name: value`, with the value of a secret field redacted (``HeaderRedaction/standard``).
    public var description: String { "\(name): \(HeaderRedaction.standard.value(value, for: name))" }

    /// Reflects only the description, so `dump` omits secrets.
    public var customMirror: Mirror { Mirror(describing: self) }
}
