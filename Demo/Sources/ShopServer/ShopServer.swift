// SPDX-License-Identifier: MIT
import FlyingFox
import FlyingSocks
import Foundation

/// The shop's server, on a port of this machine that nobody else can reach.
///
/// | call | response |
/// |---|---|
/// | `POST /session` | 201 and tokens, or 403 |
/// | `POST /session/refresh` | 200 and new tokens, once for each refresh token, or 401 |
/// | `POST /session/expire` | 204; the access token is invalid from now on |
/// | `POST /session/revoke` | 204; the session has ended |
/// | `GET /products?q=…&tags[]=…&limit=…` | 200 |
/// | `GET /products/{id}` | 200 or 404 |
/// | `GET /products/{id}/stock` | 200 at every third request, else 503 |
/// | `POST /orders`, `GET /orders` | 201, 200; 401 without a session |
/// | `GET /orders/report` | 200 after half a minute |
/// | `GET /legacy/orders` | always 200; without a session its body says `"status": 401` |
/// | `GET /member`, `POST /vouchers` | 200 with `{"code", "message", "data"}`; no voucher is valid |
/// | `POST /media/pictures` | 201 and what was understood of the form |
/// | `GET /media/film` | 6 MB in about two seconds |
/// | `GET /feed` | a WebSocket with what is left of the products |
///
/// The same again below `/staging`, for requests with the field `X-Tester`.
public struct ShopServer: Sendable {
    /// Where the server listens.
    public let baseURL: URL
    private let server: HTTPServer
    private let shops: [ShopRoutes]
    private let running: Task<Void, any Error>

    /// Starts a server and waits until it listens.
    ///
    /// - Parameter port: default 0: a free one, which the system chooses.
    public static func start(port: UInt16 = 0) async throws -> ShopServer {
        try await start(ShopRoutes.Environment.allCases.map(ShopRoutes.init), port: port)
    }

    private static func start(_ shops: [ShopRoutes], port: UInt16) async throws -> ShopServer {
        let logger: some Logging = .disabled
        let address = try sockaddr_in.inet(ip4: "127.0.0.1", port: port)
        let server = HTTPServer(address: address, timeout: 60, pool: PromptPool(), logger: logger)
        for route in shops.flatMap(\.routes) {
            await server.appendRoute(HTTPRoute(method: route.method, path: route.path)) { request in
                await route.response(to: request)
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
        return ShopServer(baseURL: baseURL, server: server, shops: shops, running: running)
    }

    /// Waits until the server has ended.
    public func waitUntilStopped() async {
        _ = await running.result
    }

    /// Starts a server that was stopped again, at the same address, with its sessions and orders.
    public func startAgain() async throws -> ShopServer {
        try await Self.start(shops, port: UInt16(baseURL.port ?? 0))
    }

    /// Ends the server, and every response in progress.
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
