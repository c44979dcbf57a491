// SPDX-License-Identifier: MIT
import Foundation

extension URL {
    /// The URL of a text that is escaped already, which is kept to the byte; `nil` when it is no URL (RFC 3986).
    package init?(escaped text: String) {
        // The plain initializer escapes a text that is not valid, and then every `%` of it again.
        if #available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *) {
            self.init(string: text, encodingInvalidCharacters: false)
        } else {
            self.init(string: text)
        }
    }
}

extension URL {
    /// This URL with a query after its own, which is kept byte for byte; `nil` when the query is not escaped.
    package func appending(escapedQuery query: String) -> URL? {
        guard !query.isEmpty else { return self }
        let (base, fragment) = openForQuery
        return URL(escaped: base + query + fragment)
    }

    /// This URL's text up to where more of a query can be appended, and the fragment that comes after it.
    var openForQuery: (base: String, fragment: String) {
        var base = absoluteString
        var fragment = ""
        if let hash = base.utf8.firstIndex(of: UInt8(ascii: "#")) {
            fragment = String(base[hash...])
            base = String(base[..<hash])
        }
        if !base.utf8.contains(UInt8(ascii: "?")) {
            base += "?"
        } else if base.utf8.last != UInt8(ascii: "?"), base.utf8.last != UInt8(ascii: "&") {
            base += "&"
        }
        return (base, fragment)
    }
}
