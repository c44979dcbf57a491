// SPDX-License-Identifier: MIT

/// A URL for logs and descriptions, without user, password, query and fragment, which may be secrets.
package struct RedactedURL: Sendable, CustomStringConvertible {
    package let description: String

    package init(_ url: URL) {
        self.init(url.absoluteString)
    }

    package init(_ text: String) {
        // Most URLs of APIs contain nothing to redact.
        guard text.utf8.contains(where: "@;?#".utf8.contains) || text.containsBytes(of: "eyJ") else {
            description = text
            return
        }
        var text = text
        // By bytes, because a `?` and a combining mark after it are one character.
        if let end = text.utf8.firstIndex(where: "?#".utf8.contains) { text = String(text[..<end]) }
        if text.utf8.contains(UInt8(ascii: ";")) || text.containsBytes(of: "eyJ") {
            text = Self.withoutValues(text)
        }
        // Text without white space, such as JSON, can contain several URLs.
        let start = text.hasPrefix("//") ? "//" + Self.withoutUser(String(text.dropFirst(2))) : text
        description = start.components(separatedBy: "://").enumerated()
            .map { index, part in index == 0 ? part : "://" + Self.withoutUser(part) }
            .joined()
    }

    /// The path, without the values of its parameters (`/a;jsessionid=1`, RFC 3986 §3.3) and JSON Web Tokens.
    private static func withoutValues(_ path: String) -> String {
        path.split(separator: "/", omittingEmptySubsequences: false).map { segment in
            if SecretFields.isJWT(segment.utf8) { return SecretFields.placeholder }
            return segment.split(separator: ";", omittingEmptySubsequences: false).enumerated().map { index, part in
                guard index > 0, let end = part.firstIndex(of: "=") else { return String(part) }
                return part[...end] + SecretFields.placeholder
            }.joined(separator: ";")
        }.joined(separator: "/")
    }

    /// The text after `://`, without the user and the password.
    private static func withoutUser(_ text: String) -> Substring {
        let authority = text.utf8.prefix { $0 != UInt8(ascii: "/") }
        guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return text[...] }
        return text[text.utf8.index(after: at)...]
    }

    /// The text with each URL in it redacted.
    package static func inside(_ text: String) -> String {
        guard text.containsBytes(of: "://") else { return text }
        return words(of: text) { $0.containsBytes(of: "://") ? RedactedURL($0).description : $0 }
    }

    /// The text with each URL reference in it redacted, including relative ones.
    package static func references(in text: String) -> String {
        words(of: text) { RedactedURL($0).description }
    }

    private static func words(of text: String, redacted: (String) -> String) -> String {
        var (result, word) = ("", "")
        for character in text {
            if character.isWhitespace {
                result += redacted(word)
                result.append(character)
                word = ""
            } else {
                word.append(character)
            }
        }
        return result + redacted(word)
    }
}

extension URL {
    /// The URL with potential secrets removed, for logs and descriptions.
    package var redacted: URL {
        let text = RedactedURL(self).description
        return text == absoluteString ? self : URL(string: text) ?? URL(fileURLWithPath: "/")
    }
}
