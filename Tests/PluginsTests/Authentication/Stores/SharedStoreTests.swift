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

/// Two plugins that stand for two processes with one store, such as an app and its extension.
@Suite("Authentication: one store, two processes", .throttled, .timeLimit(.minutes(2)))
struct SharedStoreTests {
    /// A server that accepts each refresh token once, and only the newest access token.
    private final class RotatingServer: Sendable {
        private struct State: Sendable {
            var newest = 1
            var isExpired = false
        }

        private let state = Locked(State())
        let refreshes = Tally()

        func expire() { state.withLock { $0.isExpired = true } }

        func renew(_ token: Token) throws -> Token {
            try state.withLock { state in
                guard token.number == state.newest else {
                    throw OAuthError.refused(code: "invalid_grant", message: nil, statusCode: 400)
                }
                refreshes.add()
                state = State(newest: token.number + 1)
                return Token(state.newest)
            }
        }

        func answer(_ request: TransportRequest) -> SampleResponse {
            let field = request.urlRequest.value(forHTTPHeaderField: "Authorization")
            let isGood = state.withLock { field == Token($0.newest).field && !$0.isExpired }
            return .response(status: isGood ? 200 : 401, data: Data("{}".utf8))
        }
    }

    private let signOuts = SignOuts()
    private let server = RotatingServer()
    private let store = MemoryCredentialStore(Token(1))

    private func process(
        _ renew: (@Sendable (Token) async throws -> Token)? = nil
    ) -> (plugin: AuthenticationPlugin<TokenAuthenticator>, provider: Provider<PluginTarget>) {
        let plugin = signOuts.plugin(
            TokenAuthenticator(renew: renew ?? { [server] in try server.renew($0) }),
            store,
            limit: RefreshLimit(100)
        )
        let provider = Provider<PluginTarget>(
            transport: StubTransport { [server] in server.answer($0) },
            plugins: [plugin]
        )
        return (plugin, provider)
    }

    @Test("A credential that another process has refreshed is used instead of another refresh")
    func adoptsBeforeRefreshing() async throws {
        let (app, extensionProcess) = (process(), process())
        #expect(try await app.provider.request(PluginTarget()).statusCode == 200)
        #expect(try await extensionProcess.provider.request(PluginTarget()).statusCode == 200)
        #expect(server.refreshes.value == 0)
        for round in 1...3 {
            server.expire()
            #expect(try await app.provider.request(PluginTarget()).statusCode == 200)
            #expect(try await extensionProcess.provider.request(PluginTarget()).statusCode == 200)
            #expect(server.refreshes.value == round)
        }
        #expect(signOuts.count == 0)
        #expect(try await app.plugin.credential == extensionProcess.plugin.credential)
    }

    @Test("A refresh that is refused because another process was first adopts that process's credential")
    func adoptsBeforeClearing() async throws {
        let app = process()
        let (late, gate) = (Expectation(), Gate())
        let extensionProcess = process { [server] token in
            late.fulfill()
            await gate.wait()
            return try server.renew(token)
        }
        #expect(try await app.provider.request(PluginTarget()).statusCode == 200)
        #expect(try await extensionProcess.provider.request(PluginTarget()).statusCode == 200)
        server.expire()
        let call = Task { try await extensionProcess.provider.request(PluginTarget()).statusCode }
        await late.wait()
        #expect(try await app.provider.request(PluginTarget()).statusCode == 200)
        gate.open()
        #expect(try await call.value == 200)
        #expect(signOuts.count == 0)
        #expect(store.load() == Token(2))
    }
}
