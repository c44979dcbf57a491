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

@Suite("Authentication beside Unauthorized", .throttled, .timeLimit(.minutes(2)))
struct AuthenticationUnauthorizedTests {
    /// Which of the two plugins comes first.
    enum Order: String, CaseIterable, Sendable {
        case authenticationFirst, unauthorizedFirst
    }

    private let refreshesThatFailed = SignOuts()
    private let signedOut = Recorder<RequestContext>()

    private func provider(
        _ transport: any Transport,
        _ order: Order = .authenticationFirst,
        _ authenticator: TokenAuthenticator
    ) -> Provider<PluginTarget> {
        let authentication = refreshesThatFailed.plugin(authenticator)
        let unauthorized = UnauthorizedPlugin(after: authentication) { [signedOut] in signedOut.append($0) }
        let plugins: [any Plugin] = [authentication, unauthorized]
        return Provider(transport: transport, plugins: order == .authenticationFirst ? plugins : plugins.reversed())
    }

    @Test("A refresh that succeeds does not sign out", arguments: Order.allCases)
    func success(_ order: Order) async throws {
        let server = TokenServer()
        let provider = provider(server.transport, order, server.authenticator)
        #expect(try await provider.request(PluginTarget()).statusCode == 200)
        #expect(signedOut.count == 0)
    }

    /// Sends the call's request, and then one to a server that the first one names.
    private struct TwoServers: TransferDriver {
        func response(to request: URLRequest, over exchanges: CallExchanges) async throws -> Response {
            _ = try await exchanges.send(request)
            return try await exchanges.send(URLRequest(url: .storage), body: .none)
        }
    }

    @Test(
        "A 401 of another server, to which a driver sends, neither refreshes nor signs out",
        arguments: Order.allCases
    )
    func otherServer(_ order: Order) async throws {
        let sent = Recorder<String>()
        let transport = StubTransport { request in
            sent.append(
                "\(request.urlRequest.url?.host() ?? "") \(request.urlRequest.value(forHTTPHeaderField: "Authorization") ?? "-")"
            )
            return request.urlRequest.url == .storage ? .status(401) : .status(200)
        }
        let provider = provider(transport, order, TokenAuthenticator(renew: { _ in throw Boom() }))
        let target = PluginTarget(task: .plain.driver(TwoServers()), validation: .successCodes)
        let failure = await provider.result(target).failure
        #expect(failure?.rejectedStatusCode == 401)
        #expect(sent.elements == ["shop.example \(Token(1).field)", "storage.example -"])
        #expect(signedOut.count == 0)
    }

    @Test(
        "A permanent failure of a refresh signs out once, before or after the call was sent",
        arguments: Order.allCases,
        [true, false]
    )
    func failure(_ order: Order, _ isEarly: Bool) async throws {
        let (server, gate) = (TokenServer(), Gate())
        let authenticator = TokenAuthenticator(
            renew: { _ in
                await gate.wait()
                throw Boom()
            },
            isDue: { _ in isEarly }
        )
        let provider = provider(server.transport, order, authenticator)
        let calls = (0..<10).map { _ in Task { await provider.result(PluginTarget()) } }
        await gate.waitForArrivals()
        gate.open()
        for call in calls {
            let error = try #require(await call.value.failure)
            // The first one to end cancels those that have not.
            #expect(error.underlying is Boom || error.stage == .cancelled)
        }
        #expect(signedOut.count == 1)
        #expect(refreshesThatFailed.count == 1)
        // Later calls fail by the same refresh, and sign out no more.
        #expect(await provider.result(PluginTarget()).failure?.underlying is Boom)
        #expect(signedOut.count == 1)
    }

    @Test("A transient failure of a refresh does not sign out", arguments: Order.allCases)
    func passing(_ order: Order) async throws {
        let server = TokenServer()
        let authenticator = TokenAuthenticator(renew: { _ in throw URLError(.notConnectedToInternet) })
        let provider = provider(server.transport, order, authenticator)
        #expect(await provider.result(PluginTarget()).failure?.kind == .offline)
        #expect(signedOut.count == 0)
    }

    @Test("A call that is rejected with a new credential does not sign out", arguments: Order.allCases)
    func givenUp(_ order: Order) async throws {
        let server = TokenServer(good: -1)
        let provider = provider(server.transport, order, TokenAuthenticator())
        #expect(try await provider.request(PluginTarget()).statusCode == 401)
        #expect(signedOut.count == 0)
    }

    @Test("Without `after`, a call that is rejected with a new credential signs out", arguments: Order.allCases)
    func apart(_ order: Order) async throws {
        let server = TokenServer(good: -1)
        let authentication = refreshesThatFailed.plugin(TokenAuthenticator())
        let unauthorized = UnauthorizedPlugin { [signedOut] in signedOut.append($0) }
        let plugins: [any Plugin] = [authentication, unauthorized]
        let provider = Provider<PluginTarget>(
            transport: server.transport,
            plugins: order == .authenticationFirst ? plugins : plugins.reversed()
        )
        #expect(try await provider.request(PluginTarget()).statusCode == 401)
        #expect(signedOut.elements.map(\.attempt) == [1])
    }

    @Test("Calls with another credential count, unless they opt out", arguments: [true, false])
    func others(_ endsSession: Bool) async throws {
        let server = TokenServer()
        let provider = provider(server.transport, .authenticationFirst, server.authenticator)
        let target = PluginTarget(
            headers: ["Authorization": "Bearer own"],
            authorization: .none,
            endsSessionOnUnauthorized: endsSession
        )
        #expect(try await provider.request(target).statusCode == 401)
        #expect(signedOut.count == (endsSession ? 1 : 0))
    }

    @Test(
        "A code in the body of a 200 leads to a refresh, and signs out when that fails",
        arguments: [true, false]
    )
    func bodyCode(_ succeeds: Bool) async throws {
        let code = BodyCode(keyPath: "status", equals: 401)
        let authenticator = OAuthAuthenticator(bodyCodes: [code]) { _ in
            guard succeeds else { throw Boom() }
            return OAuthCredential(accessToken: "new")
        }
        let authentication = AuthenticationPlugin(
            authenticator: authenticator,
            store: MemoryCredentialStore(OAuthCredential(accessToken: "old"))
        ) { _ in
        }
        let unauthorized = UnauthorizedPlugin(after: authentication) { [signedOut] in signedOut.append($0) }
        let provider = Provider<PluginTarget>(
            transport: StubTransport { request in
                let isNew = request.urlRequest.value(forHTTPHeaderField: "Authorization") == "Bearer new"
                return .response(status: 200, data: Data((isNew ? "{}" : #"{"status":401}"#).utf8))
            },
            plugins: [authentication, unauthorized]
        )
        let result = await provider.result(PluginTarget())
        #expect(RecordingPlugin.Outcome(result) == (succeeds ? .status(200) : .failure(.envelope)))
        #expect(result.failure?.kind == (succeeds ? nil : .unauthorized))
        let reason = result.failure?.text(.failureReason, in: .english)
        #expect(reason == (succeeds ? nil : "The server did not accept the sign-in information."))
        #expect((result.failure?.underlying is Boom) != succeeds)
        #expect(signedOut.count == (succeeds ? 0 : 1))
    }

    @Test("A status that only the authenticator knows leads to a refresh, and signs out when that fails")
    func statusOfAuthenticator() async throws {
        let authentication = AuthenticationPlugin(
            authenticator: ExpiryAuthenticator(status: 419),
            store: MemoryCredentialStore("key")
        ) { _ in
        }
        let unauthorized = UnauthorizedPlugin(after: authentication) { [signedOut] in signedOut.append($0) }
        let provider = Provider<PluginTarget>(
            transport: StubTransport(.status(419)),
            plugins: [authentication, unauthorized]
        )
        let error = try #require(await provider.result(PluginTarget()).failure)
        #expect(error.stage == .status)
        #expect(error.response?.statusCode == 419)
        #expect(error.kind == .unauthorized)
        #expect(signedOut.count == 1)
    }

    @Test("Each session that ends signs out once, without a reset", arguments: Order.allCases)
    func eachSession(_ order: Order) async throws {
        let server = TokenServer(good: -1)
        let authentication = refreshesThatFailed.plugin(TokenAuthenticator(renew: { _ in throw Boom() }))
        let unauthorized = UnauthorizedPlugin(after: authentication) { [signedOut] in
            signedOut.append($0)
            _ = try? await authentication.signOut()
        }
        let plugins: [any Plugin] = [authentication, unauthorized]
        let provider = Provider<PluginTarget>(
            transport: server.transport,
            plugins: order == .authenticationFirst ? plugins : plugins.reversed()
        )
        for session in 1...3 {
            try await authentication.signIn(Token(session * 10))
            for _ in 0..<2 { _ = await provider.result(PluginTarget()) }
            #expect(signedOut.count == session)
        }
        // A guest has no session.
        let own = PluginTarget(headers: ["Authorization": "Bearer own"], authorization: .none)
        _ = await provider.result(own)
        #expect(signedOut.count == 3)
    }

    @Test("A late rejection of a call of the session before does not end the next one")
    func lateRejection() async throws {
        let held = HeldTransport(.status(401))
        let authentication = refreshesThatFailed.plugin(TokenAuthenticator())
        let unauthorized = UnauthorizedPlugin(after: authentication) { [signedOut] in signedOut.append($0) }
        let provider = Provider<PluginTarget>(transport: held.transport, plugins: [authentication, unauthorized])
        let own = PluginTarget(headers: ["Authorization": "Bearer own"], authorization: .none)
        let call = Task { await provider.result(own) }
        await held.requests.waitForCount(1)
        try await authentication.signIn(Token(2))
        held.gate.open()
        _ = await call.value
        #expect(signedOut.count == 0)
    }
}

/// An authenticator of a server that reports an expired session with its own status, and refreshes no key.
private struct ExpiryAuthenticator: Authenticator {
    var status: Int

    func apply(_ key: String, to request: inout URLRequest) {
        request.setValue(key, forHTTPHeaderField: "Authorization")
    }

    func refresh(_ key: String) async throws -> String { throw Boom() }

    func wasRejected(_ response: Response) -> Bool { response.statusCode == status }
}

extension URL {
    fileprivate static let storage = URL(string: "https://storage.example/7") ?? .shop
}
