// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTransfers
import TargetKitTesting
import TestSupport
import Testing

/// With whose credential a queue makes a transfer.
@Suite("A queue of transfers: owners", .throttled, .timeLimit(.minutes(2)))
struct TransferOwnerTests {
    private let server = OrderServer()
    private let clock = ManualClock()
    private let network = ManualConnectivity(.offline)
    private let store = MemoryCredentialStore<Token>()
    private let signOuts = SignOuts()
    private let folder: TemporaryFolder
    private var file: URL { folder.url.appendingPathComponent("orders.queue") }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func queue(_ plugin: any Plugin, file: URL? = nil) throws -> TransferQueue<Order> {
        try TransferQueue(
            Provider(transport: server, plugins: [plugin], clock: clock),
            storedIn: file ?? self.file,
            reachability: Reachability(network)
        )
    }

    private func goOnline() { network.set(.online(.wifi, isExpensive: false)) }

    private func end(_ queue: TransferQueue<Order>, _ id: UUID) async throws -> String? {
        while queue[id]?.state.hasEnded != true {
            try Task.checkCancellation()
            clock.advance(by: .seconds(1))
            await Task.yield()
        }
        return queue[id]?.state.name
    }

    @Test("A waiting transfer isn't made for the next user, even if it is resumed", arguments: [HTTPMethod.post, .get])
    func nextUser(method: HTTPMethod) async throws {
        let plugin = signOuts.plugin(TokenAuthenticator(), store)
        try await plugin.signIn(Token(1))
        let queue = try queue(plugin)
        let first = try await queue.add(Order(1, method: method))
        try await plugin.signIn(Token(101))
        let second = try await queue.add(Order(2, method: method))
        goOnline()
        #expect(try await end(queue, second) == "finished")
        #expect(try await end(queue, first) == "failed")
        queue.resumeAll()
        queue.resume(first)
        #expect(try await end(queue, first) == "failed")
        #expect(server.users.elements == ["Bearer token-101"])
    }

    @Test("A transfer isn't made for the user whom another process signed in")
    func otherProcess() async throws {
        let here = signOuts.plugin(TokenAuthenticator(), store)
        let there = signOuts.plugin(TokenAuthenticator(), store)
        try await here.signIn(Token(1))
        let queue = try queue(here)
        let id = try await queue.add(Order(1, method: .get))
        try await there.signIn(Token(101))
        server.answer("1", .status(401), .status(200))
        goOnline()
        _ = try await end(queue, id)
        queue.resumeAll()
        #expect(try await end(queue, id) == "failed")
        #expect(server.users.elements == ["Bearer token-1"])
    }

    @Test("A transfer is made after a refresh, and by the process of the next launch", arguments: [false, true])
    func sameUser(isRelaunched: Bool) async throws {
        let plugin = signOuts.plugin(TokenAuthenticator(), store)
        try await plugin.signIn(Token(1))
        let first = try queue(plugin)
        let id = try await first.add(Order(1))
        server.answer("1", .status(401), .status(200))
        var queue = first
        if isRelaunched {
            let copy = folder.url.appendingPathComponent("copy.queue")
            try FileManager.default.copyItem(at: file, to: copy)
            queue = try self.queue(signOuts.plugin(TokenAuthenticator(), store), file: copy)
            first.pauseAll()
        }
        goOnline()
        #expect(try await end(queue, id) == "finished")
        #expect(server.users.elements == ["Bearer token-1", "Bearer token-2"])
    }

    @Test("A transfer that a guest added is made for the user who signs in")
    func guest() async throws {
        let plugin = signOuts.plugin(TokenAuthenticator(), store)
        let queue = try queue(plugin)
        let id = try await queue.add(Order(1))
        try await plugin.signIn(Token(1))
        goOnline()
        #expect(try await end(queue, id) == "finished")
    }
}
