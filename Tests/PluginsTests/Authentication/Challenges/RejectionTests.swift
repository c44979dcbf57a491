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

/// Which rejections lead to a refresh, and which refreshes count towards the limit.
@Suite("Authentication: rejections", .throttled, .timeLimit(.minutes(2)))
struct RejectionTests {
    private let signOuts = SignOuts()

    @Test(
        "A 401 leads to a refresh if its challenge is about the token, or if there is none",
        arguments: [
            (nil, true), ("", true), (#"Bearer realm="shop", error="invalid_token""#, true),
            ("Bearer", true), (#"Bearer realm="shop""#, true), (#"bearer error=invalid_token"#, true),
            (#"Basic realm="x", Bearer error="invalid_token""#, true),
            (#"Bearer error="token_expired""#, true), (#"Bearer error="insufficient_scope", scope="admin""#, false),
            (#"Bearer realm="a, Basic b", error="invalid_request""#, false),
            (#"Basic realm="proxy""#, false),
            (#"Digest realm="x", nonce="y", Basic realm="error=invalid_token""#, false),
        ] as [(String?, Bool)]
    )
    func challenges(_ challenge: String?, _ refreshes: Bool) async throws {
        let refreshed = Tally()
        let authenticator = OAuthAuthenticator { _ in
            refreshed.add()
            return OAuthCredential(accessToken: "new")
        }
        let plugin = AuthenticationPlugin(
            authenticator: authenticator,
            store: MemoryCredentialStore(OAuthCredential(accessToken: "old"))
        ) { _ in
        }
        let provider = Provider<PluginTarget>(
            transport: StubTransport { request in
                let isNew = request.urlRequest.value(forHTTPHeaderField: "Authorization") == "Bearer new"
                var headers: HTTPHeaders = [:]
                headers["WWW-Authenticate"] = challenge
                return .response(status: isNew ? 200 : 401, headers: headers, data: Data())
            },
            plugins: [plugin]
        )
        #expect(try await provider.request(PluginTarget()).statusCode == (refreshes ? 200 : 401))
        #expect(refreshed.value == (refreshes ? 1 : 0))
    }

    /// A server with an endpoint that always answers 401, and others that accept the newest token.
    private func server(_ tokens: TokenServer) -> StubTransport {
        StubTransport { request in
            let answer = tokens.answer(request.urlRequest)
            return request.urlRequest.url?.lastPathComponent == "broken" ? .status(401) : answer
        }
    }

    @Test("An endpoint that rejects every token does not use up the refreshes of the others")
    func brokenEndpoint() async throws {
        let (tokens, clock) = (TokenServer(good: 1), ManualClock())
        let plugin = signOuts.plugin(tokens.authenticator, limit: RefreshLimit(2), clock: clock)
        let provider = Provider<PluginTarget>(transport: server(tokens), plugins: [plugin])
        let broken = PluginTarget(path: "/broken")
        for _ in 0..<10 {
            #expect(try await provider.request(broken).statusCode == 401)
            #expect(try await provider.request(PluginTarget()).statusCode == 200)
        }
        tokens.expire()
        #expect(try await provider.request(PluginTarget()).statusCode == 200)
        #expect(tokens.refreshes.count <= 3)
        #expect(signOuts.count == 0)
    }

    @Test("Refreshes whose tokens are accepted do not count towards the limit")
    func acceptedTokens() async throws {
        let (tokens, clock) = (TokenServer(good: 1), ManualClock())
        let plugin = signOuts.plugin(tokens.authenticator, limit: RefreshLimit(2), clock: clock)
        let provider = Provider<PluginTarget>(transport: server(tokens), plugins: [plugin])
        for _ in 0..<10 {
            #expect(try await provider.request(PluginTarget()).statusCode == 200)
            tokens.expire()
        }
        #expect(tokens.refreshes.count == 9)
    }
}
