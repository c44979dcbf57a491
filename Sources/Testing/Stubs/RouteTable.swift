// SPDX-License-Identifier: MIT
import TargetKit

/// One response of a route.
protocol RouteElement: Sendable {
    /// The state after the response; `nil` if it is unchanged.
    var state: String? { get }
}

/// The routes of a stub transport or server, the number of responses of each, and their state.
final class RouteTable<Element: RouteElement>: Sendable {
    private struct Progress: Sendable {
        /// The number of responses of each route.
        var counts: [Int]
        /// The state that a response set.
        var state: String?
    }

    private typealias Match = (index: Int, captures: [String: String])

    /// The patterns with their responses in order. The last response repeats.
    private let routes: [(pattern: RequestPattern, elements: [Element])]
    private let progress: Locked<Progress>

    init(_ routes: [(pattern: RequestPattern, elements: [Element])]) {
        self.routes = routes
        progress = Locked(Progress(counts: Array(repeating: 0, count: routes.count)))
    }

    /// The patterns of the routes that haven't been used.
    var unused: [RequestPattern] {
        let counts = progress.withLock { $0.counts }
        return zip(routes, counts).filter { $0.1 == 0 }.map(\.0.pattern)
    }

    /// Takes the next response of the first matching route, with the captured path segments.
    ///
    /// - Throws: ``StubError`` if no route matches, or its sequence has no responses.
    func next(for request: RecordedRequest) throws -> (element: Element, captures: [String: String]) {
        let parts = RequestParts(request)
        guard let next = try take(matches(parts)) else { throw unmatched(parts) }
        return next
    }

    /// The matching routes, up to the first one that matches in every state. Patterns call the test's own closures, so
    /// they are compared outside the lock.
    private func matches(_ request: RequestParts) -> [Match] {
        var matches: [Match] = []
        for (index, route) in routes.enumerated() {
            guard let captures = route.pattern.captures(request) else { continue }
            matches.append((index, captures))
            if route.pattern.state == nil { break }
        }
        return matches
    }

    /// Takes the next response of the first matching route in the current state, and changes the state.
    private func take(_ matches: [Match]) throws -> (Element, captures: [String: String])? {
        let taken = progress.withLock { progress -> (match: Match, element: Element?)? in
            for match in matches {
                let (pattern, elements) = routes[match.index]
                guard pattern.state == nil || pattern.state == progress.state else { continue }
                let count = progress.counts[match.index]
                progress.counts[match.index] = count + 1
                let element = count < elements.count ? elements[count] : elements.last
                if let state = element?.state { progress.state = state }
                return (match, element)
            }
            return nil
        }
        guard let taken else { return nil }
        guard let element = taken.element else {
            throw StubError("The sequence of \(routes[taken.match.index].pattern) has no responses.")
        }
        return (element, taken.match.captures)
    }

    /// The error with the three closest routes, and the differences from each.
    private func unmatched(_ request: RequestParts) -> StubError {
        let state = progress.withLock { $0.state }
        let distances = routes.map { $0.pattern.distance(to: request, in: state) }
        let closest = routes.indices.sorted { (distances[$0], $0) < (distances[$1], $1) }
        let summary = "No route matches \(request.request.summary)."
        guard !routes.isEmpty else { return StubError("\(summary) There are no routes.") }
        let lines = closest.prefix(3).map { index in
            let pattern = routes[index].pattern
            return "\(index + 1). \(pattern): \(pattern.mismatches(request, in: state).joined(separator: "; "))"
        }
        return StubError("\(summary) \(routes.count > 3 ? "The closest routes" : "The routes"):", lines: lines)
    }
}
