// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("StubTransport with routes", .throttled)
struct StubRoutesTests {
    private let log = RequestLog()

    private func provider(_ routes: StubRoutes) -> Provider<TeaShop> {
        Provider(transport: StubTransport(routes: routes, log: log))
    }

    @Test("The first route that matches answers")
    func firstRoute() async throws {
        let provider = provider([
            .get("/products/7"): .json(#"{"id":7}"#),
            .get("/products/:id"): .respond { request, captures in .json(#"{"id":\#(captures["id"] ?? "none")}"#) },
            .target(TeaShop.search("tea")): .json("[]", status: 203),
            .post("/orders").with(.json("count", 2)): .status(201),
            .post("/orders"): .status(422),
        ])
        #expect(try await provider.request(.product(id: 7)).data == Data(#"{"id":7}"#.utf8))
        #expect(try await provider.request(.product(id: 8)).data == Data(#"{"id":8}"#.utf8))
        let search = try await provider.request(.search("tea"))
        #expect(search.statusCode == 203)
        #expect(search.headers[.contentType] == "application/json")
        #expect(try await provider.request(.order(count: 2)).statusCode == 201)
        await #expect(throws: TargetKitError.self) { try await provider.request(.order(count: 3)) }
        #expect(log.requests.count == 5)
        try log.expect([
            .target(TeaShop.product(id: 7)), .get("/v1/products/8"), .get("/search?q=tea&page=1"),
            .post("/orders").with(.json("count", 2)), .post("/orders").with(.json("count", 3)),
        ])
    }

    @Test("A call that no route matches fails and names the three closest routes")
    func unmatched() async throws {
        let provider = provider([
            .delete("/cart/items/:id"): .status(204),
            .post("/search"): .status(200),
            .get("/serach"): .status(200),
            .get("/search").with(.query("q", "tea")): .status(200),
            .target(TeaShop.search("tea")): .status(200),
        ])
        let error = await #expect(throws: TargetKitError.self) { try await provider.request(.search("coffee")) }
        let expected = """
            TeaShop.search: the exchange failed [GET https://shop.example/v1/search]: \
            No route matches GET https://shop.example/v1/search (TeaShop.search). The closest routes: \
            3. GET /serach: path: expected /serach, found /v1/search \
            4. GET /search with query q "tea": query q: expected "tea", found "coffee" \
            5. TeaShop.search: target: TeaShop.search has different values: value 1 (values without labels aren't shown)
            """
        #expect(error?.description == expected)
        #expect(error?.kind == .unknown)
        let underlying = try #require(error?.underlying)
        let lines = """
            No route matches GET https://shop.example/v1/search?page=1&q=coffee (TeaShop.search). The closest routes:
              3. GET /serach: path: expected /serach, found /v1/search
              4. GET /search with query q "tea": query q: expected "tea", found "coffee"
              5. TeaShop.search: target: TeaShop.search has different values: value 1 (values without labels aren't shown)
            """
        #expect("\(underlying)" == lines)
        #expect(log.requests.count == 1)
    }

    @Test("Without routes, every call fails and says so")
    func noRoutes() async throws {
        let error = await #expect(throws: TargetKitError.self) { try await provider([:]).request(.product(id: 1)) }
        #expect(error?.description.hasSuffix("/v1/products/1 (TeaShop.product). There are no routes.") == true)
    }

    @Test("Routes of two places are put together")
    func combined() async throws {
        let common: StubRoutes = [.any: .status(404), .get("/never"): .status(500)]
        let special: StubRoutes = [.get("/products/:id"): .status(204)]
        let transport = StubTransport(routes: Array(special) + Array(common))
        #expect(try await Provider<TeaShop>(transport: transport).request(.product(id: 1)).statusCode == 204)
        #expect(transport.unusedRoutes.map(\.description) == ["any request", "GET /never"])
    }

    @Test("A sequence answers call after call, and its last answer repeats")
    func sequence() async throws {
        let provider = provider([
            .any: .sequence(
                .status(503),
                .failure(URLError(.timedOut)),
                .sequence(.status(200), .json("{}", status: 201))
            )
        ])
        var results: [String] = []
        for _ in 0..<5 {
            switch await provider.result(.product(id: 1)) {
            case .success(let response): results.append("\(response.statusCode)")
            case .failure(let error): results.append(error.response.map { "\($0.statusCode)" } ?? "\(error.kind)")
            }
        }
        #expect(results == ["503", "timedOut", "200", "201", "201"])
    }

    @Test("A sequence without responses is an error")
    func emptySequence() async throws {
        let error = await #expect(throws: TargetKitError.self) {
            try await provider([.any: .sequence()]).request(.product(id: 1))
        }
        #expect(error?.description.hasSuffix("The sequence of any request has no responses.") == true)
    }

    @Test("Concurrent calls each get another answer of a sequence")
    func concurrentSequence() async throws {
        let numbers = try await withThrowingTaskGroup(of: Int.self) { group in
            let provider = provider([
                .any: .sequence(
                    .status(200),
                    .status(201),
                    .status(202),
                    .status(203),
                    .status(204),
                    .status(205),
                    .status(206),
                    .status(207),
                    .status(208),
                    .status(226),
                    .status(299)
                )
            ])
            for _ in 0..<200 { group.addTask { try await provider.request(.product(id: 1)).statusCode } }
            return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        #expect(numbers.count == 11)
        #expect(numbers[299] == 190)
        #expect(log.count(of: .any) == 200)
    }

    @Test("An answer changes the state, in which other routes match")
    func state() async throws {
        let provider = provider([
            .post("/orders"): .status(201).then("ordered"),
            .get("/products/:id").when("ordered"): .status(404).then("sold out"),
            .get("/products/:id").when("sold out"): .status(410),
            .get("/products/:id"): .status(200),
        ])
        func status() async -> Int? {
            switch await provider.result(.product(id: 1)) {
            case .success(let response): response.statusCode
            case .failure(let error): error.response?.statusCode
            }
        }
        #expect(await status() == 200)
        _ = try await provider.request(.order(count: 1))
        #expect(await status() == 404)
        #expect(await status() == 410)
        #expect(await status() == 410)
    }

    @Test("A route for another state is named by the error")
    func otherState() async throws {
        let provider = provider([.any.when("signed in"): .status(200)])
        let error = await #expect(throws: TargetKitError.self) { try await provider.request(.product(id: 1)) }
        #expect(error?.description.hasSuffix(#"state: expected "signed in", found none"#) == true)
    }

    @Test("Routes that were not used can be asked for")
    func unusedRoutes() async throws {
        let transport = StubTransport(routes: [.get("/products/:id"): .status(200), .post("/orders"): .status(201)])
        #expect(transport.unusedRoutes.count == 2)
        _ = try await Provider<TeaShop>(transport: transport).request(.product(id: 1))
        #expect(transport.unusedRoutes.map(\.description) == ["POST /orders"])
        #expect(StubTransport(.status(200)).unusedRoutes.isEmpty)
    }

    @Test("Answers have header fields and delays, which the transport's clock measures")
    func modifiers() async throws {
        let clock = ManualClock()
        let routes: StubRoutes = [
            .any: .sequence(.json("{}"), .respond { _, _ in .delayed(.seconds(1), .status(204)) })
                .header(.eTag, "\"1\"").after(.seconds(2)).after(.seconds(3))
        ]
        let provider = Provider<TeaShop>(transport: StubTransport(routes: routes, clock: clock))
        for (seconds, fields) in [(5, 2), (6, 1)] {
            async let response = provider.request(.product(id: 1))
            try await clock.waitForSleepers()
            #expect(clock.remainingSleeps == [.seconds(seconds)])
            clock.advance(by: .seconds(seconds))
            let headers = try await response.headers
            #expect(headers[.eTag] == "\"1\"")
            #expect(headers.fields.count == fields)
        }
    }

    @Test("The timeout of a call ends a delay", arguments: [4, 6])
    func timeout(limit: Int) async throws {
        let clock = ManualClock()
        let transport = StubTransport(routes: [.any: .status(200).after(.seconds(5))], clock: clock)
        let provider = Provider<TeaShop>(transport: transport)
        async let result = provider.result(
            .product(id: 1),
            options: .setting(\.timeout, .exchange(.seconds(limit)))
        )
        try await clock.waitForSleepers()
        #expect(clock.remainingSleeps == [.seconds(min(limit, 5))])
        clock.advance(by: .seconds(5))
        switch await result {
        case .success: #expect(limit == 6)
        case .failure(let error): #expect(error.kind == .timedOut && limit == 4)
        }
    }

    @Test("A cancelled call ends its delay")
    func cancelled() async throws {
        let clock = ManualClock()
        let transport = StubTransport(routes: [.any: .status(200).after(.seconds(5))], clock: clock)
        let task = Task { await Provider<TeaShop>(transport: transport).result(.product(id: 1)) }
        try await clock.waitForSleepers()
        task.cancel()
        let error = await #expect(throws: TargetKitError.self) { try await task.value.get() }
        #expect(error?.stage == .cancelled)
        #expect(clock.sleeperCount == 0)
    }

    @Test("The target's own sample answers, also through a MultiTarget")
    func target() async throws {
        let transport = StubTransport(routes: [
            .get("/products/1"): .targetSample, .get("/products/:id"): .scenario("out of stock"),
            .any: .scenario("unknown"),
        ])
        let provider = Provider<TeaShop>(transport: transport)
        #expect(try await provider.request(.product(id: 1)).data == Data(#"{"id":1}"#.utf8))
        let error = await #expect(throws: TargetKitError.self) { try await provider.request(.product(id: 2)) }
        #expect(error?.response?.statusCode == 404)
        #expect(try await provider.request(.search("x")).statusCode == 200)
        let multi = Provider<MultiTarget>(transport: transport)
        #expect(try await multi.request(MultiTarget(TeaShop.product(id: 1))).data == Data(#"{"id":1}"#.utf8))
    }

    @Test("A request without a target has no sample")
    func noTarget() async throws {
        let transport = StubTransport(routes: [.any: .targetSample])
        let url = try #require(URL(string: "https://shop.example/a"))
        let error = await #expect(throws: (any Error).self) {
            try await transport.send(TransportRequest(urlRequest: URLRequest(url: url)))
        }
        let text = "The request has no target, so there is no sample response: GET https://shop.example/a"
        #expect(error.map { "\($0)" } == text)
    }

    @Test("A target type that is not Equatable is matched by a closure")
    func notEquatable() async throws {
        let transport = StubTransport(routes: [
            .target(of: Uploads.self) { if case .avatar = $0 { true } else { false } }: .status(201),
            .target(of: Uploads.self): .status(202),
        ])
        let provider = Provider<Uploads>(transport: transport)
        #expect(try await provider.request(.avatar { 1 }).statusCode == 201)
        #expect(try await provider.request(.other).statusCode == 202)
    }

    @Test("Values are encoded, and a value that cannot be encoded fails the call")
    func encodable() async throws {
        let provider = provider([.get("/products/:id"): .json(["id": 7]), .any: .json([Double.nan])])
        #expect(try await provider.request(.product(id: 7)).data == Data(#"{"id":7}"#.utf8))
        let error = await #expect(throws: TargetKitError.self) { try await provider.request(.search("")) }
        #expect(error?.underlying is EncodingError)
    }

    @Test("Two providers share a log, and the order of their calls")
    func sharedLog() async throws {
        let uploads = Provider<Uploads>(transport: StubTransport(routes: [.any: .status(200)], log: log))
        let catalog = provider([.any: .status(200)])
        _ = try await uploads.request(.other)
        _ = try await catalog.request(.product(id: 1))
        _ = try await uploads.request(.other)
        try log.expect([.target(of: Uploads.self), .get("/products/1"), .get("/uploads")])
    }

    @Test("A test waits for a call that other code makes")
    func nextCall() async throws {
        let provider = provider([.any: .status(200)])
        let task = Task { try await provider.request(.order(count: 2)) }
        let order = try await log.next(.post("/orders"))
        #expect(order.text == #"{"count":2}"#)
        #expect(order.target as? TeaShop == .order(count: 2))
        _ = try await task.value
    }

    #if os(Linux)
    @Test("1,000 stubbed tests leave no thread, file or waiter behind")
    func nothingIsLeft() async throws {
        func entries(_ folder: String) -> Int {
            (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/\(folder)").count) ?? 0
        }
        func test() async throws -> Weak {
            let log = RequestLog()
            let transport = StubTransport(
                routes: [.get("/products/:id"): .sequence(.status(503), .json("{}")), .any: .status(201)],
                log: log
            )
            let provider = Provider<TeaShop>(transport: transport)
            async let order = log.next(.post("/orders"))
            _ = await provider.result(.product(id: 1))
            _ = try await provider.request(.order(count: 1))
            _ = try await order
            await #expect(throws: (any Error).self) { try await log.next(.get("/never"), within: .zero) }
            let waiting = Task { try await log.next(.get("/never"), within: .seconds(600)) }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            try log.expect([.get("/products/1"), .post("/orders")])
            return Weak(log)
        }
        for _ in 0..<100 { _ = try await test() }
        let (threads, files) = (entries("task"), entries("fd"))
        var logs: [Weak] = []
        for _ in 0..<1000 { logs.append(try await test()) }
        // Other suites run beside this one and have thousands of connections for a few seconds. What each test left
        // would be a thousand.
        for _ in 0..<600 where entries("task") > threads + 500 || entries("fd") > files + 500 {
            try await Task.sleep(for: .milliseconds(100))
        }
        #expect(entries("task") <= threads + 500)
        #expect(entries("fd") <= files + 500)
        for _ in 0..<10_000 where logs.contains(where: { $0.log != nil }) { await Task.yield() }
        #expect(logs.allSatisfy { $0.log == nil })
    }

    private struct Weak: Sendable {
        weak var log: RequestLog?

        init(_ log: RequestLog) { self.log = log }
    }
    #endif

    @Test("A streamed body of 100 MB is recorded and compared")
    func hugeBody() async throws {
        let transport = StubTransport(routes: [
            .any.with(.satisfying("large") { $0.body.count == 100 << 20 }): .status(200)
        ])
        let url = try #require(URL(string: "https://shop.example/a"))
        var request = TransportRequest(urlRequest: URLRequest(url: url), body: .stream(Zeros(count: 100 << 20)))
        let sent = Recorder<Int64>()
        request.progress = { if $0.direction == .upload { sent.append($0.completed) } }
        #expect(try await transport.send(request).head.statusCode == 200)
        #expect(sent.elements == [100 << 20])
    }

    @Test("A stream without an end can be cancelled")
    func endlessBody() async throws {
        let transport = StubTransport(routes: [.any: .status(200)])
        let url = try #require(URL(string: "https://shop.example/a"))
        let task = Task {
            try await transport.send(
                TransportRequest(urlRequest: URLRequest(url: url), body: .stream(Zeros(count: .max)))
            )
        }
        await Task.yield()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}

/// A body of zeros.
private struct Zeros: BodySource {
    let count: Int

    var length: Int64? { nil }

    func open() throws -> any BodyReader { Reader(rest: count) }

    private final class Reader: BodyReader {
        private let rest: Locked<Int>

        init(rest: Int) { self.rest = Locked(rest) }

        func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
            rest.withLock { rest in
                let count = min(rest, buffer.count)
                rest -= count
                buffer.baseAddress?.initializeMemory(as: UInt8.self, repeating: 0, count: count)
                return count
            }
        }
    }
}
