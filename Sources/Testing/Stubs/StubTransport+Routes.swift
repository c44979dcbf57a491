// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

extension StubTransport {
    /// Creates a transport that answers each request with the first route that matches it.
    ///
    /// ```swift
    /// let calls = RequestLog()
    /// let transport = StubTransport(routes: [
    ///     .get("/products/:id"): .sequence(.status(503), .json(#"{"id":7}"#)),
    ///     .target(Catalog.search("tea")): .json("[]"),
    ///     .post("/login"): .status(204).then("signed in"),
    ///     .get("/cart").when("signed in"): .file(Fixture("cart.json", in: .module)),
    ///     .get("/cart"): .status(401),
    /// ], log: calls)
    /// let provider = Provider<Catalog>(transport: transport)
    /// ```
    ///
    /// A request that no route matches fails with an error that names the three closest routes, and what differs from
    /// each. Providers that share the transport share its sequences and its state.
    ///
    /// - Parameters:
    ///   - routes: The patterns and their answers, in the order in which they are compared.
    ///   - log: Receives every request, also those without a matching route; default: none.
    ///   - clock: The clock that measures the delays; default: the continuous clock.
    public init(
        routes: KeyValuePairs<RequestPattern, StubAnswer>,
        log: RequestLog? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.init(routes: Array(routes), log: log, clock: clock)
    }

    /// Creates a transport with the routes of an array, for example of those of one test and those of all tests:
    /// `Array(routes) + Array(common)`.
    public init(
        routes: [(key: RequestPattern, value: StubAnswer)],
        log: RequestLog? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        let routes = StubRoutes(routes, log)
        self.init(clock: clock, owner: routes) { try await routes.response(to: $0) }
    }

    /// The patterns of the routes that have not answered a request yet, in order; empty for a transport without routes.
    public var unusedRoutes: [RequestPattern] {
        (owner as? StubRoutes)?.unused ?? []
    }
}

/// The routes of a stub transport, and what they have answered so far.
private final class StubRoutes: Sendable {
    private struct Progress: Sendable {
        /// The number of answers of each route.
        var counts: [Int]
        /// The state that an answer has set.
        var state: String?
    }

    private let routes: [(key: RequestPattern, value: StubAnswer)]
    private let log: RequestLog?
    private let progress: Locked<Progress>

    init(_ routes: [(key: RequestPattern, value: StubAnswer)], _ log: RequestLog?) {
        self.routes = routes
        self.log = log
        progress = Locked(Progress(counts: Array(repeating: 0, count: routes.count)))
    }

    /// The patterns of the routes without an answer.
    var unused: [RequestPattern] {
        let counts = progress.withLock { $0.counts }
        return zip(routes, counts).filter { $0.1 == 0 }.map(\.0.key)
    }

    func response(to request: TransportRequest) async throws -> SampleResponse {
        let recorded = try RecordedRequest(request)
        log?.append(recorded)
        let parts = RequestParts(recorded)
        guard let (step, captures) = try take(matches(parts)) else { throw unmatched(parts) }
        return try await step.response(to: recorded, captures)
    }

    private typealias Match = (index: Int, captures: [String: String])

    /// The routes that match, up to the first one that matches in every state. Patterns call the test's own closures, so
    /// they are compared without the lock.
    private func matches(_ request: RequestParts) -> [Match] {
        var matches: [Match] = []
        for (index, route) in routes.enumerated() {
            guard let captures = route.key.captures(request) else { continue }
            matches.append((index, captures))
            if route.key.state == nil { break }
        }
        return matches
    }

    /// Takes the next answer of the first route that matches in the current state, and changes the state.
    private func take(_ matches: [Match]) throws -> (StubAnswer.Step, captures: [String: String])? {
        let taken = progress.withLock { progress -> (match: Match, step: StubAnswer.Step?)? in
            for match in matches {
                let (pattern, answer) = routes[match.index]
                guard pattern.state == nil || pattern.state == progress.state else { continue }
                let count = progress.counts[match.index]
                progress.counts[match.index] = count + 1
                let step = count < answer.steps.count ? answer.steps[count] : answer.steps.last
                if let state = step?.state { progress.state = state }
                return (match, step)
            }
            return nil
        }
        guard let taken else { return nil }
        guard let step = taken.step else {
            throw StubError("The sequence of \(routes[taken.match.index].key) has no answers.")
        }
        return (step, taken.match.captures)
    }

    /// The error with the three closest routes, and what differs from each.
    private func unmatched(_ request: RequestParts) -> StubError {
        let state = progress.withLock { $0.state }
        let distances = routes.map { $0.key.distance(to: request, in: state) }
        let closest = routes.indices.sorted { (distances[$0], $0) < (distances[$1], $1) }
        let summary = "No route matches \(request.request.summary)."
        guard !routes.isEmpty else { return StubError("\(summary) There are no routes.") }
        let lines = closest.prefix(3).map { index in
            let pattern = routes[index].key
            return "\(index + 1). \(pattern): \(pattern.mismatches(request, in: state).joined(separator: "; "))"
        }
        return StubError("\(summary) \(routes.count > 3 ? "The closest routes" : "The routes"):", lines)
    }
}

/// The failure of a stub itself, which is a mistake in the test.
struct StubError: LocalizedError, CustomStringConvertible, DeveloperError {
    private let title: String
    private let lines: [String]

    init(_ title: String, _ lines: [String] = []) {
        self.title = title
        self.lines = lines
    }

    /// The message, with a line for each part.
    var description: String { ([title] + lines.map { "  \($0)" }).joined(separator: "\n") }

    /// The message on one line, which is part of the description of the call's error.
    var errorDescription: String? { ([title] + lines).joined(separator: " ") }
}
