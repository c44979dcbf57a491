// SPDX-License-Identifier: MIT
import Foundation
import ShopAPI
import ShopServer
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import Testing

@testable import shop

/// The demo's own server, on loopback.
@Suite("Server", .timeLimit(.minutes(1)))
struct ServerTests {
    private func serve(_ body: (ShopServer) async throws -> Void) async throws {
        let server = try await ShopServer.start()
        do {
            try await body(server)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    private func client(_ server: ShopServer, _ environment: ShopEnvironment = .production) -> ShopClient {
        ShopClient(ShopClient.Settings(environment.store(at: server.baseURL)))
    }

    @Test("The body of a response doesn't wait for the acknowledgement of its head, 40 ms")
    func latency() async throws {
        try await serve { server in
            let catalog = client(server).catalog
            // The acknowledgement would delay all but the first ones, so one that is faster suffices. On a busy machine it
            // may be the first after many.
            var isFast = false
            for number in 1...300 where !isFast {
                let start = ContinuousClock.now
                _ = try await catalog.request(.product(id: "sencha"))
                isFast = number > 11 && start.duration(to: .now) < .milliseconds(30)
            }
            #expect(isFast)
        }
    }

    @Test("Staging has a product more, and refuses who isn't a tester")
    func staging() async throws {
        try await serve { server in
            let production = try await client(server).catalog.request(.products, as: Int.self, atKeyPath: "total")
            let staging = try await client(server, .staging).catalog
                .request(.products, as: Int.self, atKeyPath: "total")
            #expect(staging == production + 1)
            let target = URLTarget(server.baseURL.appending(path: "staging/products"))
            let error = await #expect(throws: TargetKitError.self) { try await Provider<URLTarget>().request(target) }
            #expect(error?.response?.statusCode == 403)
        }
    }

    @Test("A refresh token counts once")
    func refreshToken() async throws {
        try await serve { server in
            let auth = client(server).auth
            let signIn = Auth.signIn(Credentials(user: "ada", password: "tea"))
            let token = try await auth.request(signIn, as: SignedIn.self).refreshToken
            _ = try await auth.request(.refresh(token: token))
            let error = await #expect(throws: TargetKitError.self) { try await auth.request(.refresh(token: token)) }
            #expect(error?.kind == .unauthorized)
        }
    }

    @Test("An order with one idempotency key counts once")
    func idempotencyKey() async throws {
        try await serve { server in
            let client = client(server)
            try await client.signIn(Credentials(user: "ada", password: "tea"))
            let order = Orders.place(NewOrder(lines: [.init(product: "cup", count: 1)], note: nil))
            let options = CallOptions.setting(\.idempotencyKey, "once")
            let first = try await client.orders.request(order, as: Order.self, options: options)
            let second = try await client.orders.request(order, as: Order.self, options: options)
            #expect(first.number == second.number)
            #expect(try await client.orders.request(.all, as: [Order].self).count == 1)
        }
    }

    @Test("The watch reads the server's feed")
    func feed() async throws {
        try await serve { server in
            let written = Guarded("")
            let console = Console(.json) { text in written.withLock { $0 += text } }
            try await StockWatch(client: client(server), console: console).run(count: 2)
            #expect(written.value.contains(#""product":"sencha""#))
        }
    }
}
