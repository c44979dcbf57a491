// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTransfers
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a queue does with a call that the server may have processed.
@Suite("A queue of transfers: calls that may have been processed", .throttled, .timeLimit(.minutes(2)))
struct TransferRepetitionTests {
    private let server = OrderServer()
    private let clock = ManualClock()
    private let network = ManualConnectivity(.online(.wifi, isExpensive: false))
    private let folder: TemporaryFolder
    private var file: URL { folder.url.appendingPathComponent("orders.queue") }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func queue(_ file: URL? = nil, hasReachability: Bool = true) throws -> TransferQueue<Order> {
        try TransferQueue(
            Provider(transport: server, clock: clock),
            storedIn: file,
            reachability: hasReachability ? Reachability(network) : nil
        )
    }

    private func wait(_ queue: TransferQueue<Order>, _ id: UUID, for name: String) async throws {
        while queue[id]?.state.name != name {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// Lets every delay pass, and gives the queue the time to send.
    private func passDelays() async throws {
        for _ in 1...30 {
            try Task.checkCancellation()
            clock.advance(by: .seconds(600))
            for _ in 1...20 { await Task.yield() }
        }
    }

    /// A call that the server may process twice, or not.
    private static let orders: [(order: Order, isSafe: Bool)] = [
        (Order(1), false), (Order(1, method: .patch), false), (Order(1, key: "a"), true),
        (Order(1, method: .put), true),
    ]

    @Test("A call that is lost with the network doesn't wait for the network to be sent again", arguments: orders)
    func offline(order: Order, isSafe: Bool) async throws {
        let network = network
        let transport = StubTransport { [server] request in
            _ = try await server.send(request)
            network.set(.offline)
            throw URLError(.networkConnectionLost)
        }
        let queue = try TransferQueue(
            Provider<Order>(transport: transport, clock: clock),
            reachability: Reachability(network)
        )
        let id = try await queue.add(order)
        try await wait(queue, id, for: isSafe ? "waiting" : "failed")
        network.set(.online(.wifi, isExpensive: false))
        if isSafe { await server.sent.waitForCount(2) } else { try await passDelays() }
        #expect(isSafe || server.sent.count == 1)
    }

    @Test(
        "A call that the server processed before a redirect isn't sent again",
        arguments: [301, 302, 303],
        [OrderServer.Answer.status(503, ["Retry-After": "0"]), .status(408), .status(429), .failure(.timedOut)]
    )
    func redirect(status: Int, answer: OrderServer.Answer) async throws {
        server.answer("1", .status(status, ["Location": "/receipt"]))
        server.answer("receipt", answer)
        let queue = try queue()
        let id = try await queue.add(Order(1))
        try await wait(queue, id, for: "failed")
        try await passDelays()
        #expect(server.sent.elements == ["POST 1", "GET receipt"])
    }

    @Test("A call that was in flight when the process was killed is sent again only if that is safe", arguments: orders)
    func killed(order: Order, isSafe: Bool) async throws {
        server.answer("1", .hang)
        let copy = folder.url.appendingPathComponent("copy.queue")
        let first = try queue(file)
        let id = try await first.add(order)
        await server.sent.waitForCount(1)
        // What a killed process leaves behind.
        try FileManager.default.copyItem(at: file, to: copy)
        let next = try queue(copy)
        if isSafe {
            await server.sent.waitForCount(2)
        } else {
            try await wait(next, id, for: "failed")
            #expect(server.sent.count == 1)
            // The app asks for it.
            next.resume(id)
            await server.sent.waitForCount(2)
        }
        first.cancelAll()
        next.cancelAll()
    }

    @Test("A call that was killed before it was sent is sent at the next launch")
    func killedBefore() async throws {
        network.set(.offline)
        let copy = folder.url.appendingPathComponent("copy.queue")
        let first = try queue(file)
        try await first.add(Order(1))
        try FileManager.default.copyItem(at: file, to: copy)
        let next = try queue(copy, hasReachability: false)
        await server.sent.waitForCount(1)
        withExtendedLifetime((first, next)) {}
    }

    @Test("Resuming all doesn't send a failed call again that the server may have processed; resuming it does")
    func resumeAll() async throws {
        server.answer("1", .failure(.networkConnectionLost), .status(200))
        server.answer("2", .status(404), .status(200))
        let queue = try queue()
        let (first, second) = (try await queue.add(Order(1)), try await queue.add(Order(2)))
        try await wait(queue, first, for: "failed")
        try await wait(queue, second, for: "failed")
        for _ in 1...3 { queue.resumeAll() }
        #expect(try await queue.add(Order(3)) != first)
        try await passDelays()
        #expect(server.count(of: "POST 1") == 1)
        queue.resume(first)
        #expect(try await queue.response(of: first).statusCode == 200)
        #expect(server.count(of: "POST 1") == 2)
    }

    @Test("A call that was paused in flight is sent again only if that is safe", arguments: orders)
    func paused(order: Order, isSafe: Bool) async throws {
        server.answer("1", .hang)
        let queue = try queue()
        let id = try await queue.add(order)
        await server.sent.waitForCount(1)
        queue.pause(id)
        server.answer("1", .status(200))
        queue.resumeAll()
        try await wait(queue, id, for: isSafe ? "finished" : "failed")
        #expect(server.sent.count == (isSafe ? 2 : 1))
    }

    @Test(
        "A call that never reached the server is sent again, even if its delay ends while the queue reads it",
        arguments: [URLError.Code.cannotConnectToHost, .cannotFindHost],
        1...50
    )
    func unsent(code: URLError.Code, round: Int) async throws {
        server.answer("1", .failure(code), .status(200))
        let queue = try queue()
        let id = try await queue.add(Order(1))
        while queue[id]?.state.name != "finished" {
            try Task.checkCancellation()
            clock.advance(by: .seconds(1))
            await Task.yield()
        }
        #expect(server.sent.count == 2)
    }

    @Test(
        "A queue waits for at least its own delay, whatever the server says",
        arguments: [429, 503],
        ["0", "Wed, 21 Oct 2015 07:28:00 GMT"]
    )
    func shortestDelay(status: Int, retryAfter: String) async throws {
        server.answer("1", .status(status, ["Retry-After": retryAfter]))
        let queue = try queue()
        try await queue.add(Order(1, method: .get))
        await server.sent.waitForCount(1)
        try await clock.waitForSleepers()
        let wait = try #require(clock.remainingSleeps.first)
        #expect(wait >= .milliseconds(450))
        clock.advance(by: .milliseconds(400))
        for _ in 1...50 { await Task.yield() }
        #expect(server.sent.count == 1)
        queue.pauseAll()
    }

    @Test(
        "A call fails when the transport met the failure behind a redirect that it followed itself",
        arguments: [URLError.Code.cannotFindHost, .cannotConnectToHost, .notConnectedToInternet]
    )
    func behindOwnRedirect(code: URLError.Code) async throws {
        let transport = StubTransport { [server] request in
            _ = try await server.send(request)
            throw URLError(code, userInfo: [NSURLErrorFailingURLErrorKey: URL.shop.appending(path: "receipt")])
        }
        let queue = try TransferQueue(Provider<Order>(transport: transport, clock: clock))
        let id = try await queue.add(Order(1))
        try await wait(queue, id, for: "failed")
        try await passDelays()
        #expect(server.sent.count == 1)
    }
}
