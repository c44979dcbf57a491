// SPDX-License-Identifier: MIT

/// A JSON syntax error (RFC 8259) with the byte offset and the expected syntax. It never quotes the text.
package struct JSONParsingError: Error, Sendable, Hashable {
    /// The syntax that was expected.
    package enum Reason: String, Sendable, CaseIterable {
        case value = "a value"
        case commaOrArrayEnd = "a comma or the end of the array"
        case commaOrObjectEnd = "a comma or the end of the object"
        case key = "a key in quotes"
        case colon = "a colon"
        case digit = "a digit"
        case quote = "the quote that ends the string"
        /// Control characters below U+0020 must be escaped in a string.
        case escapedControlCharacter = "an escaped control character in the string"
        /// One of `" \ / b f n r t u` after a backslash.
        case escape = "a valid escape"
        case hexadecimalDigits = "four hexadecimal digits"
        case surrogatePair = "both halves of a surrogate pair"
        case validUTF8 = "valid UTF-8"
        /// Nothing but white space after the value.
        case endOfText = "nothing more"
        /// At most ``JSONReader/maximumDepth`` levels.
        case lessNesting = "fewer levels of nesting"
    }

    /// The offset of the first invalid byte.
    package let offset: Int

    /// The syntax that was expected.
    package let reason: Reason

    /// Creates an error for the byte at an offset.
    package init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}

extension JSONParsingError: LocalizedError, CustomStringConvertible, CustomDebugStringConvertible {
    /// The offset and the expected syntax, in one line.
    package var description: String { "the JSON is invalid at byte \(offset): expected \(reason.rawValue)" }
    package var debugDescription: String { description }
    package var errorDescription: String? { description }
}
