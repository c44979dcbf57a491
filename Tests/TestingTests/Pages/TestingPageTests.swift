// SPDX-License-Identifier: MIT
import TargetKitTesting
import TargetKitTestingTraits
import TestSupport
import Testing
import XCTest

struct Product: ResponseModel, Equatable {
    var id: Int
    var name: String
}

struct Order: RequestModel, Equatable {
    var product: Int
    var count: Int
}

enum Catalog: TargetType, Equatable {
    case products
    case product(id: Int)
    case place(Order)

    // swift-format-ignore: NeverForceUnwrap
    var baseURL: URL { URL(string: "https://shop.example/v1")! }

    var path: RequestPath {
        switch self {
        case .products: "/products"
        case .product(let id): "/products/\(id)"
        case .place: "/orders"
        }
    }

    var method: HTTPMethod {
        if case .place = self { .post } else { .get }
    }

    var task: HTTPTask {
        if case .place(let order) = self { .json(order) } else { .plain }
    }

    var sampleResponse: SampleResponse {
        switch self {
        case .products: .json(#"[{"id":7,"name":"Sencha"}]"#)
        case .product: .json(#"{"id":7,"name":"Sencha"}"#)
        case .place: .json(#"{"number":1001}"#, status: 201)
        }
    }
}

extension Catalog {
    func sampleResponse(in scenario: String) -> SampleResponse? {
        switch (scenario, self) {
        case ("empty shop", .products): .json("[]")
        case ("sold out", .place): .json(#"{"error":"sold out"}"#, status: 409)
        default: nil
        }
    }
}

@MainActor
final class CatalogModel {
    enum State: Equatable {
        case empty
        case loading
        case loaded([Product])
        case failed(String)
    }

    private let provider: Provider<Catalog>
    private(set) var state = State.empty

    init(provider: Provider<Catalog>) {
        self.provider = provider
    }

    func load() async {
        state = .loading
        do {
            state = .loaded(try await provider.request(.products, as: [Product].self))
        } catch {
            state = .failed(error.kind == .offline ? "You are offline." : "The shop does not answer.")
        }
    }

    func order(_ product: Product, count: Int) async throws {
        _ = try await provider.request(.place(Order(product: product.id, count: count)))
    }
}

struct CatalogTests {
    @Test("The products are decoded")
    func products() async throws {
        let provider = Provider<Catalog>(stubClosure: { _ in .immediate })
        let products = try await provider.request(.products, as: [Product].self)
        #expect(products == [Product(id: 7, name: "Sencha")])
    }
}

struct RecordedCatalogTests {
    let provider = Provider<Catalog>(transport: CassetteTransport.current)

    @Test("The shop has Sencha", .replays("shop"))
    func products() async throws {
        #expect(try await provider.request(.products, as: [Product].self).map(\.name) == ["Sencha"])
    }
}

final class CatalogOrderTests: XCTestCase {
    func testOrder() async throws {
        let calls = RequestLog()
        let transport = StubTransport(routes: [.post("/orders"): .status(201)], log: calls)
        let provider = Provider<Catalog>(transport: transport)
        _ = try await provider.request(.place(Order(product: 7, count: 2)))
        try calls.expect([.post("/orders").with(.json("count", 2))])
    }
}

@MainActor
struct CatalogModelTests {
    let calls = RequestLog()
    let sencha = Product(id: 7, name: "Sencha")

    @Test("A failure is shown, and the next attempt shows the products")
    func failure() async {
        let transport = StubTransport(routes: [
            .target(Catalog.products): .sequence(
                .failure(URLError(.notConnectedToInternet)),
                .status(503),
                .targetSample
            )
        ])
        let model = CatalogModel(provider: Provider(transport: transport))
        await model.load()
        #expect(model.state == .failed("You are offline."))
        await model.load()
        #expect(model.state == .failed("The shop does not answer."))
        await model.load()
        #expect(model.state == .loaded([sencha]))
    }

    @Test("It is loading until the response arrives")
    func loading() async throws {
        let clock = ManualClock()
        let transport = StubTransport(routes: [.get("/products"): .json("[]").after(.seconds(2))], clock: clock)
        let model = CatalogModel(provider: Provider(transport: transport))
        async let load: Void = model.load()
        try await clock.waitForSleepers()
        #expect(model.state == .loading)
        clock.advance(by: .seconds(2))
        await load
        #expect(model.state == .loaded([]))
    }

    @Test("An order has the product and the count")
    func order() async throws {
        let transport = StubTransport(routes: [.post("/orders"): .status(201)], log: calls)
        let model = CatalogModel(provider: Provider(transport: transport))
        try await model.order(sencha, count: 2)
        try calls.expect([.post("/orders").with(.json("product", 7), .json("count", 2))])
        #expect(calls.count(of: .get("/products")) == 0)
    }

    @Test("An empty shop has no products")
    func emptyShop() async {
        let model = CatalogModel(provider: Provider(stubClosure: { _ in .scenario("empty shop") }))
        await model.load()
        #expect(model.state == .loaded([]))
    }
}

/// The other snippets of the page.
@Suite(.throttled)
struct TestingPageTests {
    private let calls = RequestLog()

    @Test("A call is awaited while another task makes it")
    func next() async throws {
        let transport = StubTransport(routes: [.any: .targetSample], log: calls)
        let provider = Provider<Catalog>(transport: transport)
        async let response = provider.request(.place(Order(product: 7, count: 2)))
        let order = try await calls.next(.post("/orders"))
        #expect(order.text == #"{"count":2,"product":7}"#)
        _ = try await response
    }

    @Test("A failed expectation says what differs")
    func failing() async throws {
        let provider = Provider<Catalog>(transport: StubTransport(routes: [.any: .targetSample], log: calls))
        _ = try await provider.request(.place(Order(product: 7, count: 2)))
        let error = #expect(throws: (any Error).self) {
            try calls.expect([.get("/products"), .post("/orders").with(.json("count", 3))])
        }
        #expect(
            error.map { "\($0)" } == """
                The requests differ from the expected ones (- expected, + arrived):
                  - GET /products
                  - POST /orders with JSON count 3
                  + POST https://shop.example/v1/orders, 23 bytes (Catalog.place)
                       JSON count: expected 3, found 2
                """
        )
    }

    @Test("Stubs have states")
    func states() async throws {
        let transport = StubTransport(routes: [
            .post("/orders"): .status(201).then("ordered"),
            .get("/products").when("ordered"): .json("[]"),
            .get("/products/:id"): .respond { _, captures in .json(#"{"id":\#(captures["id"] ?? "")}"#) },
            .get("/products"): .file(Fixture("products.json")),
        ])
        let provider = Provider<Catalog>(transport: transport)
        #expect(try await provider.request(.products, as: [Product].self).count == 2)
        _ = try await provider.request(.place(Order(product: 7, count: 1)))
        #expect(try await provider.request(.products, as: [Product].self).isEmpty)
        #expect(transport.unusedRoutes.count == 1)
    }

    @Test("A change of what is sent shows in the test")
    func snapshot() async throws {
        let provider = Provider<Catalog>()
        let request = try await provider.snapshot(of: .place(Order(product: 7, count: 2)))
        #expect(
            request == """
                POST /v1/orders
                Content-Type: application/json
                Host: shop.example

                {
                  "count" : 2,
                  "product" : 7
                }
                """
        )
    }

    @Test("A recorded call is replayed without its server")
    func cassette() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "cassette-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let network = StubTransport(routes: [.any: .targetSample])
        _ = try await Provider<Catalog>(transport: CassetteTransport(.record, folder: folder, recording: network))
            .request(.products)
        let cassette = CassetteTransport(.replay, folder: folder)
        let provider = Provider<Catalog>(transport: cassette)
        let products = try await provider.request(.products, as: [Product].self)
        #expect(products.count == 1)
        #expect(try cassette.unusedEntries.isEmpty)
    }

    @Test("A browser's archive is replayed")
    func archive() async throws {
        let archive = CassetteTransport(har: try Fixture("shop.har").url())
        let recorded = Provider<Catalog>(transport: archive)
        #expect(try await recorded.request(.products, as: [Product].self) == [Product(id: 7, name: "Sencha")])
    }

    @Test("A network is simulated on a clock of the test")
    func network() async throws {
        let clock = ManualClock()
        let stub = StubTransport(routes: [.any: .targetSample])
        let transport = NetworkConditions.lossyWiFi.transport(over: stub, seed: 7, clock: clock)
        let provider = Provider<Catalog>(transport: transport, clock: clock)
        async let result = provider.request(.products)
        try await clock.waitForSleepers()
        try await clock.runUntilIdle()
        #expect(try await result.statusCode == 200)
    }

    @Test("A server of the test closes connections")
    func server() async throws {
        let server = try TestServer(routes: [.get("/products"): .sequence(.reset, .json("[]"))])
        let provider = Provider<MultiTarget>()
        let target = URLTarget(server.baseURL.appending(path: "products"))
        await #expect(throws: TargetKitError.self) { try await provider.request(MultiTarget(target)) }
        #expect(try await provider.request(MultiTarget(target)).statusCode == 200)
        try server.log.expect(.get("/products"), times: 2)
    }

    @Test(
        "Every line of Swift on a page is a line of this file",
        arguments: DocumentationPage.pages(in: "Sources/Testing/TargetKitTesting.docc")
    )
    func everySnippetIsHere(page: DocumentationPage) throws {
        let known = try DocumentationPage.lines(at: "Tests/TestingTests/Pages/TestingPageTests.swift")
        for line in try page.lines() {
            #expect(known.contains(line), "\(page): \(line)")
        }
    }

    @Test("A launch argument selects the stubs")
    func launch() async throws {
        let stubs = StubSelection(arguments: ["-TargetKitStubs", "scenario=sold out"])
        let provider = Provider<Catalog>(transport: stubs.transport())
        let order = Order(product: 7, count: 1)
        let error = await #expect(throws: TargetKitError.self) { try await provider.request(.place(order)) }
        #expect(error?.response?.statusCode == 409)
    }
}
