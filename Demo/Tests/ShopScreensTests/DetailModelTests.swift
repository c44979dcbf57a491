// SPDX-License-Identifier: MIT
import Foundation
import ShopAPI
import TargetKit
import TargetKitTesting
import Testing

@testable import ShopScreens

@MainActor @Suite("Detail and offline", .timeLimit(.minutes(1)))
struct DetailModelTests {
    private let sencha = Product(id: "sencha", name: "Sencha", cents: 890, tags: [])

    @Test("What is left is shown, and an error isn't", arguments: [true, false])
    func load(isOnline: Bool) async throws {
        let stock: StubResponse = isOnline ? .json(#"{"product":"sencha","left":12}"#) : .status(500)
        let world = try ModelCase([.any: stock])
        let model = DetailModel(sencha, world.client, world.outbox)
        await model.load()
        #expect(model.left == (isOnline ? 12 : nil))
    }

    @Test("An order is placed with the count")
    func order() async throws {
        let world = try ModelCase([.post("/orders"): .json(#"{"number":7,"cents":1780}"#, status: 201)])
        let model = DetailModel(sencha, world.client, world.outbox)
        model.count = 2
        await model.placeOrder()
        #expect(model.order == .placed(number: 7))
        try world.calls.expect(.post("/orders").with(.json("lines.0.count", 2)), times: 1)
    }

    @Test("An order that the server refuses says why")
    func refused() async throws {
        let world = try ModelCase([.any: .status(404)])
        let model = DetailModel(sencha, world.client, world.outbox)
        await model.placeOrder()
        guard case .failed(let message) = model.order else {
            Issue.record("the order should have failed")
            return
        }
        #expect(!message.isEmpty)
    }

    @Test("Without a network, the order waits, and can be removed")
    func waiting() async throws {
        let world = try ModelCase([.any: .failure(URLError(.notConnectedToInternet))])
        let model = DetailModel(sencha, world.client, world.outbox)
        model.count = 3
        await model.placeOrder()
        #expect(model.order == .waiting)
        let offline = OfflineModel(world.outbox)
        offline.show()
        #expect(offline.rows.map(\.title) == ["3 × sencha"])
        await offline.remove(try #require(offline.rows.first?.id))
        #expect(offline.rows.isEmpty)
    }

    @Test("The list of waiting orders is empty once they are sent")
    func sent() async throws {
        let placed = StubResponse.json(#"{"number":7,"cents":890}"#, status: 201)
        let world = try ModelCase([.any: .sequence(.failure(URLError(.notConnectedToInternet)), placed)])
        let model = DetailModel(sencha, world.client, world.outbox)
        await model.placeOrder()
        let offline = OfflineModel(world.outbox)
        let events = world.outbox.events
        offline.sendNow()
        for await entry in events { if case .sent = entry.state { break } }
        offline.show()
        #expect(offline.rows.isEmpty)
    }
}
