// SPDX-License-Identifier: MIT

extension RequestPath {
    /// Appends this path to a base URL, and its query to the base URL's query. An empty path leaves the base URL
    /// unchanged.
    func url(below baseURL: URL) throws(InvalidRequest) -> URL {
        // A URL with another scheme is also invalid, but is returned so that the error can show it.
        guard baseURL.isCallable || !baseURL.hasHTTPScheme else {
            throw .unsupportedURL(baseURL.absoluteString)
        }
        guard !escaped.isEmpty else { return baseURL }
        let text = try text(below: baseURL.absoluteString)
        guard let url = URL(escaped: text) else { throw .unreadableURL(text) }
        return url
    }

    /// The text of ``url(below:)`` if it is certainly a valid URL without a query, as most are; otherwise `nil`.
    func plainText(below baseURL: URL) -> String? {
        guard !escaped.isEmpty, !escaped.containsAny(of: "?.%"), baseURL.isCallable else { return nil }
        let base = baseURL.absoluteString
        return base.containsAny(of: "?#") ? nil : Self.join(base, path: escaped)
    }

    private func text(below base: String) throws(InvalidRequest) -> String {
        let (path, query) = Self.split(escaped[...], at: "?")
        guard !Self.hasDotSegment(path) else { throw .dotSegment(path: String(path)) }
        let (base, baseQuery) = Self.split(Self.split(base[...], at: "#").before, at: "?")
        var text = Self.join(String(base), path: String(path))
        var mark = "?"
        for query in [baseQuery, query] {
            guard let query, !query.isEmpty else { continue }
            text += mark + query
            mark = "&"
        }
        return text
    }

    /// Joins both with exactly one slash. Returns the base if the path is empty.
    private static func join(_ base: String, path: String) -> String {
        guard !path.isEmpty else { return base }
        let slash = UInt8(ascii: "/")
        switch (base.utf8.last == slash, path.utf8.first == slash) {
        case (true, true): return base + path.dropFirst()
        case (false, false): return base + "/" + path
        default: return base + path
        }
    }

    private static func split(_ text: Substring, at mark: Unicode.Scalar) -> (before: Substring, after: Substring?) {
        guard let index = text.utf8.firstIndex(of: UInt8(ascii: mark)) else { return (text, nil) }
        return (text[..<index], text[text.utf8.index(after: index)...])
    }

    /// Whether a segment is `.` or `..`, escaped or not (RFC 3986 §3.3). URL parsers resolve such segments.
    private static func hasDotSegment(_ path: Substring) -> Bool {
        path.utf8.split(separator: UInt8(ascii: "/")).contains { segment in
            var rest = segment
            var dots = 0
            while let dot = [".", "%2e", "%2E"].first(where: { rest.starts(with: $0.utf8) }) {
                rest = rest.dropFirst(dot.utf8.count)
                dots += 1
            }
            return rest.isEmpty && (1...2).contains(dots)
        }
    }
}
