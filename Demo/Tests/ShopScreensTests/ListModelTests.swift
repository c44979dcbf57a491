// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitOffline
import TargetKitTesting
import Testing

@testable import ShopScreens

@MainActor @Suite("List", .timeLimit(.minutes(1)))
struct ListModelTests {
    private static let list = #"{"items":[{"id":"sencha","name":"Sencha","cents":890,"tags":["green"]}]}"#

    @Test("The list shows the products")
    func load() async throws {
        let model = ListModel(try ModelCase([.get("/products"): .json(Self.list)]).client)
        await model.load()
        #expect(model.products.map(\.name) == ["Sencha"])
        #expect(!model.isLoading && !model.isStale && model.message == nil)
    }

    @Test("A search is sent as a query")
    func search() async throws {
        let world = try ModelCase([.any: .json(Self.list)])
        let model = ListModel(world.client)
        model.searchText = "s & v"
        await model.load()
        try world.calls.expect(.get("/products").with(.query("q", "s & v")), times: 1)
    }

    @Test("Without a network, the stored products are shown and marked as old")
    func stale() async throws {
        let offline = URLError(.notConnectedToInternet)
        let fresh = StubResponse.json(Self.list, headers: ["Cache-Control": "max-age=0", "ETag": "\"1\""])
        let cache = ResponseCachePlugin(ResponseCache())
        let model = ListModel(try ModelCase([.any: .sequence(fresh, .failure(offline))], plugins: [cache]).client)
        await model.load()
        await model.load()
        #expect(model.products.count == 1 && model.isStale && model.message == nil)
    }

    @Test("Without a network and a cache, the reason is said")
    func offline() async throws {
        let model = ListModel(try ModelCase([.any: .failure(URLError(.notConnectedToInternet))]).client)
        await model.load()
        #expect(model.products.isEmpty && model.message != nil && !model.isLoading)
    }

    @Test("The result of an older load is dropped")
    func olderLoad() async throws {
        let world = try ModelCase([
            .get("/products").with(.query("q", "new")): .json(#"{"items":[]}"#),
            .get("/products"): .json(Self.list).after(.seconds(5)),
        ])
        let model = ListModel(world.client)
        let old = Task { await model.load() }
        try await world.clock.waitForSleepers()
        model.searchText = "new"
        await model.load()
        world.clock.advance(by: .seconds(5))
        await old.value
        #expect(model.products.isEmpty && !model.isLoading)
    }
}
