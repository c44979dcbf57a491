// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("TestServer: routes and log", .throttled, .timeLimit(.minutes(2)))
struct TestServerRoutesTests {
    private let transport = SystemTransport.another()

    private func text(_ path: String, method: String = "GET", from server: TestServer) async throws -> String {
        let response = try await TestCall(path: path, method: method).send(to: server, with: transport)
        return "\(response.head.statusCode) \(response.text)"
    }

    @Test("The first route that matches replies")
    func first() async throws {
        let server = try TestServer(routes: [
            .get("/products/:id"): .text("one"), .get("/products/7"): .text("never"), .post("/**"): .text("posted"),
        ])
        #expect(try await text("/products/7", from: server) == "200 one")
        #expect(try await text("/products/7", method: "POST", from: server) == "200 posted")
        #expect(server.unusedRoutes.map(\.description) == ["GET /products/7"])
    }

    @Test("A sequence is counted for each route, and its last reply is repeated")
    func sequence() async throws {
        let server = try TestServer(routes: [
            .get("/a"): .sequence(.status(503), .text("a", status: 201)),
            .get("/b"): .sequence(.text("b")),
        ])
        #expect(try await text("/a", from: server) == "503 ")
        #expect(try await text("/b", from: server) == "200 b")
        for _ in 0..<3 { #expect(try await text("/a", from: server) == "201 a") }
    }

    @Test("A sequence can be part of another one, and a modifier applies to each of its replies")
    func nested() async throws {
        let server = try TestServer(
            response: .sequence(.sequence(.text("12"), .text("2")), .text("3")).contentLength("1").after(.zero)
        )
        for expected in ["1", "2", "3", "3"] { #expect(try await text("/", from: server) == "200 \(expected)") }
    }

    @Test("Concurrent requests to a route get each reply of its sequence once")
    func concurrent() async throws {
        let reply = (1..<50).reduce(TestServer.Response.text("0")) { .sequence($0, .text("\($1)")) }
        let server = try TestServer(routes: [.any: reply])
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { try await text("/", from: server) } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(texts.count == 50)
    }

    @Test("A reply can set the state that other routes require")
    func states() async throws {
        let server = try TestServer(routes: [
            .get("/cart").when("logged in"): .text("cart"),
            .get("/cart"): .status(401),
            .post("/login"): .status(204).then("logged in"),
        ])
        #expect(try await text("/cart", from: server) == "401 ")
        #expect(try await text("/login", method: "POST", from: server) == "204 ")
        #expect(try await text("/cart", from: server) == "200 cart")
    }

    @Test("A request without a route gets a 404 with the closest routes and what differs")
    func unmatched() async throws {
        let server = try TestServer(routes: [
            .get("/products/:id"): .status(200), .post("/orders"): .status(201), .get("/a/b/c/d/e"): .hang,
            .get("/search").with(.query("q", "tea")): .status(200),
        ])
        let text = try await text("/search?q=coffee", from: server)
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines.first?.hasPrefix("404 No route matches GET http://127.0.0.1:") == true)
        #expect(lines.count == 4)
        #expect(
            lines.dropFirst().prefix(1).contains {
                $0.hasPrefix("  4. GET /search") && $0.hasSuffix(#"expected "tea", found "coffee""#)
            }
        )
        #expect(!text.contains("/a/b/c/d/e"))
        #expect(try await self.text("/", from: TestServer(routes: [:])).contains("There are no routes."))
    }

    @Test("The log has what arrived, and can be shared by servers")
    func log() async throws {
        let log = RequestLog()
        let servers = try [TestServer(log: log, response: .status(200)), TestServer(log: log) { _ in .status(200) }]
        let body = TransportRequest.Body.data(Data(#"{"count":2}"#.utf8))
        let headers = ["Content-Type": "application/json", "X-One": "1"]
        for (server, path) in zip(servers, ["/a%2Fb?q=1", "/orders"]) {
            let call = TestCall(path: path, method: "POST", headers: headers, body: body)
            try await call.send(to: server, with: transport)
        }
        #expect(servers.allSatisfy { $0.log === log })
        let first = try #require(log.requests.first)
        #expect(first.method == .post)
        #expect(first.url.absoluteString == servers[0].baseURL.absoluteString + "/a%2Fb?q=1")
        #expect(first.headers["X-One"] == "1")
        #expect(first.text == #"{"count":2}"#)
        #expect(first.target == nil)
        try log.expect([.post("/a%2Fb"), .post("/orders").with(.json("count", 2))])
    }

    @Test("A test can wait for a request that hangs, and for its connection to be closed")
    func waiting() async throws {
        let server = try TestServer(response: .hang)
        let call = Task { try await text("/slow", from: server) }
        _ = try await server.log.next(.get("/slow"))
        let error = await #expect(throws: (any Error).self) {
            try await server.waitForClosedConnections(within: .milliseconds(1))
        }
        #expect("\(error as Any)".contains("Expected 1 closed connection, but 0 of 1 are closed."))
        let waiting = Task { try await server.waitForClosedConnections(within: .seconds(3_600)) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        call.cancel()
        try await server.waitForClosedConnections()
        await #expect(throws: (any Error).self) { try await call.value }
        #expect(server.connectionCount == 1)
    }

    @Test("A reply can wait for the test")
    func held() async throws {
        let gate = Gate()
        let server = try TestServer(routes: [.get("/"): .text("late").after { await gate.wait() }])
        let call = Task { try await text("/", from: server) }
        await gate.waitForArrivals()
        #expect(server.responseCount == 0)
        gate.open()
        #expect(try await call.value == "200 late")
    }

    @Test("A server that cannot listen says why")
    func unavailable() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("tk-\(UUID().uuidString).sock").path
        let server = try TestServer(address: .unix(path: path), response: .hang)
        let error = #expect(throws: SocketError.self) { try TestServer(address: .unix(path: path), response: .hang) }
        #expect("\(error as Any)".contains("bind: Address already in use"))
        #expect(throws: SocketError.self) {
            try TestServer(address: .unix(path: String(repeating: "x", count: 200)), response: .hang)
        }
        #expect(FileManager.default.fileExists(atPath: path))
        server.stop()
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("A stopped server does not remove the file of another one at the same path")
    func sharedPath() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("tk-\(UUID().uuidString).sock").path
        var first: TestServer? = try TestServer(address: .unix(path: path), response: .hang)
        first?.stop()
        let second = try TestServer(address: .unix(path: path), response: .hang)
        first = nil
        #expect(FileManager.default.fileExists(atPath: path))
        second.stop()
    }
}
