// SPDX-License-Identifier: MIT

extension URL {
    /// Creates a URL from an escaped text, without changing it; `nil` if the text isn't a valid URL (RFC 3986).
    package init?(escaped text: String) {
        // The plain initializer escapes an invalid text, including its percent signs.
        if #available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *) {
            self.init(string: text, encodingInvalidCharacters: false)
        } else {
            self.init(string: text)
        }
    }
}

extension URL {
    /// This URL with a query appended to its unchanged query; `nil` if the new query isn't escaped.
    package func appending(escapedQuery query: String) -> URL? {
        guard !query.isEmpty else { return self }
        var text = absoluteString
        var fragment = ""
        if let hash = text.utf8.firstIndex(of: UInt8(ascii: "#")) {
            fragment = String(text[hash...])
            text = String(text[..<hash])
        }
        let endsInMark = text.utf8.last == UInt8(ascii: "?") || text.utf8.last == UInt8(ascii: "&")
        let mark = !text.containsAny(of: "?") ? "?" : endsInMark ? "" : "&"
        return URL(escaped: text + mark + query + fragment)
    }
}
