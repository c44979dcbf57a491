// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitOffline
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// With whose credential an outbox makes the first attempt of a call.
@Suite("An outbox: first attempts", .throttled, .timeLimit(.minutes(2)))
struct OutboxFirstAttemptTests {
    private let server = NoteServer()
    private let clock = ManualClock()
    private let connectivity = ManualConnectivity(.online(.wifi, isExpensive: false))
    private let signOuts = SignOuts()

    private func outbox(_ plugins: any Plugin..., account: String? = nil) throws -> OfflineOutbox<Note> {
        try OfflineOutbox(
            Provider(transport: server, plugins: plugins),
            account: account,
            reachability: Reachability(connectivity),
            clock: clock
        )
    }

    /// The credentials with which the first note was sent.
    private var users: [String?] { server.sent.elements.filter { $0.number == 1 }.map(\.user) }

    /// Runs an action in the first `prepare`, before the credential is applied.
    private struct Meanwhile: Plugin {
        let action: @Sendable () async throws -> Void
        private let isDone = Locked(false)

        init(action: @escaping @Sendable () async throws -> Void) {
            self.action = action
        }

        var hooks: PluginHooks { .prepare }

        func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
            let isFirst = isDone.withLock { isDone in
                defer { isDone = true }
                return !isDone
            }
            if isFirst { try await action() }
            return request
        }
    }

    /// Fails the first exchange before the transport.
    private struct Unconnected: Plugin {
        private let isDone = Locked(false)

        var place: PluginPlace { .observation }
        var hooks: PluginHooks { .exchange }

        func exchange(
            _ request: TransportRequest,
            context: RequestContext,
            next: Exchange
        ) async throws -> TransportResponse {
            let isFirst = isDone.withLock { isDone in
                defer { isDone = true }
                return !isDone
            }
            if isFirst { throw URLError(.cannotConnectToHost) }
            return try await next(request)
        }
    }

    @Test("A first attempt isn't made for a user who signs in meanwhile", arguments: ["ann", nil])
    func firstAttempt(account: String?) async throws {
        let plugin = signOuts.plugin(TokenAuthenticator(), holding: nil)
        try await plugin.signIn(Token(1))
        let outbox = try outbox(Meanwhile { try await plugin.signIn(Token(101)) }, plugin, account: account)
        let error = await #expect(throws: TargetKitError.self) { try await outbox.send(Note(1)) }
        #expect(error?.kind == .unauthorized)
        try await outbox.passDelays(of: clock)
        #expect(server.sent.count == 0)
    }

    @Test("A first attempt that fails unsent leaves the call to its user", arguments: ["ann", nil])
    func failedAttempt(account: String?) async throws {
        let plugin = signOuts.plugin(TokenAuthenticator(), holding: nil)
        try await plugin.signIn(Token(1))
        let outbox = try outbox(
            Meanwhile { try await plugin.signIn(Token(101)) },
            Unconnected(),
            plugin,
            account: account
        )
        #expect(try await outbox.send(Note(1)).id != nil)
        try await outbox.passDelays(of: clock)
        #expect(server.sent.count == 0)
        #expect(outbox.shown.count == 1)
    }

    @Test("A call whose first attempt was made for a guest, and may have been processed, is repeated after a sign-in")
    func guest() async throws {
        let plugin = signOuts.plugin(TokenAuthenticator(), holding: nil)
        let outbox = try outbox(plugin)
        server.answer(1, .failure(.networkConnectionLost), .status(200))
        #expect(try await outbox.send(Note(1)).id != nil)
        try await plugin.signIn(Token(1))
        try await outbox.shows([], moving: clock)
        #expect(users == [nil, "Bearer token-1"])
    }
}
