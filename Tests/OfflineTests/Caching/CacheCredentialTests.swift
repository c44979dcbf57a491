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

@Suite("Cache: credentials", .throttled, .timeLimit(.minutes(2)))
struct CacheCredentialTests {
    private struct Token: Sendable, Equatable { var text: String }

    private struct TokenAuthenticator: Authenticator {
        let renew: @Sendable (Token) async throws -> Token
        func apply(_ token: Token, to request: inout URLRequest) {
            request.setValue("Bearer \(token.text)", forHTTPHeaderField: "Authorization")
        }
        func refresh(_ token: Token) async throws -> Token { try await renew(token) }
    }

    private static func plugin(
        _ renew: @escaping @Sendable (Token) async throws -> Token = { Token(text: $0.text + "+") }
    ) -> AuthenticationPlugin<TokenAuthenticator> {
        AuthenticationPlugin(authenticator: TokenAuthenticator(renew: renew)) { _ in }
    }

    private static let target = CachedTarget()

    @Test("A session keeps its responses when its token is refreshed", arguments: [false, true])
    func refreshed(isOnDisk: Bool) async throws {
        let folder = try TemporaryFolderOfCache()
        let authentication = Self.plugin()
        try await authentication.signIn(Token(text: "a"))
        let world = CacheWorld(
            storedIn: isOnDisk ? folder.url : nil,
            memoryLimit: isOnDisk ? 0 : 1 << 20,
            plugins: [authentication]
        )
        _ = try await world.provider.request(Self.target)
        world.answer {
            $0.value(forHTTPHeaderField: "Authorization") == "Bearer a" ? .status(401) : .cacheable("other")
        }
        _ = try await world.provider.request(CachedTarget(.get, "/other"))
        #expect(try await authentication.credential == Token(text: "a+"))
        #expect(try await world.provider.request(Self.target).origin == .cache(age: .zero))
    }

    @Test("The responses of a session are removed when it ends", arguments: ["signOut", "signIn", "refresh"])
    func ended(_ way: String) async throws {
        let folder = try TemporaryFolderOfCache()
        let authentication = Self.plugin { _ in throw TokenError() }
        try await authentication.signIn(Token(text: "a"))
        let world = CacheWorld(storedIn: folder.url, plugins: [authentication])
        let events = world.cache.events
        _ = try await world.provider.request(Self.target)
        _ = try await world.provider.request(Self.target.with { $0.options.authorization = .none })
        await world.cache.waitForWrites()
        switch way {
        case "signOut": try await authentication.signOut()
        case "signIn": try await authentication.signIn(Token(text: "b"))
        default:
            world.answer { _ in .status(401) }
            _ = await world.provider.result(CachedTarget(.get, "/other"))
        }
        for await event in events {
            if case .removed(let count) = event {
                #expect(count == 1)
                break
            }
        }
        #expect(folder.entries.count == 1)
        #expect(
            try await world.provider.request(Self.target.with { $0.options.authorization = .none }).origin != .network
        )
        // The same user again.
        world.answer { _ in .cacheable("new") }
        try await authentication.signIn(Token(text: "a"))
        #expect(try await world.provider.request(Self.target).body == "new")
    }

    private static let signing = RequestSigningPlugin(fields: ["X-Key"]) { _, context in
        ["X-Key": "\(context.id)"]
    }

    @Test("A request whose only credential is a signature does not use the cache, unless the user is known")
    func signed() async throws {
        for isKnown in [false, true] {
            let server = ScriptedTransport(.cacheable("first"))
            let cache =
                isKnown
                ? ResponseCachePlugin(ResponseCache()) { _ in "ann" } : ResponseCachePlugin(ResponseCache())
            let provider = Provider<CachedTarget>(transport: server.transport, plugins: [cache, Self.signing])
            _ = try await provider.request(Self.target)
            _ = try await provider.request(Self.target)
            #expect(server.requests.count == (isKnown ? 1 : 2))
        }
    }

    @Test("A response to a request with the app's key is only used for the user whom the signature's plugin names")
    func signatureOfUser() async throws {
        let user = Locked("ann")
        let signing = RequestSigningPlugin(fields: ["X-Signature"], owner: { _ in user.withLock(\.self) }) { _, _ in
            ["X-Signature": user.withLock(\.self)]
        }
        let world = CacheWorld(plugins: [signing]) { request in
            .cacheable(request.value(forHTTPHeaderField: "X-Signature") ?? "")
        }
        for name in ["ann", "bob", "ann"] {
            user.withLock { $0 = name }
            let response = try await world.provider.request(CachedTarget(.get, "/list", ["X-Api-Key": "app"]))
            #expect(response.body == name)
        }
        #expect(world.requests.count == 2)
    }

    /// Adds a credential when the request is sent.
    private struct Late: Plugin {
        let place = PluginPlace.signing
        let name: String
        let isField: Bool
        let user: Locked<String>

        func exchange(
            _ request: TransportRequest,
            context: RequestContext,
            next: Exchange
        ) async throws -> TransportResponse {
            var request = request
            let value = user.withLock(\.self)
            if isField {
                request.urlRequest.setValue(value, forHTTPHeaderField: name)
            } else {
                request.urlRequest.url?.append(queryItems: [URLQueryItem(name: name, value: value)])
            }
            return try await next(request)
        }
    }

    @Test(
        "A response to a request that receives its credential when it is sent isn't stored",
        arguments: ["access_token", "signature", "X-Sig"],
        [true, false]
    )
    func lateCredential(name: String, isField: Bool) async throws {
        let user = Locked("ann")
        let world = CacheWorld(plugins: [Late(name: name, isField: isField, user: user)]) { request in
            .cacheable(request.value(forHTTPHeaderField: name) ?? request.url?.query() ?? "")
        }
        for name in ["ann", "bob"] {
            user.withLock { $0 = name }
            #expect(try await world.provider.request(CachedTarget()).body.contains(name))
        }
    }

    private struct TokenError: Error {}

    @Test("A response that arrives after the session has ended is not stored")
    func late() async throws {
        let gate = Gate()
        let authentication = Self.plugin()
        try await authentication.signIn(Token(text: "a"))
        let world = CacheWorld(plugins: [authentication]) { _ in
            await gate.wait()
            return .cacheable()
        }
        let call = Task { try await world.provider.request(Self.target) }
        await world.requests.waitForCount(1)
        try await authentication.signOut()
        gate.open()
        _ = try await call.value
        #expect(await world.cache.size.memory == 0)
    }

    private enum AccountKey: RequestContextKey { typealias Value = String }

    /// Stores the account in the context of a call.
    private struct AccountPlugin: Plugin {
        func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
            context[AccountKey.self] = "ann"
            return request
        }
    }

    @Test("A validation in the background finds the user in the context, although the call has ended")
    func backgroundUser() async throws {
        let gate = Gate()
        let cache = ResponseCache()
        let transport = StubTransport { request in
            let isValidation = request.urlRequest.value(forHTTPHeaderField: "If-None-Match") != nil
            if isValidation { await gate.wait() }
            return .cacheable(isValidation ? "second" : "first", ["Cache-Control": "stale-while-revalidate=60"])
        }
        let provider = Provider<CachedTarget>(
            transport: transport,
            plugins: [ResponseCachePlugin(cache) { $0[AccountKey.self] }, AccountPlugin()]
        )
        let events = cache.events
        _ = try await provider.request(Self.target)
        #expect(try await provider.request(Self.target).body == "first")
        gate.open()
        var storedCount = 0
        for await event in events {
            if case .stored = event { storedCount += 1 }
            if storedCount == 2 { break }
        }
        #expect(try await provider.request(Self.target).body == "second")
    }

    @Test("A response of a former user stays when the user changes during its validation")
    func formerUser() async throws {
        let user = Locked("ann")
        let world = CacheWorld(user: user)
        _ = try await world.provider.request(Self.target)
        world.pass(70)
        world.answer { _ in
            user.withLock { $0 = "bob" }
            return .cacheable("second")
        }
        _ = try await world.provider.request(Self.target)
        user.withLock { $0 = "ann" }
        #expect(try await world.provider.request(Self.target.with(.onlyCached)).body == "first")
    }

    private struct SwitchingPlugin: Plugin {
        let user: Locked<String>
        var place: PluginPlace { .signing }

        func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
            user.withLock { $0 = "bob" }
            return request
        }
    }

    @Test("A response is not stored if the user has changed since its request was prepared", arguments: [true, false])
    func changedUser(beforeSending: Bool) async throws {
        let user = Locked("ann")
        let world = CacheWorld(plugins: beforeSending ? [SwitchingPlugin(user: user)] : [], user: user) { _ in
            user.withLock { $0 = "bob" }
            return .cacheable()
        }
        _ = try await world.provider.request(Self.target)
        #expect(await world.cache.size.memory == 0)
    }

    @Test("The app's identifier of the user finds responses with another credential, and keeps users apart")
    func identified() async throws {
        let user = Locked("anna")
        let token = Locked("1")
        let world = CacheWorld(
            plugins: [AccessTokenPlugin { _ in token.withLock { $0 } }],
            user: user
        )
        _ = try await world.provider.request(Self.target)
        token.withLock { $0 = "2" }
        #expect(try await world.provider.request(Self.target).origin == .cache(age: .zero))
        user.withLock { $0 = "bert" }
        #expect(try await world.provider.request(Self.target).origin == .network)
    }

    @Test("A token that cannot be refreshed does not keep a call from its cached response")
    func offline() async throws {
        let isOffline = Locked(false)
        struct Expiring: Authenticator {
            let isOffline: Locked<Bool>
            func apply(_ token: Token, to request: inout URLRequest) {
                request.setValue("Bearer \(token.text)", forHTTPHeaderField: "Authorization")
            }
            func needsRefresh(_ credential: Token) -> Bool { isOffline.withLock { $0 } }
            func refresh(_ token: Token) async throws -> Token { throw URLError(.notConnectedToInternet) }
        }
        let authentication = AuthenticationPlugin(authenticator: Expiring(isOffline: isOffline)) { _ in }
        try await authentication.signIn(Token(text: "a"))
        let world = CacheWorld(plugins: [authentication])
        _ = try await world.provider.request(Self.target)
        world.pass(600)
        isOffline.withLock { $0 = true }
        let response = try await world.provider.request(Self.target.with(.staleOnFailure))
        #expect(response.origin == .stale(age: .seconds(600)))
        #expect(await world.provider.result(Self.target).failure != nil)
    }

    @Test("No credential is in the files, the events or a textual form of the cache")
    func secrets() async throws {
        let folder = try TemporaryFolderOfCache()
        let world = CacheWorld(storedIn: folder.url, plugins: [AccessTokenPlugin { _ in "s3cret" }]) { _ in
            .cacheable("first", ["Vary": "Authorization, Cookie", "Set-Cookie": "id=s3cret"])
        }
        _ = try await world.provider.request(CachedTarget(.get, "/list", ["Cookie": "id=s3cret"]))
        await world.cache.waitForWrites()
        #expect(folder.entries.count == 1)
        for file in folder.entries { #expect(try Data(contentsOf: file).range(of: Data("s3cret".utf8)) == nil) }
        var text = ""
        dump(world.cache, to: &text)
        dump(ResponseCachePlugin(world.cache), to: &text)
        #expect(!text.contains("s3cret"))
    }

    @Test("The app removes the responses of requests with credentials")
    func removal() async throws {
        let folder = try TemporaryFolderOfCache()
        let world = CacheWorld(storedIn: folder.url)
        let personal = CachedTarget(.get, "/list", ["Authorization": "a"])
        _ = try await world.provider.request(personal)
        _ = try await world.provider.request(CachedTarget())
        await world.cache.removeAll { $0.isPersonal }
        #expect(try await world.provider.request(personal).origin == .network)
        #expect(try await world.provider.request(CachedTarget()).origin == .cache(age: .zero))
        await world.cache.removeAll()
        #expect(await world.cache.size == (0, 0))
    }
}

extension CachedTarget {
    func with(_ change: (inout CachedTarget) -> Void) -> CachedTarget {
        var target = self
        change(&target)
        return target
    }
}
