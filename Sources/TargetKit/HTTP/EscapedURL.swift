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
        let text = absoluteString
        // Most URLs have neither a query nor a fragment.
        if !text.containsAny(of: "?#") { return URL(escaped: ContiguousText.joined(text, "?", query)) }
        let (base, fragment) = openForQuery
        return URL(escaped: base + query + fragment)
    }

    /// The text of this URL up to the end of its query, and the fragment after it.
    var openForQuery: (base: String, fragment: String) {
        var base = absoluteString
        guard base.containsAny(of: "?#") else { return (base + "?", "") }
        var fragment = ""
        if let hash = base.utf8.firstIndex(of: UInt8(ascii: "#")) {
            fragment = String(base[hash...])
            base = String(base[..<hash])
        }
        if !base.containsAny(of: "?") {
            base += "?"
        } else if base.utf8.last != UInt8(ascii: "?"), base.utf8.last != UInt8(ascii: "&") {
            base += "&"
        }
        return (base, fragment)
    }
}
