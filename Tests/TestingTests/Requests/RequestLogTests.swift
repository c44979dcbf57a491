// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitJSON
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("RequestLog", .throttled)
struct RequestLogTests {
    private let log = RequestLog()

    private func add(_ method: HTTPMethod, _ path: String, body: String = "") throws {
        let url = try #require(URL(string: "https://shop.example\(path)"))
        log.append(RecordedRequest(method: method, url: url, body: Data(body.utf8)))
    }

    /// The description of the error that the closure throws.
    private func message(_ body: () async throws -> Void) async -> String {
        do {
            try await body()
            return "no error"
        } catch {
            return "\(error)"
        }
    }

    @Test("It has the requests in their order, and counts those that match")
    func requests() throws {
        try add(.get, "/a")
        try add(.post, "/a")
        try add(.get, "/a")
        #expect(log.requests.map(\.method) == [.get, .post, .get])
        #expect(log.count(of: .get("/a")) == 2)
        log.clear()
        #expect(log.requests.isEmpty)
        #expect(log.count(of: .any) == 0)
    }

    /// Adds a secret field of its own.
    private struct ShopKeyPlugin: Plugin {
        let secretHeaders: Set<HTTPHeaderName> = ["X-Shop"]

        func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
            var request = request
            request.setValue("hunter2", forHTTPHeaderField: "X-Shop")
            return request
        }
    }

    @Test("No message shows the secret fields of plugins, whatever keeps the request", arguments: [true, false])
    func pluginSecrets(isOfPlugin: Bool) async throws {
        let recorder = RecordingPlugin(place: .observation)
        let transport = StubTransport(routes: [.get("/none").with(.header("X-Shop", "other")): .targetSample], log: log)
        let provider = Provider<TeaShop>(transport: transport, plugins: [ShopKeyPlugin(), recorder])
        let error = await #expect(throws: TargetKitError.self) { try await provider.request(.product(id: 1)) }
        let log = isOfPlugin ? recorder.log : log
        #expect(log.requests.first?.headers["X-Shop"] == "hunter2")
        let message = await message { try log.expect([.any.with(.header("X-Shop", "other"))]) }
        #expect(message.contains("header X-Shop"))
        var dumped = ""
        dump(error, to: &dumped)
        for text in [message, String(describing: error), dumped] { #expect(!text.contains("hunter2")) }
    }

    @Test("No message shows a secret of the path, or one that begins before the text is cut")
    func longSecrets() async throws {
        try add(.get, "/cart;jsessionid=hunter2/items")
        let path = await message { try log.expect([.get("/other")]) }
        #expect(path.contains("path: expected /other, found /cart;jsessionid=<redacted>"))
        log.clear()
        let user = String(repeating: "u", count: 185)
        let link = "https://\(user):hunter2hunter2@shop.example/"
        let url = try #require(URL(string: "https://shop.example/a"))
        log.append(RecordedRequest(url: url, headers: ["X-Link": link]))
        let header = await message { try log.expect([.get("/a").with(.header("X-Link", "none"))]) }
        #expect(header.contains("header X-Link"))
        #expect(!header.contains("hunter2") && !header.contains(":hunt"))
        log.clear()
        try add(.get, "/" + Array(repeating: "a", count: 20_000).joined(separator: "/"))
        #expect(await message { try log.expect([.get("/other")]) }.count < 2_500)
    }

    @Test("next returns a request that has arrived, each once")
    func nextReturnsEachOnce() async throws {
        try add(.get, "/a?n=1")
        try add(.get, "/b")
        try add(.get, "/a?n=2")
        #expect(try await log.next(.get("/a")).url.query == "n=1")
        #expect(try await log.next(.get("/a")).url.query == "n=2")
        #expect(try await log.next().url.path == "/b")
        #expect(log.requests.count == 3)
        await #expect(throws: (any Error).self) { try await log.next(within: .zero) }
    }

    @Test("next waits for a request, and leaves others to their callers")
    func nextWaits() async throws {
        async let a = log.next(.get("/a"))
        async let b = log.next(.get("/b"))
        try add(.get, "/c")
        try add(.get, "/b")
        try add(.get, "/a")
        let paths = try await [a.url.path, b.url.path]
        #expect(paths == ["/a", "/b"])
        #expect(try await log.next().url.path == "/c")
    }

    @Test("Concurrent callers of next each get another request", arguments: [1, 100])
    func nextConcurrently(delay: Int) async throws {
        let numbers = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<100 { group.addTask { try await log.next(.get("/a")).url.query } }
            for number in 0..<100 {
                if number % delay == 0 { await Task.yield() }
                try add(.get, "/a?\(number)")
            }
            return try await group.reduce(into: Set<String>()) { if let query = $1 { $0.insert(query) } }
        }
        #expect(numbers.count == 100)
    }

    @Test("next ends when its task is cancelled, before or while it waits", arguments: [true, false])
    func nextCancelled(before: Bool) async throws {
        let task = Task { [log] in
            if before { withUnsafeCurrentTask { $0?.cancel() } }
            return try await log.next(.any, within: .seconds(600))
        }
        if !before { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        // A cancelled caller takes no request.
        try add(.get, "/a")
        #expect(try await log.next().url.path == "/a")
    }

    @Test("next fails after the limit, and says what has arrived instead")
    func nextAfterLimit() async throws {
        try add(.get, "/orders?token=abc")
        try add(.post, "/orders", body: #"{"count":3}"#)
        try add(.post, "/orders", body: #"{"count":2}"#)
        let pattern = RequestPattern.post("/orders").with(.json("count", 2))
        _ = try await log.next(pattern)
        let message = await message { _ = try await log.next(pattern, within: .milliseconds(1)) }
        let expected = """
            No request matched POST /orders with JSON count 2 within 0.001 seconds. 3 requests arrived:
              1. GET https://shop.example/orders?token=<redacted>
                   method: expected POST, found GET
                   JSON count: the body isn't valid JSON
              2. POST https://shop.example/orders, 11 bytes
                   JSON count: expected 2, found 3
              3. POST https://shop.example/orders, 11 bytes: already returned by next(_:within:)
            """
        #expect(message == expected)
        let empty = await self.message { _ = try await RequestLog().next(.any, within: .zero) }
        #expect(empty == "No request matched any request within 0.0 seconds. No requests arrived.")
    }

    @Test("A request that arrives at the limit is either returned or left for the next caller")
    func arrivalAtTheLimit() async throws {
        for _ in 0..<200 {
            let log = RequestLog()
            let url = try #require(URL(string: "https://shop.example"))
            async let added: Void = Task { log.append(RecordedRequest(url: url)) }.value
            let first = try? await log.next(within: .zero)
            await added
            #expect((first == nil) == ((try? await log.next(within: .zero)) != nil))
        }
    }

    @Test("expect accepts exactly the requests in their order")
    func expectAccepts() throws {
        try log.expect([])
        try add(.get, "/a/1")
        try add(.post, "/b")
        try log.expect([.get("/a/:id"), .post("/b")])
        try log.expect([.any, .any.when("ignored")])
        try log.expect(.get("/a/1"), times: 1)
        try log.expect(.get("/c"), times: 0)
    }

    @Test("expect describes the differences as a diff")
    func expectDescribes() async throws {
        try add(.get, "/products/1")
        try add(.get, "/extra")
        try add(.post, "/orders", body: #"{"count":3,"items":[{"id":1}]}"#)
        try add(.delete, "/cart")
        let message = await message {
            try log.expect([
                .get("/products/:id"), .post("/orders").with(.json("", ["count": 2, "items": [["id": 1]]])),
                .delete("/cart"), .get("/end"),
            ])
        }
        let expected = """
            The requests differ from the expected ones (- expected, + arrived):
                GET /products/:id
              + GET https://shop.example/extra
              - POST /orders with JSON {"count":2,"items":[{"id":1}]}
              + POST https://shop.example/orders, 30 bytes
                   JSON count: expected 2, found 3
                DELETE /cart
              - GET /end
            """
        #expect(message == expected)
    }

    @Test("A request that differs least is compared with the expected one")
    func closestIsCompared() async throws {
        try add(.get, "/extra")
        try add(.post, "/orders", body: #"{"count":3}"#)
        let message = await message { try log.expect([.post("/orders").with(.json("count", 2))]) }
        let expected = """
            The requests differ from the expected ones (- expected, + arrived):
              + GET https://shop.example/extra
              - POST /orders with JSON count 2
              + POST https://shop.example/orders, 11 bytes
                   JSON count: expected 2, found 3
            """
        #expect(message == expected)
    }

    @Test("expect says how many requests matched")
    func expectTimes() async throws {
        try add(.get, "/a")
        try add(.get, "/b")
        let message = await message { try log.expect(.get("/a"), times: 2) }
        let expected = """
            Expected 2 requests matching GET /a, found 1. 2 requests arrived:
              1. GET https://shop.example/a: matches
              2. GET https://shop.example/b
                   path: expected /a, found /b
            """
        #expect(message == expected)
    }

    @Test("A message stays short for huge bodies and many requests")
    func shortMessages() async throws {
        let items = (0..<20_000).map { "\"\($0)\"" }.joined(separator: ",")
        let others = (0..<20_000).map { "\"\($0 + 1)\"" }.joined(separator: ",")
        for index in 0..<30 { try add(.post, "/a/\(index)", body: "[\(items)]") }
        let json = try JSONValue(parsing: "[\(others)]")
        for matcher in [
            RequestMatcher.json("", json), .body("[\(others)]"), .body(Data(repeating: 0, count: 5_000_000)),
        ] {
            let pattern = RequestPattern.post("/a/0").with(matcher)
            let message = await message { try log.expect([pattern]) }
            #expect(message.utf8.count < 20_000)
        }
        let message = await message { try log.expect(.get("/b"), times: 1) }
        #expect(message.contains("… and 10 other requests"))
        #expect(message.utf8.count < 10_000)
    }

    @Test("Thousands of requests are compared in a short time")
    func manyRequests() throws {
        for index in 0..<5000 { try add(.get, "/a/\(index)") }
        let patterns = (0..<5000).map { RequestPattern.get("/a/\($0 + 1)") }
        let start = threadTime
        #expect(throws: (any Error).self) { try log.expect(patterns) }
        #expect(threadTime - start < .seconds(20))
    }
}
