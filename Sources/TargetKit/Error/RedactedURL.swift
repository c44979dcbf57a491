// SPDX-License-Identifier: MIT
import Foundation

/// A URL for a text that people read: without user, password, query and fragment, which may be secrets.
package struct RedactedURL: Sendable, CustomStringConvertible {
    package let description: String

    package init(_ url: URL) {
        self.init(url.absoluteString)
    }

    package init(_ text: String) {
        var text = text[...]
        if let end = text.firstIndex(where: { $0 == "?" || $0 == "#" }) { text = text[..<end] }
        // A text without white space, JSON for example, can have several URLs.
        description = text.components(separatedBy: "://").enumerated()
            .map { index, part in index == 0 ? part : "://" + Self.withoutUser(part) }
            .joined()
    }

    /// What follows `://`, without the user and the password.
    private static func withoutUser(_ text: String) -> Substring {
        guard let at = text.prefix(while: { $0 != "/" }).lastIndex(of: "@") else { return text[...] }
        return text[text.index(after: at)...]
    }

    /// The text with each URL in it redacted.
    package static func inside(_ text: String) -> String {
        guard text.contains("://") else { return text }
        var (result, word) = ("", "")
        for character in text {
            if character.isWhitespace {
                result += hidden(word)
                result.append(character)
                word = ""
            } else {
                word.append(character)
            }
        }
        return result + hidden(word)
    }

    private static func hidden(_ word: String) -> String {
        word.contains("://") ? RedactedURL(word).description : word
    }
}

extension URL {
    /// The URL with potential secrets removed, for values that appear in texts.
    package var redacted: URL {
        let text = RedactedURL(self).description
        return text == absoluteString ? self : URL(string: text) ?? URL(fileURLWithPath: "/")
    }
}
