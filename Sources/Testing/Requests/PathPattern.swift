// SPDX-License-Identifier: MIT
import Foundation

/// A pattern for the path of a URL, and optionally for its origin and query.
struct PathPattern: Sendable {
    private enum Segment: Sendable {
        case text(String)
        /// One nonempty segment, which is captured if it has a name.
        case one(name: String?)
        /// Any number of segments.
        case rest
    }

    /// The pattern's text without its query.
    let text: String
    /// The conditions of the pattern's query.
    let queryMatchers: [RequestMatcher]
    private let origin: Origin?
    private let segments: [Segment]

    /// Creates a pattern. Any string is valid.
    init(_ text: String) {
        var rest = text[...]
        if let fragment = rest.firstIndex(of: "#") { rest = rest[..<fragment] }
        if let mark = rest.firstIndex(of: "?") {
            queryMatchers = Self.matchers(ofQuery: rest[rest.index(after: mark)...])
            rest = rest[..<mark]
        } else {
            queryMatchers = []
        }
        self.text = String(rest)
        if let scheme = ["https://", "http://"].first(where: rest.lowercased().hasPrefix) {
            let end = rest.dropFirst(scheme.count).firstIndex(of: "/") ?? rest.endIndex
            origin = Origin(String(rest[..<end]))
            rest = rest[end...]
        } else {
            origin = nil
        }
        let path = rest.hasPrefix("/") ? rest.dropFirst() : rest
        segments = path.isEmpty ? [] : path.split(separator: "/", omittingEmptySubsequences: false).map(Self.segment)
    }

    private static func matchers(ofQuery query: Substring) -> [RequestMatcher] {
        let items = FormItem.items(of: String(query))
        var names: [String] = []
        for item in items where !names.contains(item.name) { names.append(item.name) }
        return names.map { name in
            let values = items.filter { $0.name == name }.map(\.value)
            return .query(name, values: values.allSatisfy { $0 == nil } ? [] : values.map { $0 ?? "" })
        }
    }

    private static func segment(_ text: Substring) -> Segment {
        switch text {
        case "**": .rest
        case "*": .one(name: nil)
        case _ where text.hasPrefix(":"): .one(name: text.count > 1 ? String(text.dropFirst()) : nil)
        default: .text(RequestParts.decoded(String(text)))
        }
    }

    /// The captured segments by name; `nil` if neither the whole path nor the path below the target's base URL matches.
    func captures(_ request: RequestParts) -> [String: String]? {
        guard origin == nil || origin == Origin(request.request.url) else { return nil }
        if let captures = captures(request.segments[...]) { return captures }
        guard origin == nil, let segments = request.segmentsBelowBase else { return nil }
        return captures(segments)
    }

    /// Matches from the start. If a segment doesn't match, the last `**` takes another segment.
    private func captures(_ path: ArraySlice<String>) -> [String: String]? {
        var captures: [String: String] = [:]
        var (position, index) = (0, path.startIndex)
        var retry: (position: Int, index: Int)?
        while index < path.endIndex || position < segments.count {
            if position < segments.count {
                switch segments[position] {
                case .rest:
                    position += 1
                    retry = (position, index)
                    continue
                case .one(let name) where index < path.endIndex && !path[index].isEmpty:
                    if let name { captures[name] = path[index] }
                    (position, index) = (position + 1, index + 1)
                    continue
                case .text(let text) where index < path.endIndex && path[index] == text:
                    (position, index) = (position + 1, index + 1)
                    continue
                default: break
                }
            }
            guard let last = retry, last.index < path.endIndex else { return nil }
            retry = (last.position, last.index + 1)
            (position, index) = (last.position, last.index + 1)
        }
        return captures
    }
}

extension PathPattern {
    /// The distance between the request and the pattern: 0 for a match, and about 1 for each differing segment.
    func distance(to request: RequestParts) -> Double {
        if captures(request) != nil { return 0 }
        let whole = distance(to: request.segments)
        let below = request.segmentsBelowBase.map { distance(to: Array($0)) } ?? whole
        return min(whole, below) + (origin == nil || origin == Origin(request.request.url) ? 0 : 2)
    }

    private func distance(to path: [String]) -> Double {
        EditDistance.between(segments, path) { segment, text in
            switch segment {
            case .one, .rest: 0
            case .text(let expected): EditDistance.dissimilarity(expected, text)
            }
        }
    }

    /// The message for a request that doesn't match.
    func difference(from request: RequestParts) -> String {
        let url = request.request.url
        if let origin, origin != Origin(url) {
            return "host: expected \(origin.text), found \(Origin(url).text)"
        }
        let path = SecretFields.redacted(path: url.path(percentEncoded: true)).excerpt(500).inOneLine
        return "path: expected \(text), found \(path.isEmpty ? "/" : path)"
    }
}

/// The scheme, host and port of a URL (RFC 6454).
private struct Origin: Sendable, Equatable {
    let text: String

    init(_ text: String) {
        self = URL(string: text).map { Origin($0) } ?? Origin(unchecked: text)
    }

    init(_ url: URL) {
        let scheme = url.scheme?.lowercased() ?? ""
        let defaultPort = ["http": 80, "https": 443][scheme]
        let port = url.port == defaultPort ? nil : url.port
        self.init(unchecked: "\(scheme)://\(url.host()?.lowercased() ?? "")" + (port.map { ":\($0)" } ?? ""))
    }

    private init(unchecked text: String) {
        self.text = text
    }
}
