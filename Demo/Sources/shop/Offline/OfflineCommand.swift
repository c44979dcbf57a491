// SPDX-License-Identifier: MIT
import ArgumentParser
import Foundation
import ShopServer
import TargetKit
import TargetKitPlugins
import TargetKitOffline

/// `shop offline`.
struct OfflineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "offline",
        abstract: "Stops the server: the list comes from the cache, and an order is sent when the server is back."
    )

    func run() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "shop-offline-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        do {
            try await OfflineWalk(server: try await ShopServer.start(), storedIn: folder).run()
        } catch {
            print("\nThis went wrong: \(error)")
            throw ExitCode.failure
        }
    }
}

/// The list and an order, with the network, without it, and with it again.
private struct OfflineWalk {
    let console = Console()
    let session = Session()
    let server: ShopServer
    let catalog: Provider<Catalog>
    let outbox: OfflineOutbox<WaitingOrder>

    init(server: ShopServer, storedIn folder: URL) throws {
        self.server = server
        ShopAddress.current = server.baseURL
        let cache = ResponseCache(storedIn: folder.appending(path: "responses"), diskLimit: 1 << 20)
        catalog = Provider(plugins: [ResponseCachePlugin(cache)], options: .setting(\.cachePolicy, .staleOnFailure))
        let orders = Provider<WaitingOrder>(plugins: [AccessTokenPlugin { [session] _ in session.token }])
        outbox = try OfflineOutbox(orders, storedIn: folder.appending(path: "orders"))
    }

    func run() async throws {
        let signedIn = try await Provider<Auth>()
            .request(.signIn(Credentials(user: "ada", password: "tea")), as: SignedIn.self)
        session.begin(signedIn.token)
        let products = try await list()

        await server.stop()
        console.line("\n--- the server is stopped ---")
        try await Task.sleep(for: .seconds(2))
        _ = try await list()
        let order = NewOrder(lines: [NewOrder.Line(product: products[0].id, count: 2)], note: nil)
        console.step("Order", asks: "POST /orders with JSON: two of the first")
        guard case .kept = try await outbox.send(WaitingOrder(order: order)) else {
            throw TourFailure(description: "the order should wait")
        }
        console.got("kept: \(outbox.entries.count) entry in the outbox")

        let again = try await server.startAgain()
        console.line("\n--- the server is running again ---")
        try await sendWaiting()
        _ = try await list()
        await again.stop()
    }

    private func list() async throws -> [Product] {
        console.step("List", asks: "GET /products")
        let response = try await catalog.request(.products)
        let products = try response.decode([Product].self, atKeyPath: "items")
        switch response.origin {
        case .network, .revalidated: console.got("\(products.count) products from the server")
        case .cache(let age): console.got("\(products.count) products from the cache, \(age.components.seconds) s old")
        case .stale(let age): console.got("\(products.count) stale products, \(age.components.seconds) s old")
        }
        return products
    }

    private func sendWaiting() async throws {
        console.step("Order", asks: "POST /orders from the outbox")
        outbox.sendNow()
        for await entry in outbox.events {
            switch entry.state {
            case .sent(let response):
                let placed = try response.decode(Order.self)
                console.got("order \(placed.number), \(euros(placed.cents)) in all")
                return
            case .failed(let error): throw error
            default: continue
            }
        }
    }
}
