// SPDX-License-Identifier: MIT
import TargetKit

/// The routes of a stub transport, which are patterns with their responses, in the order in which they are compared.
///
/// ```swift
/// let routes: StubRoutes = [.get("/cart"): .json("[]"), .any: .status(404)]
/// let transport = StubTransport(routes: routes)
/// ```
public typealias StubRoutes = KeyValuePairs<RequestPattern, StubResponse>

extension StubTransport {
    /// Creates a transport that responds to each request with the first matching route.
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
    /// A request without a matching route fails with an error that describes the three closest routes, and the
    /// differences from each. Providers that share the transport also share its sequences and state.
    ///
    /// - Parameters:
    ///   - routes: The patterns and their responses, in the order in which they are compared.
    ///   - log: Receives every request, including requests without a matching route; default: none.
    ///   - clock: The clock that measures the delays; default: the continuous clock.
    public init(
        routes: StubRoutes,
        log: RequestLog? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.init(routes: Array(routes), log: log, clock: clock)
    }

    /// Creates a transport with an array of routes, for example the routes of one test and of all tests
    /// (`Array(routes) + Array(common)`).
    public init(
        routes: [(key: RequestPattern, value: StubResponse)],
        log: RequestLog? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        let routes = RouteResponder(routes, log: log)
        self.init(clock: clock, owner: routes) { try await routes.response(to: $0) }
    }

    /// The patterns of the routes that haven't responded to a request yet, in order; empty for a transport without
    /// routes.
    public var unusedRoutes: [RequestPattern] {
        (owner as? RouteResponder)?.unused ?? []
    }
}

/// The routes of a stub transport, and its log.
private final class RouteResponder: Sendable {
    private let table: RouteTable<StubResponse.Element>
    private let log: RequestLog?

    init(_ routes: [(key: RequestPattern, value: StubResponse)], log: RequestLog?) {
        table = RouteTable(routes.map { ($0.key, $0.value.elements) })
        self.log = log
    }

    /// The patterns of the routes that haven't been used.
    var unused: [RequestPattern] { table.unused }

    func response(to request: TransportRequest) async throws -> SampleResponse {
        let recorded = try RecordedRequest(request)
        log?.append(recorded)
        let (element, captures) = try table.next(for: recorded)
        return try await element.response(to: recorded, captures: captures)
    }
}
