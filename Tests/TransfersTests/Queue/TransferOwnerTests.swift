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

    /// Another process's queue of the same transfers, with its own file.
    private func relaunched(_ first: TransferQueue<Order>, _ plugin: any Plugin) throws -> TransferQueue<Order> {
        let copy = folder.url.appendingPathComponent("copy.queue")
        try FileManager.default.copyItem(at: file, to: copy)
        first.pauseAll()
        return try queue(plugin, file: copy)
    }

    @Test("A transfer that was added while the keychain was locked is made with the credential that was locked")
    func unlocked() async throws {
        let store = LockableStore()
        try await signOuts.plugin(TokenAuthenticator(), store).signIn(Token(1))
        store.setLocked(true)
        let plugin = signOuts.plugin(TokenAuthenticator(), store)
        let first = try queue(plugin)
        let id = try await first.add(Order(1))
        store.setLocked(false)
        // It belongs to Ann from now on, also after a relaunch.
        server.answer("1", .failure(.cannotConnectToHost), .status(200))
        goOnline()
        await server.sent.waitForCount(1)
        while first[id]?.state.name != "waiting" {
            try Task.checkCancellation()
            await Task.yield()
        }
        network.set(.offline)
        // The changes before are in the file, too.
        try await first.add(Order(2))
        let next = signOuts.plugin(TokenAuthenticator(), store)
        let queue = try relaunched(first, next)
        goOnline()
        #expect(try await end(queue, id) == "finished")
        #expect(server.count(of: "POST 1") == 2)
        #expect(server.users.elements.allSatisfy { $0 == "Bearer token-1" })
    }

    @Test(
        "A transfer that was added while the keychain was locked isn't made for the next user",
        arguments: [false, true]
    )
    func lockedNextUser(isRelaunched: Bool) async throws {
        let store = LockableStore()
        try await signOuts.plugin(TokenAuthenticator(), store).signIn(Token(1))
        store.setLocked(true)
        var plugin = signOuts.plugin(TokenAuthenticator(), store)
        var queue = try queue(plugin)
        let id = try await queue.add(Order(1))
        store.setLocked(false)
        if isRelaunched { plugin = signOuts.plugin(TokenAuthenticator(), store) }
        try await plugin.signIn(Token(101))
        if isRelaunched {
            queue = try relaunched(queue, plugin)
            queue.resumeAll()
        }
        goOnline()
        #expect(try await end(queue, id) == "failed")
        queue.resume(id)
        #expect(try await end(queue, id) == "failed")
        #expect(server.users.elements == [])
    }

    @Test("A transfer isn't made with a signature of another user than the one whose key it was added with")
    func signature() async throws {
        let user = Locked("ann")
        let plugin = RequestSigningPlugin(fields: ["Authorization"], owner: { _ in user.withLock(\.self) }) { _, _ in
            ["Authorization": "Key \(user.withLock(\.self))"]
        }
        let queue = try queue(plugin)
        let id = try await queue.add(Order(1))
        user.withLock { $0 = "bob" }
        goOnline()
        #expect(try await end(queue, id) == "failed")
        #expect(server.users.elements == [])
        user.withLock { $0 = "ann" }
        queue.resume(id)
        #expect(try await end(queue, id) == "finished")
        #expect(server.users.elements == ["Key ann"])
    }
}
