// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Many concurrent calls to a server whose tokens expire at random.
@Suite("Authentication: races", .throttled, .timeLimit(.minutes(2)))
struct AuthenticationRaceTests {
    /// A server whose tokens expire after a random number of calls, and which accepts each refresh token once.
    private final class RotatingServer: Sendable {
        private struct State: Sendable {
            var random: SeededGenerator
            var current = 1
            var usesLeft: Int
            var expiries = 0
            var refreshes = 0
            var reused = 0
            /// Whether the current token has expired.
            var isExpired = false
        }

        private let state: Locked<State>

        init(seed: UInt64) {
            state = Locked(State(random: SeededGenerator(seed: seed), usesLeft: 5))
        }

        var counts: [Int] { state.withLock { [$0.refreshes, $0.reused] } }
        var expiries: Int { state.withLock { $0.expiries } }

        func hops() -> Int {
            state.withLock { Int.random(in: 0...12, using: &$0.random) }
        }

        func renew(_ token: Token) async throws -> Token {
            for _ in 0..<hops() { await Task.yield() }
            return try state.withLock { state in
                guard token.number == state.current else {
                    state.reused += 1
                    throw OAuthError.refused(code: "invalid_grant", message: nil, statusCode: 400)
                }
                state.refreshes += 1
                state.current += 1
                state.isExpired = false
                // At least as many uses as there are calls, so that each of them can succeed with this token.
                state.usesLeft = Int.random(in: 200...260, using: &state.random)
                return Token(state.current)
            }
        }

        func answer(_ request: URLRequest) async -> SampleResponse {
            for _ in 0..<hops() { await Task.yield() }
            let field = request.value(forHTTPHeaderField: "Authorization")
            let isGood = state.withLock { state in
                guard field == Token(state.current).field, !state.isExpired else { return false }
                state.usesLeft -= 1
                if state.usesLeft < 0 {
                    state.isExpired = true
                    state.expiries += 1
                }
                return !state.isExpired
            }
            // Many responses arrive after the next refresh.
            for _ in 0..<hops() { await Task.yield() }
            return .response(status: isGood ? 200 : 401, data: Data("{}".utf8))
        }
    }

    @Test("There is one refresh for each expiry, and every call succeeds", arguments: 0..<24)
    func expiries(_ seed: UInt64) async throws {
        let server = RotatingServer(seed: seed)
        let signOuts = SignOuts()
        let store = MemoryCredentialStore(Token(1))
        let plugin = signOuts.plugin(
            TokenAuthenticator(renew: { try await server.renew($0) }),
            store,
            limit: RefreshLimit(1000)
        )
        let provider = Provider<PluginTarget>(
            transport: StubTransport { await server.answer($0.urlRequest) },
            plugins: [plugin]
        )
        let ends = Recorder<RecordingPlugin.Outcome>()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    for _ in 0..<25 { ends.append(.init(await provider.result(PluginTarget()))) }
                }
            }
        }
        #expect(ends.elements == Array(repeating: .status(200), count: 500))
        #expect(server.expiries >= 2)
        #expect(server.counts == [server.expiries, 0])
        #expect(store.load() == Token(server.expiries + 1))
        #expect(signOuts.count == 0)
    }

    @Test("Calls that are cancelled at any time end once, and the others succeed", arguments: 100..<116)
    func cancelling(_ seed: UInt64) async throws {
        let server = RotatingServer(seed: seed)
        let signOuts = SignOuts()
        let plugin = signOuts.plugin(
            TokenAuthenticator(renew: { try await server.renew($0) }),
            limit: RefreshLimit(1000)
        )
        let provider = Provider<PluginTarget>(
            transport: StubTransport { await server.answer($0.urlRequest) },
            plugins: [plugin]
        )
        var random = SeededGenerator(seed: seed)
        let ends = Recorder<(Int, RecordingPlugin.Outcome)>()
        var cancelled: Set<Int> = []
        for number in 0..<300 {
            let handle = provider.request(PluginTarget(), on: .global()) { ends.append((number, .init($0))) }
            guard Int.random(in: 0..<3, using: &random) == 0 else { continue }
            cancelled.insert(number)
            for _ in 0..<Int.random(in: 0...20, using: &random) { await Task.yield() }
            handle.cancel()
        }
        let all = await ends.waitForCount(300)
        #expect(Set(all.map(\.0)).count == 300)
        for (number, outcome) in all {
            #expect(outcome == .status(200) || (cancelled.contains(number) && outcome == .failure(.cancelled)))
        }
        // The last response with status 401 may be that of a cancelled call, which refreshes nothing.
        #expect(try await provider.request(PluginTarget()).statusCode == 200)
        #expect(server.counts == [server.expiries, 0])
        #expect(provider.scope.inFlightCount == 0)
    }

    @Test("Calls keep their session while users sign in and out", arguments: 200..<216)
    func sessions(_ seed: UInt64) async throws {
        let (signOuts, calls) = (SignOuts(), Tally())
        let store = MemoryCredentialStore<Token>()
        // The first digit of a token's number is that of its user.
        let usersOfCall = Locked<[String: Set<Character>]>([:])
        let authenticator = TokenAuthenticator(renew: { token in
            for _ in 0..<(token.number % 7) { await Task.yield() }
            return Token(token.number + 1)
        })
        let plugin = signOuts.plugin(authenticator, store, limit: RefreshLimit(1000))
        let transport = StubTransport { request in
            calls.add()
            let call = request.urlRequest.value(forHTTPHeaderField: "X-Call") ?? ""
            let field = request.urlRequest.value(forHTTPHeaderField: "Authorization") ?? "Bearer token-guest"
            usersOfCall.withLock {
                _ = $0[call, default: []].insert(field.dropFirst("Bearer token-".count).first ?? "?")
            }
            await Task.yield()
            return .response(status: calls.value % 2 == 0 ? 401 : 200, data: Data())
        }
        let provider = Provider<PluginTarget>(transport: transport, plugins: [plugin])
        var random = SeededGenerator(seed: seed)
        var running: [Task<Void, Never>] = []
        for user in 1...9 {
            try await plugin.signIn(Token(user * 100_000))
            for call in 0..<6 {
                let target = PluginTarget(headers: ["X-Call": "\(user).\(call)"])
                running.append(Task { _ = await provider.result(target) })
            }
            for _ in 0..<Int.random(in: 0...30, using: &random) { await Task.yield() }
            if user % 3 == 0 { try await plugin.signOut() }
        }
        for task in running { await task.value }
        for (call, users) in usersOfCall.withLock({ $0 }) { #expect(users.count == 1, "\(call)") }
        // The last user has signed out.
        #expect(try await plugin.credential == nil)
        #expect(store.load() == nil)
        #expect(signOuts.count == 0)
    }
}
