// SPDX-License-Identifier: MIT
import FlyingFox
import FlyingSocks
import Foundation

/// The shop's server, on a port of this machine that nobody else can reach.
///
/// | call | answer |
/// |---|---|
/// | `POST /session` | 201 and a token, or 403 |
/// | `POST /session/revoke` | 204; the token is worth nothing from now on |
/// | `GET /products?q=…&tags[]=…&limit=…` | 200 |
/// | `GET /products/{id}` | 200 or 404 |
/// | `POST /orders`, `GET /orders` | 201, 200; 401 without a session |
/// | `GET /orders/report` | 200 after half a minute |
/// | `GET /legacy/orders` | always 200; without a session its body says `"status": 401` |
/// | `POST /media/pictures` | 201 and what was understood of the form |
public struct ShopServer: Sendable {
    /// Where the server listens.
    public let baseURL: URL
    private let server: HTTPServer
    private let shop: ShopRoutes
    private let running: Task<Void, any Error>

    /// Starts a server and waits until it listens.
    ///
    /// - Parameter port: default 0: a free one, which the system chooses.
    public static func start(port: UInt16 = 0) async throws -> ShopServer {
        try await start(ShopRoutes(), port: port)
    }

    private static func start(_ shop: ShopRoutes, port: UInt16) async throws -> ShopServer {
        let logger: some Logging = .disabled
        let server = HTTPServer(address: try .inet(ip4: "127.0.0.1", port: port), timeout: 60, logger: logger)
        for route in shop.routes {
            await server.appendRoute(HTTPRoute(method: route.method, path: route.path)) { request in
                await route.answer(to: request)
            }
        }
        let running = Task { try await server.run() }
        do {
            try await server.waitUntilListening()
        } catch {
            running.cancel()
            throw ShopServerError.cannotListen(port: port)
        }
        guard case .ip4(let host, let port) = await server.listeningAddress,
            let baseURL = URL(string: "http://\(host):\(port)")
        else { throw ShopServerError.cannotListen(port: port) }
        return ShopServer(baseURL: baseURL, server: server, shop: shop, running: running)
    }

    /// Waits until the server has ended.
    public func waitUntilStopped() async {
        _ = await running.result
    }

    /// Starts a server that was stopped again, at the same address, with its sessions and orders.
    public func startAgain() async throws -> ShopServer {
        try await Self.start(shop, port: UInt16(baseURL.port ?? 0))
    }

    /// Ends the server, and every answer that is still being made.
    public func stop() async {
        await server.stop()
        running.cancel()
    }
}

/// Why there is no server.
public enum ShopServerError: Error, Sendable, CustomStringConvertible {
    /// The port is taken, or may not be used.
    case cannotListen(port: UInt16)

    /// One line for a person.
    public var description: String {
        switch self {
        case .cannotListen(let port): "The server cannot listen on port \(port) of 127.0.0.1"
        }
    }
}
