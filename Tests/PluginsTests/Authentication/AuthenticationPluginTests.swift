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

@Suite("Authentication", .throttled, .timeLimit(.minutes(2)))
struct AuthenticationPluginTests {
    private let signOuts = SignOuts()

    @Test(
        "Calls of the schemes automatic and bearer carry the credential",
        arguments: [
            (.automatic, ["Bearer token-1"]), (.bearer, ["Bearer token-1"]), (.none, []), (.basic, []),
            (.custom("Token"), []),
        ] as [(AuthorizationScheme, [String])]
    )
    func schemes(_ scheme: AuthorizationScheme, _ expected: [String]) async throws {
        let plugin = signOuts.plugin(TokenAuthenticator())
        #expect(try await sentAuthorization(PluginTarget(authorization: scheme), plugin) == expected)
        #expect(try await sentAuthorization(PlainTarget.thing(secret: ""), plugin) == ["Bearer token-1"])
    }

    @Test("Provider, target and call set the scheme, each overriding the one before")
    func levels() async throws {
        let provider = Provider<MultiTarget>(
            stubClosure: { _ in .immediate },
            plugins: [signOuts.plugin(TokenAuthenticator())],
            options: .setting(\.authorization, .none)
        )
        let field = { (target: MultiTarget, options: CallOptions) in
            try await provider.request(target, options: options).request?.value(forHTTPHeaderField: "Authorization")
        }
        let plain = MultiTarget(PlainTarget.thing(secret: ""))
        #expect(try await field(plain, .init()) == nil)
        #expect(try await field(plain, .setting(\.authorization, .bearer)) == "Bearer token-1")
        let bearer = MultiTarget(PluginTarget(authorization: .bearer))
        #expect(try await field(bearer, .init()) == "Bearer token-1")
        #expect(try await field(bearer, .setting(\.authorization, .none)) == nil)
    }

    @Test("Two plugins of one type keep their calls apart", arguments: [true, false])
    func twoPlugins(_ isReversed: Bool) async throws {
        let (one, two) = (TokenServer(), TokenServer(good: 6))
        let first = AuthenticationPlugin(
            authenticator: one.authenticator,
            store: MemoryCredentialStore(Token(1)),
            authorizes: { $0 is PluginTarget }
        ) { _ in
        }
        let second = AuthenticationPlugin(
            authenticator: two.authenticator,
            store: MemoryCredentialStore(Token(5)),
            authorizes: { $0 is PlainTarget }
        ) { _ in
        }
        let plugins: [any Plugin] = [first, second]
        let provider = Provider<MultiTarget>(
            transport: StubTransport { request in
                let isPlain = request.urlRequest.value(forHTTPHeaderField: "X-Plain") != nil
                return (isPlain ? two : one).answer(request.urlRequest)
            },
            plugins: isReversed ? plugins.reversed() : plugins
        )
        let plain = CallOptions.setting(\.headers, ["X-Plain": "1"])
        #expect(try await provider.request(MultiTarget(PluginTarget())).statusCode == 200)
        #expect(
            try await provider.request(MultiTarget(PlainTarget.thing(secret: "")), options: plain).statusCode == 200
        )
        #expect(one.fields.elements == ["Bearer token-1", "Bearer token-2"])
        #expect(two.fields.elements == ["Bearer token-5", "Bearer token-6"])
    }

    @Test("The closure restricts the targets that carry it")
    func authorizes() async throws {
        let plugin = AuthenticationPlugin(
            authenticator: TokenAuthenticator(),
            store: MemoryCredentialStore(Token(7)),
            authorizes: { $0 is PlainTarget }
        ) { _ in
        }
        #expect(try await sentAuthorization(PlainTarget.thing(secret: ""), plugin) == ["Bearer token-7"])
        #expect(try await sentAuthorization(PluginTarget(), plugin) == [])
    }

    @Test("Without a credential calls are sent unchanged, and a 401 leads to no refresh")
    func guest() async throws {
        let server = TokenServer()
        let plugin = signOuts.plugin(server.authenticator, holding: nil)
        let provider = Provider<PluginTarget>(transport: server.transport, plugins: [plugin])
        #expect(try await provider.request(PluginTarget()).statusCode == 401)
        #expect(server.fields.elements == [nil])
        #expect(server.refreshes == [])
        #expect(signOuts.count == 0)
    }

    @Test(
        "A rejected call is retried with a new credential",
        arguments: [StatusValidation.none, .successCodes]
    )
    func refreshes(_ validation: StatusValidation) async throws {
        let server = TokenServer()
        let provider = Provider<PluginTarget>(
            transport: server.transport,
            plugins: [signOuts.plugin(server.authenticator)]
        )
        #expect(try await provider.request(PluginTarget(validation: validation)).statusCode == 200)
        #expect(try await provider.request(PluginTarget(validation: validation)).statusCode == 200)
        #expect(server.fields.elements == ["Bearer token-1", "Bearer token-2", "Bearer token-2"])
        #expect(server.refreshes == [1])
    }

    @Test("A credential that is due is refreshed before the call is sent")
    func refreshesBefore() async throws {
        let server = TokenServer()
        var authenticator = server.authenticator
        authenticator.isDue = { $0.number == 1 }
        let provider = Provider<PluginTarget>(transport: server.transport, plugins: [signOuts.plugin(authenticator)])
        #expect(try await provider.request(PluginTarget()).statusCode == 200)
        #expect(server.fields.elements == ["Bearer token-2"])
        #expect(server.refreshes == [1])
    }

    @Test("With a clock by which each new credential has expired, one is refreshed once, and then when it is rejected")
    func wrongClock() async throws {
        let server = TokenServer()
        var authenticator = server.authenticator
        authenticator.isDue = { _ in true }
        let provider = Provider<PluginTarget>(transport: server.transport, plugins: [signOuts.plugin(authenticator)])
        for _ in 0..<20 { #expect(try await provider.request(PluginTarget()).statusCode == 200) }
        #expect(server.refreshes == [1])
        server.expire()
        for _ in 0..<20 { #expect(try await provider.request(PluginTarget()).statusCode == 200) }
        #expect(server.refreshes == [1, 2])
        #expect(signOuts.count == 0)
    }

    @Test("A hundred rejected calls make one refresh, and all succeed", arguments: Backend.allCases)
    func singleFlight(_ backend: Backend) async throws {
        let server = TokenServer()
        let running = try RunningBackend(backend) { received in
            var request = URLRequest(url: .shop)
            request.setValue(received.headers[.authorization], forHTTPHeaderField: "Authorization")
            return server.answer(request)
        }
        let plugin = signOuts.plugin(server.authenticator)
        let one = Provider<PluginTarget>(transport: running.transport, plugins: [plugin])
        let two = Provider<MultiTarget>(transport: running.transport, plugins: [plugin])
        let target = PluginTarget(baseURL: running.baseURL)
        let statuses = await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<50 {
                group.addTask { try? await one.request(target).statusCode }
                group.addTask { try? await two.request(MultiTarget(target)).statusCode }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 100))
        #expect(server.refreshes == [1])
        #expect(signOuts.count == 0)
    }

    @Test("A call that begins during a refresh waits for it")
    func waits() async throws {
        let (server, gate) = (TokenServer(), Gate())
        let authenticator = TokenAuthenticator(renew: { token in
            await gate.wait()
            return server.renew(token)
        })
        let begun = Expectation(count: 21)
        let watch = RecordingPlugin(prepare: { request, _ in
            begun.fulfill()
            return request
        })
        let plugins: [any Plugin] = [watch, signOuts.plugin(authenticator)]
        let provider = Provider<PluginTarget>(transport: server.transport, plugins: plugins)
        async let first = provider.request(PluginTarget()).statusCode
        await gate.waitForArrivals()
        let others = (0..<20).map { _ in Task { try await provider.request(PluginTarget()).statusCode } }
        await begun.wait()
        #expect(server.fields.count == 1)
        gate.open()
        #expect(try await first == 200)
        for other in others { #expect(try await other.value == 200) }
        #expect(server.fields.elements == ["Bearer token-1"] + Array(repeating: "Bearer token-2", count: 21))
        #expect(server.refreshes == [1])
    }

    @Test("A call that is rejected late, with the old credential, is retried without a refresh")
    func late() async throws {
        let (server, gate) = (TokenServer(), Gate())
        let transport = StubTransport { request in
            let answer = server.answer(request.urlRequest)
            if server.fields.count == 1 { await gate.wait() }
            return answer
        }
        let provider = Provider<PluginTarget>(transport: transport, plugins: [signOuts.plugin(server.authenticator)])
        async let late = provider.request(PluginTarget()).statusCode
        await gate.waitForArrivals()
        #expect(try await provider.request(PluginTarget()).statusCode == 200)
        gate.open()
        #expect(try await late == 200)
        #expect(server.refreshes == [1])
        #expect(server.fields.elements.last == "Bearer token-2")
    }

    @Test("A call that is rejected with the new credential too is not retried again")
    func givenUp() async throws {
        let server = TokenServer(good: -1)
        let plugin = signOuts.plugin(TokenAuthenticator())
        let provider = Provider<PluginTarget>(transport: server.transport, plugins: [plugin])
        #expect(try await provider.request(PluginTarget()).statusCode == 401)
        #expect(server.fields.elements == ["Bearer token-1", "Bearer token-2"])
        // The same request is not refreshed for again; another one is.
        #expect(try await provider.request(PluginTarget()).statusCode == 401)
        #expect(server.fields.count == 3)
        let error = await provider.result(PluginTarget(path: "/others", validation: .successCodes)).failure
        #expect(error?.kind == .unauthorized)
        #expect(server.fields.elements.suffix(2) == ["Bearer token-2", "Bearer token-3"])
        #expect(signOuts.count == 0)
    }

    @Test("A credential that was refreshed for the call before it was sent is not refreshed again")
    func givenUpAtOnce() async throws {
        let server = TokenServer(good: -1)
        let plugin = signOuts.plugin(TokenAuthenticator(isDue: { $0.number == 1 }))
        let provider = Provider<PluginTarget>(transport: server.transport, plugins: [plugin])
        #expect(try await provider.request(PluginTarget()).statusCode == 401)
        #expect(server.fields.elements == ["Bearer token-2"])
    }

    @Test("Attempts that another plugin asks for carry the current credential")
    func otherRetries() async throws {
        let server = TokenServer()
        let count = Tally()
        let transport = StubTransport { request in
            count.add()
            return count.value == 1 ? .response(status: 503, data: Data()) : server.answer(request.urlRequest)
        }
        let again = RecordingPlugin(retry: { result, context in
            (try? result.get().statusCode) == 503 ? .retry(after: .zero) : .doNotRetry
        })
        let plugins: [any Plugin] = [signOuts.plugin(server.authenticator), again]
        let provider = Provider<PluginTarget>(transport: transport, plugins: plugins)
        #expect(try await provider.request(PluginTarget()).statusCode == 200)
        #expect(server.fields.elements == ["Bearer token-1", "Bearer token-2"])
    }

    @Test("A stream that is rejected leads to a refresh")
    func stream() async throws {
        let server = TokenServer()
        let plugin = signOuts.plugin(server.authenticator)
        let provider = Provider<PluginTarget>(transport: server.transport, plugins: [plugin])
        let stream = try await provider.stream(PluginTarget())
        #expect(stream.response.statusCode == 200)
        #expect(server.refreshes == [1])
    }

    @Test(
        "Calls that share an exchange share the refresh, also when the first of them is cancelled",
        arguments: [true, false]
    )
    func sharing(_ firstLeaves: Bool) async throws {
        let (server, gate) = (TokenServer(), Gate())
        let transport = StubTransport { request in
            await gate.wait()
            return server.answer(request.urlRequest)
        }
        let plugin = signOuts.plugin(server.authenticator)
        let provider = Provider<PluginTarget>(
            transport: transport,
            plugins: [plugin],
            options: .setting(\.sharesInFlight, true)
        )
        let first = Task { await provider.result(PluginTarget()) }
        await gate.waitForArrivals()
        let results = Recorder<RecordingPlugin.Outcome>()
        for _ in 1...2 {
            provider.request(PluginTarget(), on: .global()) { results.append(.init($0)) }
        }
        await provider.waitForJoinedCalls(3)
        if firstLeaves { first.cancel() }
        if firstLeaves { #expect(await first.value.failure?.stage == .cancelled) }
        gate.open()
        #expect(await results.waitForCount(2) == [.status(200), .status(200)])
        #expect(server.refreshes == [1])
        #expect(server.fields.elements == ["Bearer token-1", "Bearer token-2"])
        _ = await first.value
    }
}
