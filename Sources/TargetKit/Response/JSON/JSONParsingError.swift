// SPDX-License-Identifier: MIT

import Foundation

/// The reason why a text is not JSON (RFC 8259): the offset, and what was expected there. It never quotes the text.
public struct JSONParsingError: Error, Sendable, Hashable {
    /// What should have been at the place.
    package enum Reason: Sendable, Hashable, CaseIterable {
        /// A value: an object, array, string, number, `true`, `false` or `null`.
        case value
        /// A comma, or the `]` of the array.
        case commaOrArrayEnd
        /// A comma, or the `}` of the object.
        case commaOrObjectEnd
        /// A key in quotes.
        case key
        /// The colon after a key.
        case colon
        /// A digit of a number.
        case digit
        /// The quote that ends a string.
        case quote
        /// An escaped control character: those below U+0020 may not stand in a string as they are.
        case escapedControlCharacter
        /// One of `" \ / b f n r t u` after a backslash.
        case escape
        /// Four hexadecimal digits after `\u`.
        case hexadecimalDigits
        /// The second half of a surrogate pair, or a first half before a second one.
        case surrogatePair
        /// Well-formed UTF-8 (RFC 3629).
        case validUTF8
        /// Nothing but white space after the value.
        case endOfText
        /// Fewer arrays and objects in each other: ``JSONParsingOptions/maximumDepth``.
        case lessNesting
        /// A shorter text: ``JSONParsingOptions/maximumSize``.
        case shorterText
    }

    /// The offset of the first invalid byte.
    public let offset: Int

    /// What should have been there.
    package let reason: Reason

    /// An error about a byte.
    package init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}

extension JSONParsingError: CustomStringConvertible, LocalizedError, DeveloperError {
    /// One line: the offset, and what was expected there.
    public var description: String { "the JSON is invalid at byte \(offset): expected \(reason.words)" }

    /// The description.
    public var errorDescription: String? { description }
}

extension JSONParsingError.Reason {
    fileprivate var words: String {
        switch self {
        case .value: "a value"
        case .commaOrArrayEnd: "a comma or the end of the array"
        case .commaOrObjectEnd: "a comma or the end of the object"
        case .key: "a key in quotes"
        case .colon: "a colon"
        case .digit: "a digit"
        case .quote: "the quote that ends the string"
        case .escapedControlCharacter: "no bare control character in a string"
        case .escape: "an escape that exists"
        case .hexadecimalDigits: "four hexadecimal digits"
        case .surrogatePair: "both halves of a surrogate pair"
        case .validUTF8: "valid UTF-8"
        case .endOfText: "nothing more"
        case .lessNesting: "fewer levels of nesting"
        case .shorterText: "a shorter text"
        }
    }
}

/// What a JSON text may be at most before it is refused.
package struct JSONParsingOptions: Sendable, Hashable {
    /// The deepest nesting that can be asked for: 512, as deep as `JSONDecoder` goes. To compare, write or free a value
    /// goes down its levels on the thread's stack, which may be half a megabyte.
    package static let deepest = 512

    /// How many arrays and objects may lie in each other. Default, and at most: ``deepest``.
    package var maximumDepth: Int

    /// How long the text may be, in bytes. Default: `nil`, no limit.
    package var maximumSize: Int?

    /// Limits for a text.
    package init(maximumDepth: Int = deepest, maximumSize: Int? = nil) {
        self.maximumDepth = maximumDepth
        self.maximumSize = maximumSize
    }
}
