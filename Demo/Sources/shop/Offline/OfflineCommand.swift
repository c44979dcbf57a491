// SPDX-License-Identifier: MIT
import ArgumentParser
import Foundation
import ShopAPI
import ShopServer
import TargetKit
import TargetKitOffline
import TargetKitPlugins

/// `shop offline`.
struct OfflineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "offline",
        abstract: "Stops the server: the list comes from the cache, and an order is sent when the server is back."
    )

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "shop-offline-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let console = output.console
        do {
            try await OfflineWalk(console, server: try await ShopServer.start(), storedIn: folder).run()
        } catch {
            console.space()
            console.failed(error)
            throw ExitCode.failure
        }
    }
}

/// The list and an order, with the network, without it, and with it again.
private struct OfflineWalk {
    let console: Console
    let server: ShopServer
    let client: ShopClient
    let outbox: OfflineOutbox<WaitingOrder>

    init(_ console: Console, server: ShopServer, storedIn folder: URL) throws {
        self.console = console
        self.server = server
        let cache = ResponseCache(storedIn: folder.appending(path: "responses"), diskLimit: 1 << 20)
        var settings = ShopClient.Settings(ShopEnvironment.production.store(at: server.baseURL))
        settings.plugins = [ResponseCachePlugin(cache)]
        settings.retryPolicy = .never
        client = ShopClient(settings)
        outbox = try client.outbox(storedIn: folder.appending(path: "orders"))
    }

    func run() async throws {
        try await client.signIn(Credentials(user: "ada", password: "tea"))
        let products = try await list()

        await server.stop()
        console.space()
        console.say(Phrase("--- the server is stopped ---", "--- 服务器已停止 ---"))
        try await Task.sleep(for: .seconds(2))
        _ = try await list()
        let order = NewOrder(lines: [NewOrder.Line(product: products[0].id, count: 2)], note: nil)
        console.step(
            Phrase("Order", "下单"),
            asks: Phrase("POST /orders with JSON: two of the first", "POST /orders，JSON：第一种两包")
        )
        guard case .kept = try await outbox.send(WaitingOrder(order: order)) else {
            throw TourFailure(description: "the order should wait")
        }
        let count = outbox.entries.count
        console.got(Phrase("\(count) order waits on disk", "\(count) 个订单存盘等待"))

        let again = try await server.startAgain()
        console.space()
        console.say(Phrase("--- the server is running again ---", "--- 服务器恢复运行 ---"))
        try await sendWaiting()
        _ = try await list()
        await again.stop()
    }

    private func list() async throws -> [Product] {
        console.step(Phrase("List", "列表"), asks: Phrase(same: "GET /products"))
        let options = CallOptions.setting(\.cachePolicy, .staleOnFailure)
        let response = try await client.catalog.request(.products, options: options)
        let products = try response.decode([Product].self, atKeyPath: "items")
        console.got(.origin(of: response, count: products.count))
        return products
    }

    private func sendWaiting() async throws {
        console.step(Phrase("Order", "下单"), asks: Phrase("POST /orders from the outbox", "POST /orders，来自发件箱"))
        let events = outbox.events
        outbox.sendNow()
        for await entry in events {
            switch entry.state {
            case .sent(let response):
                let placed = try response.decode(Order.self)
                let total = euros(placed.cents)
                return console.got(Phrase("order \(placed.number), \(total) in all", "订单 \(placed.number)，共 \(total)"))
            case .failed(let error): throw error
            default: continue
            }
        }
    }
}

extension Phrase {
    /// Where a list of products comes from.
    fileprivate static func origin(of response: Response, count: Int) -> Phrase {
        switch response.origin {
        case .network, .revalidated: Phrase("\(count) products from the server", "\(count) 种商品，来自服务器")
        case .cache(let age):
            Phrase(
                "\(count) products from the cache, \(age.components.seconds) s old",
                "\(count) 种商品，来自缓存，\(age.components.seconds) 秒前"
            )
        case .stale(let age):
            Phrase(
                "\(count) stale products, \(age.components.seconds) s old",
                "\(count) 种商品，已过期，\(age.components.seconds) 秒前"
            )
        }
    }
}
