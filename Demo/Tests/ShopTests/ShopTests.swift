// SPDX-License-Identifier: MIT
import TargetKitContracts
import TargetKitPlugins
import TargetKitTesting
import Testing

@testable import ShopAPI

/// What TargetKitTesting offers, on the demo's calls.
@Suite("Shop", .timeLimit(.minutes(1)))
struct ShopTests {
    private let calls = RequestLog()
    private let order = NewOrder(lines: [NewOrder.Line(product: "sencha", count: 2)], note: nil)

    @Test("A search is sent as a query, and its items are decoded")
    func routes() async throws {
        let transport = StubTransport(
            routes: [.get("/products").with(.query("q", "tea")): .file(Fixture("products.json"))],
            log: calls
        )
        let provider = Provider<Catalog>(transport: transport)
        let found = try await provider.request(.search(Search(q: "tea")), as: [Product].self, atKeyPath: "items")
        #expect(found.map(\.id) == ["sencha", "assam"])
        try calls.expect([.get("/products?q=tea")])
    }

    @Test("A product is requested again after a 503, on a clock of the test")
    func sequence() async throws {
        let clock = ManualClock()
        let transport = StubTransport(
            routes: [.get("/products/:id"): .sequence(.status(503), .status(503), .targetSample)],
            log: calls
        )
        let provider = Provider<Catalog>(transport: transport, plugins: [RetryPlugin(clock: clock)], clock: clock)
        async let product = provider.request(.product(id: "sencha"), as: Product.self)
        for _ in 1...2 {
            try await clock.waitForSleepers()
            clock.advanceToNextDeadline()
        }
        #expect(try await product.name == "Sencha")
        try calls.expect(.get("/products/sencha"), times: 3)
    }

    @Test("A 401 in a body with status 200 signs out, and the next request is refused")
    func states() async throws {
        let session = Session()
        session.begin("token")
        let transport = StubTransport(routes: [
            .get("/legacy/orders"): .json(#"{"status":401}"#).then("signed out"),
            .get("/orders").when("signed out").with(.not(.header(.authorization))): .status(401),
        ])
        let codes = [BodyCode(keyPath: "status", equals: 401)]
        let plugins: [any Plugin] = [
            AccessTokenPlugin { _ in session.token }, UnauthorizedPlugin(bodyCodes: codes) { _ in session.end() },
        ]
        let provider = Provider<Orders>(transport: transport, plugins: plugins)
        _ = try? await provider.request(.legacy)
        #expect(session.token == nil && session.signOuts == 1)
        let error = await #expect(throws: TargetKitError.self) { try await provider.request(.all) }
        #expect(error?.response?.statusCode == 401)
    }

    @Test("The order that is sent has the product and the count")
    func next() async throws {
        let provider = Provider<Orders>(transport: StubTransport(routes: [.any: .targetSample], log: calls))
        async let placed = provider.request(.place(order), as: Order.self)
        let sent = try await calls.next(.post("/orders").with(.json("lines.0.count", 2)))
        #expect(sent.headers[.contentType] == "application/json")
        #expect(try await placed.number == 1001)
    }

    @Test("A change of what is sent shows here")
    func snapshot() async throws {
        let request = try await Provider<Orders>().snapshot(of: .place(order))
        #expect(
            request == """
                POST /orders
                Content-Type: application/json
                Host: shop.example

                {
                  "lines" : [
                    {
                      "count" : 2,
                      "product" : "sencha"
                    }
                  ]
                }
                """
        )
    }

    @Test("The samples of all modules fit what the app decodes")
    func contracts() async throws {
        let targets: [Catalog] = [.products, .product(id: "1"), .search(Search()), .availability(id: "1")]
        try await Provider<Catalog>().checkContracts(of: targets) { target in
            switch target {
            case .product: Product.self
            case .availability: Availability.self
            default: nil
            }
        }
        try await Provider<Orders>().checkContracts(of: [.all, .place(order), .report, .legacy]) { target in
            switch target {
            case .all: [Order].self
            case .place: Order.self
            case .report: OrderReport.self
            case .legacy: nil
            }
        }
    }

    @Test("A recorded search is replayed without the server")
    func cassette() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "shop-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let network = StubTransport(routes: [.any: .file(Fixture("products.json"))])
        let recorder = CassetteTransport(.record, folder: folder, recording: network)
        let recorded = try await Provider<Catalog>(transport: recorder).request(.products)
        let player = CassetteTransport(.replay, folder: folder)
        let replayed = try await Provider<Catalog>(transport: player).request(.products)
        #expect(replayed.data == recorded.data)
        #expect(try player.unusedEntries.isEmpty)
    }

    @Test("Behind a login page of the network, the call fails: the certificate is not trusted")
    func captivePortal() async throws {
        let stub = StubTransport(routes: [.any: .targetSample])
        let transport = NetworkConditions.captivePortal.transport(over: stub)
        let provider = Provider<Catalog>(transport: transport)
        let error = await #expect(throws: TargetKitError.self) { try await provider.request(.products) }
        #expect(error?.kind == .insecureConnection)
    }

    @Test("A server that closes the first connection is asked again")
    func server() async throws {
        let server = try TestServer(routes: [.get("/orders"): .sequence(.reset, .json("[]"))])
        let target = URLTarget(server.baseURL.appending(path: "orders"))
        let provider = Provider<URLTarget>(plugins: [RetryPlugin()])
        #expect(try await provider.request(target).statusCode == 200)
        try server.log.expect(.get("/orders"), times: 2)
    }

    @Test("A launch argument selects the samples of an empty shop")
    func launch() async throws {
        let stubs = StubSelection(arguments: ["-TargetKitStubs", "scenario=empty shop"])
        let provider = Provider<Catalog>(transport: stubs.transport())
        #expect(try await provider.request(.products, as: Int.self, atKeyPath: "total") == 0)
    }
}
