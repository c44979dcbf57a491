// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTransfers
import TargetKitTesting
import TestSupport
import Testing

/// To which server a queue makes a transfer.
@Suite("A queue of transfers: environments", .throttled, .timeLimit(.minutes(2)))
struct TransferEnvironmentTests {
    private let environments = EnvironmentStore.testAndLive()
    private let network = ManualConnectivity(.offline)
    private let sent = Recorder<String>()
    private let users = Recorder<String?>()

    private func queue(storedIn file: URL, plugins: [any Plugin] = []) throws -> TransferQueue<MovingTarget> {
        let transport = StubTransport { [sent, users] request in
            sent.append(request.urlRequest.url?.absoluteString ?? "")
            users.append(request.urlRequest.value(forHTTPHeaderField: "Authorization"))
            return .response(status: 200, data: Data())
        }
        return try TransferQueue(
            Provider(transport: transport, plugins: plugins),
            storedIn: file,
            reachability: Reachability(network)
        )
    }

    @Test("A transfer goes to the environment for which it was added, also after a relaunch", arguments: [false, true])
    func added(isRelaunched: Bool) async throws {
        let folder = try TemporaryFolder()
        let (file, copy) = (folder.url.appendingPathComponent("a.queue"), folder.url.appendingPathComponent("b.queue"))
        let first = try queue(storedIn: file)
        let id = try await first.add(MovingTarget(of: environments, isPost: true))
        try environments.select("live")
        try FileManager.default.copyItem(at: file, to: copy)
        let queue = try isRelaunched ? self.queue(storedIn: copy) : first
        if isRelaunched { first.pauseAll() }
        network.set(.online(.wifi, isExpensive: false))
        _ = try await queue.response(of: id)
        #expect(sent.elements == ["https://test.example/v1/orders"])
        let next = try await queue.add(MovingTarget(of: environments))
        _ = try await queue.response(of: next)
        #expect(sent.elements.last == "https://live.example/v2/orders")
    }

    @Test("A transfer isn't made with a token of another environment's session", arguments: [true, false])
    func otherSession(wasSignedIn: Bool) async throws {
        let folder = try TemporaryFolder()
        let plugin = SignOuts().plugin(TokenAuthenticator(), holding: nil)
        let queue = try queue(storedIn: folder.url.appendingPathComponent("a.queue"), plugins: [plugin])
        if wasSignedIn { try await plugin.signIn(Token(1)) }
        let id = try await queue.add(MovingTarget(of: environments))
        try environments.select("live")
        try await plugin.signIn(Token(50))
        network.set(.online(.wifi, isExpensive: false))
        let error = await #expect(throws: TargetKitError.self) { try await queue.response(of: id) }
        #expect(error?.kind == .unauthorized)
        #expect(sent.elements == [])
    }

    /// Expects that a transfer fails because of its credential, and that nothing is sent.
    private func expectRefusal(_ queue: TransferQueue<MovingTarget>, _ id: UUID) async {
        let error = await #expect(throws: TargetKitError.self) { try await queue.response(of: id) }
        #expect(error?.kind == .unauthorized)
        #expect(sent.elements == [])
    }

    @Test(
        "A transfer isn't made with another environment's session after its own environment is selected again",
        arguments: [false, true],
        [false, true]
    )
    func selectedAgain(wasSignedIn: Bool, isOnline: Bool) async throws {
        let folder = try TemporaryFolder()
        let plugin = SignOuts().plugin(TokenAuthenticator(namesUsers: true), holding: nil)
        let queue = try queue(storedIn: folder.url.appendingPathComponent("a.queue"), plugins: [plugin])
        if wasSignedIn { try await plugin.signIn(Token(1)) }
        let id = try await queue.add(MovingTarget(of: environments))
        try environments.select("live")
        try await plugin.signIn(Token(50))
        if isOnline {
            network.set(.online(.wifi, isExpensive: false))
            await expectRefusal(queue, id)
        }
        try environments.select("test")
        network.set(.online(.wifi, isExpensive: false))
        if isOnline { queue.resume(id) }
        await expectRefusal(queue, id)
        try await plugin.signIn(Token(2))
        queue.resume(id)
        _ = try await queue.response(of: id)
        #expect(users.elements == ["Bearer token-2"])
    }

    @Test("After a relaunch, a transfer isn't made with the same user's session in another environment")
    func sameUser() async throws {
        let folder = try TemporaryFolder()
        let (file, copy) = (folder.url.appendingPathComponent("a.queue"), folder.url.appendingPathComponent("b.queue"))
        let store = MemoryCredentialStore<Token>()
        let plugin = SignOuts().plugin(TokenAuthenticator(namesUsers: true), store)
        try await plugin.signIn(Token(1))
        let first = try queue(storedIn: file, plugins: [plugin])
        let id = try await first.add(MovingTarget(of: environments))
        try environments.select("live")
        try await plugin.signIn(Token(50))
        try FileManager.default.copyItem(at: file, to: copy)
        first.pauseAll()
        let next = SignOuts().plugin(TokenAuthenticator(namesUsers: true), store)
        let queue = try queue(storedIn: copy, plugins: [next])
        network.set(.online(.wifi, isExpensive: false))
        await expectRefusal(queue, id)
        try environments.select("test")
        queue.resume(id)
        await expectRefusal(queue, id)
    }
}
