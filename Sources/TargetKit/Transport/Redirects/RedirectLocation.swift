// SPDX-License-Identifier: MIT
import Foundation

extension URL {
    /// Creates the URL that a `Location` field specifies (RFC 9110 §10.2.2); `nil` when the field is invalid.
    ///
    /// Characters that RFC 3986 does not allow in a path, query or fragment are escaped as UTF-8, as browsers do;
    /// existing escapes are kept. Foundation before iOS 17 rejects such a text, and later versions escape its escapes
    /// again.
    init?(location: String, relativeTo base: URL) {
        let text = location.trimmingCharacters(in: .whitespaces)
        let start = Self.endOfAuthority(in: text)
        guard let authority = Self.authority(text[..<start]) else { return nil }
        let parts = text[start...].split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let escaped = authority + parts.map { PercentEncoding.encode(escapedText: String($0)) }.joined(separator: "#")
        guard URL(escaped: escaped) != nil, let url = URL(string: escaped, relativeTo: base) else { return nil }
        self = url.absoluteURL
    }

    /// The index at which the path begins (RFC 3986 §3.2); the start of a text without an authority.
    private static func endOfAuthority(in text: String) -> String.Index {
        let scheme = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        let rest = text[scheme.endIndex...]
        let mark = scheme.isEmpty ? "//" : "://"
        guard rest.hasPrefix(mark) else { return text.startIndex }
        return rest.dropFirst(mark.count).firstIndex { "/?#".contains($0) } ?? text.endIndex
    }

    /// The scheme and authority; Foundation encodes a host name with non-ASCII characters.
    private static func authority(_ text: Substring) -> String? {
        let text = String(text)
        return text.utf8.allSatisfy { $0 < 0x80 } ? text : URL(string: text)?.absoluteString
    }
}
