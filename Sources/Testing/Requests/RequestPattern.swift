// SPDX-License-Identifier: MIT
import TargetKit

/// Describes the requests that a stub responds to, or that a test expects.
///
/// ```swift
/// .get("/products/:id")
/// .post("/orders").with(.json("items.0.id", 3), .header(.accept, "application/json"))
/// .target(Catalog.search("tea"))
/// .target(of: Catalog.self) { if case .product = $0 { true } else { false } }
/// ```
///
/// **Paths.** A path matches the whole path of a request's URL, or the path below the base URL of the request's target.
/// For example, with the base URL `https://shop.example/v1`, both `/products/:id` and `/v1/products/:id` match.
/// Segments are compared unescaped, and are case-sensitive.
/// - `:name` matches one nonempty segment, which ``StubResponse/respond(_:)`` receives by this name.
/// - `*` matches one nonempty segment.
/// - `**` matches any number of segments, including none.
/// - To match a `:` at the start of a segment, or a segment that is `*`, escape it as `%3A` or `%2A`.
/// - A query in the path, as in `/search?q=tea`, is equivalent to ``RequestMatcher/query(_:_:)`` for each of its names.
/// - If the path has a scheme and host, they must match the request's, and the whole path must match.
public struct RequestPattern: Sendable {
    private enum Subject: Sendable {
        case any
        case path(PathPattern, HTTPMethod?)
        case target(TargetPattern)
    }

    private let subject: Subject
    private var matchers: [RequestMatcher] = []
    /// The state in which the pattern matches; `nil` for every state.
    package private(set) var state: String?

    private init(_ subject: Subject) {
        self.subject = subject
    }

    private init(_ path: String, method: HTTPMethod?) {
        let pattern = PathPattern(path)
        self.init(.path(pattern, method))
        matchers = pattern.queryMatchers
    }

    /// Every request.
    public static let any = Self(.any)

    /// A `GET` request with the path.
    public static func get(_ path: String) -> Self { Self(path, method: .get) }
    /// A `POST` request with the path.
    public static func post(_ path: String) -> Self { Self(path, method: .post) }
    /// A `PUT` request with the path.
    public static func put(_ path: String) -> Self { Self(path, method: .put) }
    /// A `PATCH` request with the path.
    public static func patch(_ path: String) -> Self { Self(path, method: .patch) }
    /// A `DELETE` request with the path.
    public static func delete(_ path: String) -> Self { Self(path, method: .delete) }
    /// A request with the method and path.
    public static func method(_ method: HTTPMethod, _ path: String) -> Self { Self(path, method: method) }
    /// A request with any method and the path.
    public static func path(_ path: String) -> Self { Self(path, method: nil) }

    /// The request of a call whose target equals the given one.
    ///
    /// The message for a target with different values shows only values with a label, for example `.product(id: 7)`,
    /// unless the label indicates a secret.
    ///
    /// A request that a server received has no target, and doesn't match.
    public static func target<Target: TargetType & Equatable>(_ target: Target) -> Self {
        Self(.target(TargetPattern(target)))
    }

    /// The request of a call with a target of a type for which the closure returns `true`. The closure is called on any
    /// thread.
    ///
    /// A request that a server received has no target, and doesn't match.
    ///
    /// - Parameters:
    ///   - type: The type of the target.
    ///   - isIncluded: Returns whether the target matches; default: every target of the type.
    public static func target<Target: TargetType>(
        of type: Target.Type,
        where isIncluded: @escaping @Sendable (Target) -> Bool = { _ in true }
    ) -> Self {
        Self(.target(TargetPattern(type, isIncluded: isIncluded)))
    }

    /// Returns this pattern with additional conditions on the query, header fields or body, all of which must be met.
    public func with(_ matchers: RequestMatcher...) -> Self {
        var pattern = self
        pattern.matchers += matchers
        return pattern
    }

    /// Returns this pattern for a state of the stubs, which a response sets with ``StubResponse/then(_:)``. Stubs start
    /// without a state. In an expectation, the state is ignored.
    public func when(_ state: String) -> Self {
        var pattern = self
        pattern.state = state
        return pattern
    }
}

// MARK: - Comparing

extension RequestPattern {
    /// The captured path segments by name if the request matches; otherwise `nil`. The state isn't compared.
    package func captures(_ request: RecordedRequest) -> [String: String]? {
        captures(RequestParts(request))
    }

    /// Whether the request matches. The state isn't compared.
    package func matches(_ request: RecordedRequest) -> Bool {
        captures(request) != nil
    }

    /// The pattern without its state.
    var ignoringState: Self {
        var pattern = self
        pattern.state = nil
        return pattern
    }

    func captures(_ request: RequestParts) -> [String: String]? {
        var captures: [String: String] = [:]
        switch subject {
        case .any: break
        case .path(let path, let method):
            guard method == nil || method == request.request.method, let found = path.captures(request) else {
                return nil
            }
            captures = found
        case .target(let target):
            guard target.matches(request.request.target) else { return nil }
        }
        return matchers.allSatisfy { $0.isMet(request) } ? captures : nil
    }

    /// The differences between the pattern and a request, one sentence each; empty if the request matches.
    ///
    /// - Parameter state: The state of the stubs.
    package func mismatches(_ request: RecordedRequest, in state: String?) -> [String] {
        mismatches(RequestParts(request), in: state)
    }

    func mismatches(_ request: RequestParts, in state: String?) -> [String] {
        var differences: [String] = []
        switch subject {
        case .any: break
        case .path(let path, let method):
            if let method, method != request.request.method {
                differences.append("method: expected \(method), found \(request.request.method)")
            }
            if path.captures(request) == nil { differences.append(path.difference(from: request)) }
        case .target(let target):
            if let difference = target.difference(request.request.target) { differences.append(difference.text) }
        }
        differences += matchers.filter { !$0.isMet(request) }.flatMap { $0.differences(request) }
        if let expected = self.state, expected != state {
            differences.append("state: expected \"\(expected)\", found \(state.map { "\"\($0)\"" } ?? "none")")
        }
        return differences
    }

    /// The distance between a request and the pattern: 0 if it matches, and about 1 more for each difference.
    func distance(to request: RequestParts, in state: String?) -> Double {
        var distance = 0.0
        switch subject {
        case .any: break
        case .path(let path, let method):
            distance = path.distance(to: request) + (method == nil || method == request.request.method ? 0 : 1)
        case .target(let target): distance = target.difference(request.request.target)?.distance ?? 0
        }
        distance += 0.5 * Double(matchers.count { !$0.isMet(request) })
        return distance + (self.state == nil || self.state == state ? 0 : 0.25)
    }
}

extension RequestPattern: CustomStringConvertible {
    /// The pattern on one line, without secret values.
    public var description: String {
        let subject =
            switch subject {
            case .any: "any request"
            case .path(let path, let method): "\(method?.rawValue ?? "any method") \(path.text)"
            case .target(let target): target.description()
            }
        let conditions = matchers.isEmpty ? "" : " with " + matchers.map { $0.description() }.joined(separator: ", ")
        return (subject + conditions + (state.map { " when \"\($0)\"" } ?? "")).inOneLine
    }
}
