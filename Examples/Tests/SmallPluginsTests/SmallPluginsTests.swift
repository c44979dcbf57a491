// SPDX-License-Identifier: MIT
import FlyingFox
import Foundation
import Synchronization
import SmallPlugins
import TargetKit
import TargetKitPlugins
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Plugins with an `exchange`, written with the public API only, against a server on loopback.
@Suite("Small plugins", .timeLimit(.minutes(2)))
struct SmallPluginsTests {
    /// What the server has received: the path, the cookies and the condition.
    private final class Requests: Sendable {
        private let lines = Mutex<[String]>([])

        var all: [String] { lines.withLock { $0 } }

        func note(_ request: FlyingFox.HTTPRequest) {
            let fields = ["Authorization", "Cookie", "If-None-Match"].compactMap { request.headers[.init($0)] }
            lines.withLock { $0.append(([request.path] + fields).joined(separator: " ")) }
        }
    }

    private func serve(_ body: (URL, Requests) async throws -> Void) async throws {
        let requests = Requests()
        let server = HTTPServer(address: try .inet(ip4: "127.0.0.1", port: 0))
        await server.appendRoute("*") { request in
            requests.note(request)
            return Self.response(to: request)
        }
        let running = Task { try await server.run() }
        try await server.waitUntilListening()
        guard case .ip4(_, let port) = await server.listeningAddress else {
            Issue.record("the server has no address")
            return
        }
        try await body(try #require(URL(string: "http://127.0.0.1:\(port)")), requests)
        await server.stop()
        _ = await running.result
    }

    private static func response(to request: FlyingFox.HTTPRequest) -> FlyingFox.HTTPResponse {
        switch request.path {
        case "/fresh":
            HTTPResponse(
                statusCode: .ok,
                headers: [HTTPHeader("Cache-Control"): "max-age=60"],
                body: Data("fresh".utf8)
            )
        case "/validated":
            request.headers[HTTPHeader("If-None-Match")] == "\"1\""
                ? HTTPResponse(statusCode: .notModified, headers: [HTTPHeader("ETag"): "\"1\""])
                : HTTPResponse(statusCode: .ok, headers: [HTTPHeader("ETag"): "\"1\""], body: Data("validated".utf8))
        case "/sign-in":
            HTTPResponse(
                statusCode: .found,
                headers: [HTTPHeader("Set-Cookie"): "session=1; Path=/shop", HTTPHeader("Location"): "/shop/list"]
            )
        default: HTTPResponse(statusCode: .ok, body: Data(request.path.utf8))
        }
    }

    @Test("A fresh response is used, and another one validated", arguments: ["fresh", "validated"])
    func cache(path: String) async throws {
        try await serve { base, requests in
            let provider = Provider<URLTarget>(plugins: [SmallCache()])
            for number in 0..<3 {
                let response = try await provider.request(URLTarget(base.appending(path: path)))
                #expect(response.data == Data(path.utf8))
                #expect((response.origin == .network) == (number == 0))
            }
            #expect(
                requests.all
                    == (path == "fresh" ? ["/fresh"] : ["/validated"] + Array(repeating: "/validated \"1\"", count: 2))
            )
        }
    }

    @Test("A response belongs to whoever it was sent to, also if another plugin adds the token in its exchange")
    func users() async throws {
        try await serve { base, requests in
            let cache = SmallCache()
            let target = URLTarget(base.appending(path: "fresh"))
            for name in ["anna", "anna", "bob"] {
                let provider = Provider<URLTarget>(plugins: [AccessTokenPlugin { _ in name }, cache])
                _ = try await provider.request(target)
            }
            #expect(requests.all == ["/fresh Bearer anna", "/fresh Bearer bob"])
            let late = Provider<URLTarget>(plugins: [cache, LateToken()])
            for _ in 0..<2 { #expect(try await late.request(target).origin == .network) }
            #expect(requests.all.count == 4)
        }
    }

    private struct LateToken: Plugin {
        func exchange(
            _ request: TransportRequest,
            context: RequestContext,
            next: Exchange
        ) async throws -> TransportResponse {
            var request = request
            request.urlRequest.setValue("Bearer late", forHTTPHeaderField: "Authorization")
            return try await next(request)
        }
    }

    @Test("A cookie of a redirect is sent with the next request, where its path says")
    func cookies() async throws {
        try await serve { base, requests in
            let provider = Provider<URLTarget>(plugins: [CookieJar(), SmallCache()])
            _ = try await provider.request(URLTarget(base.appending(path: "sign-in")))
            _ = try await provider.request(URLTarget(base.appending(path: "shop/cart")))
            _ = try await provider.request(URLTarget(base.appending(path: "other")))
            #expect(requests.all == ["/sign-in", "/shop/list session=1", "/shop/cart session=1", "/other"])
        }
    }
}
