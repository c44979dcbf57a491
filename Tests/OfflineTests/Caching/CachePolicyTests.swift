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

@Suite("Cache: policies", .throttled, .timeLimit(.minutes(2)))
struct CachePolicyTests {
    /// Moya's recipe: a plugin sets the policy of the request.
    private struct PolicyPlugin: Plugin {
        let policy: URLRequest.CachePolicy

        func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
            var request = request
            request.cachePolicy = policy
            return request
        }
    }

    @Test(
        "Each policy with a fresh response, a stale one and none",
        arguments: [
            (CachePolicy.useProtocol, "cache", "network", "network"), (.reload, "network", "network", "network"),
            (.cachedElseLoad, "cache", "stale", "network"), (.onlyCached, "cache", "stale", "failure"),
            (.staleOnFailure, "cache", "network", "network"),
        ]
    )
    func policies(_ policy: CachePolicy, _ fresh: String, _ stale: String, _ none: String) async throws {
        let world = CacheWorld()
        #expect(await Self.origin(world, CachedTarget().with(policy)) == none)
        _ = try await world.provider.request(CachedTarget())
        #expect(await Self.origin(world, CachedTarget().with(policy)) == fresh)
        _ = try await world.provider.request(CachedTarget().with(.reload))
        world.pass(70)
        #expect(await Self.origin(world, CachedTarget().with(policy)) == stale)
    }

    @Test(
        "The policy of the request is used, as a closure or a plugin has set it",
        arguments: [
            (URLRequest.CachePolicy.reloadIgnoringLocalCacheData, "network", "network"),
            (.reloadIgnoringLocalAndRemoteCacheData, "network", "network"),
            (.returnCacheDataElseLoad, "cache", "stale"),
            (.returnCacheDataDontLoad, "cache", "stale"), (.reloadRevalidatingCacheData, "network", "network"),
        ]
    )
    func requestPolicy(_ policy: URLRequest.CachePolicy, _ fresh: String, _ stale: String) async throws {
        let world = CacheWorld(plugins: [PolicyPlugin(policy: policy)])
        _ = await world.provider.result(CachedTarget().with(.reload))
        #expect(await Self.origin(world, CachedTarget()) == fresh)
        _ = try await world.provider.request(CachedTarget().with(.reload))
        world.pass(70)
        #expect(await Self.origin(world, CachedTarget()) == stale)
    }

    @Test("The policy of a request reaches the response's request, and the option overrides it")
    func order() async throws {
        let plugin = PolicyPlugin(policy: .returnCacheDataElseLoad)
        let world = CacheWorld(plugins: [plugin])
        #expect(try await world.provider.request(CachedTarget()).request?.cachePolicy == .returnCacheDataElseLoad)
        let reloaded = try await world.provider.request(CachedTarget().with(.reload))
        #expect(reloaded.request?.cachePolicy == .reloadIgnoringLocalCacheData)
        #expect(reloaded.origin == .network)
    }

    @Test("A call that is not in the cache fails without a request if only cached responses are allowed")
    func onlyCached() async throws {
        let world = CacheWorld()
        let error = await world.provider.result(CachedTarget().with(.onlyCached)).failure
        #expect((error?.underlying as? URLError)?.code == .resourceUnavailable)
        #expect(error?.description.contains("the response isn't in the cache") == true, "\(error?.description ?? "")")
        #expect(error?.text(in: .english) == "This content is not available offline.")
        #expect(error?.text(in: .simplifiedChinese) == "此内容无法离线使用。")
        #expect(world.requests.count == 0)
    }

    @Test(
        "A cached response, whatever its age, answers a call that fails",
        arguments: [
            SampleResponse.error(.notConnectedToInternet), .error(.timedOut), .status(500), .status(503), .status(429),
        ]
    )
    func staleOnFailure(_ failure: SampleResponse) async throws {
        let world = CacheWorld { _ in .cacheable("first", ["Cache-Control": "max-age=60, must-revalidate"]) }
        let target = CachedTarget().validated()
        _ = try await world.provider.request(target)
        world.pass(1e6)
        world.answer { _ in failure }
        let response = try await world.provider.request(target.with(.staleOnFailure))
        #expect(response.origin == .stale(age: .seconds(1_000_000)))
        #expect(response.body == "first")
        #expect(await world.provider.result(target).failure != nil)
    }

    @Test(
        "A cached response does not answer a call that the server has rejected",
        arguments: [400, 401, 403, 404, 410, 422]
    )
    func rejected(_ status: Int) async throws {
        let world = CacheWorld()
        let target = CachedTarget().validated().with(.staleOnFailure)
        _ = try await world.provider.request(target)
        world.pass(70)
        world.answer { _ in .status(status) }
        #expect(await world.provider.result(target).failure?.response?.statusCode == status)
    }

    @Test(
        "A call whose time is over gets the cached response, and one that is cancelled does not",
        arguments: [true, false]
    )
    func timedOut(isCancelled: Bool) async throws {
        let gate = Gate()
        let world = CacheWorld()
        _ = try await world.provider.request(CachedTarget())
        world.pass(70)
        world.answer { _ in
            try await gate.waitUnlessCancelled()
            return .cacheable("late")
        }
        var target = CachedTarget().with(.staleOnFailure)
        if !isCancelled { target.options.timeout = .wholeCall(.milliseconds(20)) }
        let call = Task { [target] in await world.provider.result(target) }
        // The time can be over before the call is sent.
        if isCancelled {
            await world.requests.waitForCount(2)
            call.cancel()
        }
        let result = await call.value
        if isCancelled {
            #expect(result.failure?.stage == .cancelled)
        } else {
            #expect(try result.get().origin == .stale(age: .seconds(70)))
        }
    }

    @Test(
        "An error of the server that may be stored does not replace the response for calls that fail",
        arguments: [401, 403, 429, 500, 503]
    )
    func storableFailure(_ status: Int) async throws {
        let world = CacheWorld()
        let target = CachedTarget().validated()
        _ = try await world.provider.request(target)
        world.pass(70)
        world.answer { _ in .response(status: status, headers: ["Cache-Control": "private, max-age=60"], data: Data()) }
        _ = await world.provider.result(target.with(.staleOnFailure))
        world.answer { _ in .error(.notConnectedToInternet) }
        #expect(try await world.provider.request(target.with(.staleOnFailure)).body == "first")
    }

    @Test("The cached response of a redirected call that fails is that of its last request")
    func redirectedFailure() async throws {
        let world = CacheWorld { request in
            request.url?.path() == "/api/list"
                ? .response(status: 301, headers: ["Location": "/api/new"], data: Data()) : .cacheable("new")
        }
        let target = CachedTarget().with(.staleOnFailure)
        _ = try await world.provider.request(target)
        world.answer { _ in .error(.notConnectedToInternet) }
        let response = try await world.provider.request(target)
        #expect(response.body == "new")
        #expect(response.redirects.count == 1)
        world.answer { request in
            request.url?.path() == "/api/list"
                ? .response(status: 301, headers: ["Location": "/api/missing"], data: Data())
                : .error(.notConnectedToInternet)
        }
        #expect(await world.provider.result(target).failure?.kind == .offline)
    }

    /// Waits like a plugin that asks a server for a token.
    private struct WaitingPlugin: Plugin {
        let isOnline = Locked(true)

        func exchange(
            _ request: TransportRequest,
            context: RequestContext,
            next: Exchange
        ) async throws -> TransportResponse {
            if !isOnline.withLock(\.self) { try await Gate().waitUnlessCancelled() }
            return try await next(request)
        }
    }

    @Test("A fresh response is used without what the other plugins wait for")
    func freshWithoutWaiting() async throws {
        let plugin = WaitingPlugin()
        let world = CacheWorld(plugins: [plugin])
        _ = try await world.provider.request(CachedTarget())
        plugin.isOnline.withLock { $0 = false }
        for policy in [CachePolicy.useProtocol, .staleOnFailure, .onlyCached, .cachedElseLoad] {
            #expect(try await world.provider.request(CachedTarget().with(policy)).origin == .cache(age: .zero))
        }
    }

    @Test("A plugin that still waits when the time of the call is over does not delay its cached response")
    func timedOutBeforeSending() async throws {
        let plugin = WaitingPlugin()
        let world = CacheWorld(plugins: [plugin])
        _ = try await world.provider.request(CachedTarget())
        world.pass(70)
        plugin.isOnline.withLock { $0 = false }
        var target = CachedTarget().with(.staleOnFailure)
        target.options.timeout = .wholeCall(.milliseconds(20))
        #expect(try await world.provider.request(target).origin == .stale(age: .seconds(70)))
    }

    @Test("A value is decoded from the cached response of a call that fails")
    func decoded() async throws {
        let world = CacheWorld { _ in .cacheable("[1,2]") }
        let target = CachedTarget().with(.staleOnFailure)
        #expect(try await world.provider.request(target, as: [Int].self) == [1, 2])
        world.pass(70)
        world.answer { _ in .error(.notConnectedToInternet) }
        #expect(try await world.provider.request(target, as: [Int].self) == [1, 2])
    }

    /// Fails before the request is sent.
    private struct RefusingPlugin: Plugin {
        let refuses: Locked<Bool>
        let place: PluginPlace

        func exchange(
            _ request: TransportRequest,
            context: RequestContext,
            next: Exchange
        ) async throws -> TransportResponse {
            guard refuses.withLock({ $0 }) else { return try await next(request) }
            throw TargetKitError(stage: .request, underlying: URLError(.notConnectedToInternet))
        }
    }

    @Test(
        "A cached response answers a call that fails before it is sent, with the changes of the other plugins",
        arguments: [PluginPlace.connectivity, .admission, .standard, .signing, .init(rawValue: 590)]
    )
    func unsent(_ place: PluginPlace) async throws {
        let refuses = Locked(false)
        let world = CacheWorld(plugins: [
            RefusingPlugin(refuses: refuses, place: place), AccessTokenPlugin { _ in "secret" },
            DefaultHeadersPlugin(others: ["X-Language": "de"]),
        ]) { _ in .cacheable("first", ["Vary": "X-Language"]) }
        let target = CachedTarget().with(.staleOnFailure)
        _ = try await world.provider.request(target)
        refuses.withLock { $0 = true }
        #expect(try await world.provider.request(target).origin == .cache(age: .zero))
        world.pass(70)
        let response = try await world.provider.request(target)
        #expect(response.body == "first")
        #expect(response.origin == .stale(age: .seconds(70)))
        #expect(world.requests.count == 1)
        #expect(await world.provider.result(CachedTarget()).failure != nil)
    }

    /// A signature that differs for each request.
    private static let signing = RequestSigningPlugin(fields: ["X-Signature"]) { _, context in
        ["X-Signature": "\(context.id)"]
    }

    @Test("The order of the plugins has no effect, and a signature is not a credential", arguments: [false, true])
    func pluginOrder(isReversed: Bool) async throws {
        let server = ScriptedTransport(.cacheable("first", ["Vary": "X-Language, Authorization"]))
        let plugins: [any Plugin] = [
            ResponseCachePlugin(ResponseCache()), AccessTokenPlugin { _ in "secret" },
            DefaultHeadersPlugin(others: ["X-Language": "de"]), RetryPlugin(), Self.signing,
        ]
        let provider = Provider<CachedTarget>(
            transport: server.transport,
            plugins: isReversed ? plugins.reversed() : plugins
        )
        _ = try await provider.request(CachedTarget())
        guard case .cache = try await provider.request(CachedTarget()).origin else {
            Issue.record("not from the cache")
            return
        }
        #expect(server.requests.count == 1)
    }

    @Test("A provider can have only one cache")
    func twoCaches() async throws {
        let plugins = [ResponseCachePlugin(ResponseCache()), ResponseCachePlugin(ResponseCache())]
        let provider = Provider<CachedTarget>(transport: ScriptedTransport(.cacheable()).transport, plugins: plugins)
        let error = await provider.result(CachedTarget()).failure
        #expect(error?.description.contains("ResponseCachePlugin") == true)
    }

    @Test("Stubbed calls do not use the cache")
    func stubs() async throws {
        let cache = ResponseCache()
        let provider = Provider<CachedTarget>(stubClosure: { _ in .immediate }, plugins: [ResponseCachePlugin(cache)])
        _ = try await provider.request(CachedTarget())
        #expect(await cache.size.memory == 0)
        #expect(await provider.result(CachedTarget().with(.onlyCached)).failure == nil)
    }

    @Test("Calls with different policies do not share an exchange, and those with one share the response")
    func sharing() async throws {
        let gate = Gate()
        let world = CacheWorld { _ in
            await gate.wait()
            return .cacheable()
        }
        let shared = CallOptions.setting(\.sharesInFlight, true)
        async let one = world.provider.request(CachedTarget(), options: shared)
        async let two = world.provider.request(CachedTarget(), options: shared)
        async let three = world.provider.request(CachedTarget().with(.reload), options: shared)
        await world.provider.waitForJoinedCalls(3)
        await world.requests.waitForCount(2)
        gate.open()
        #expect(try await [one, two, three].map(\.origin) == [.network, .network, .network])
        #expect(world.requests.count == 2)
        #expect(try await world.provider.request(CachedTarget(), options: shared).origin == .cache(age: .zero))
    }

    @Test("Each step of a redirected call is cached by itself")
    func redirects() async throws {
        let world = CacheWorld { request in
            request.url?.path() == "/api/list"
                ? .response(
                    status: 301,
                    headers: ["Location": "/api/new", "Cache-Control": "max-age=600"],
                    data: Data()
                )
                : .cacheable("new")
        }
        _ = try await world.provider.request(CachedTarget())
        world.pass(70)
        let response = try await world.provider.request(CachedTarget())
        #expect(response.body == "new")
        #expect(response.redirects.count == 1)
        #expect(world.requests.elements.map { $0.url?.path() } == ["/api/list", "/api/new", "/api/new"])
    }

    @Test("A cached response does not set its cookies again")
    func cookies() async throws {
        let cookies = CookieStore()
        let world = CacheWorld(cookies: cookies) { _ in .cacheable("first", ["Set-Cookie": "id=1"]) }
        _ = try await world.provider.request(CachedTarget())
        #expect(cookies.header(for: URL.shop) == "id=1")
        cookies.removeAll()
        #expect(try await world.provider.request(CachedTarget()).origin == .cache(age: .zero))
        #expect(cookies.cookies.isEmpty)
    }

    @Test("The cookies of a 304 are stored, in the background as well", arguments: [false, true])
    func validationCookies(isInBackground: Bool) async throws {
        let cookies = CookieStore()
        let lifetime = isInBackground ? "max-age=60, stale-while-revalidate=600" : "max-age=60"
        let world = CacheWorld(cookies: cookies) { _ in
            .cacheable("first", ["Cache-Control": lifetime, "ETag": "\"1\""])
        }
        _ = try await world.provider.request(CachedTarget())
        world.pass(70)
        world.answer { _ in
            .response(status: 304, headers: ["ETag": "\"1\"", "Set-Cookie": "id=2; Path=/"], data: Data())
        }
        _ = try await world.provider.request(CachedTarget())
        await world.provider.scope.shutdown(grace: .seconds(60))
        #expect(world.requests.count == 2)
        #expect(cookies.header(for: URL.shop) == "id=2")
    }

    @Test("Requests with a body, downloads and streams go past the cache")
    func passing() async throws {
        let folder = try TemporaryFolder()
        let world = CacheWorld()
        _ = try await world.provider.request(CachedTarget())
        var download = CachedTarget()
        download.task = .download(to: folder.url.appending(path: "file"))
        #expect(try await world.provider.request(download).origin == .network)
        #expect(world.requests.count == 2)
    }

    private static func origin(_ world: CacheWorld, _ target: CachedTarget) async -> String {
        guard case .success(let response) = await world.provider.result(target) else { return "failure" }
        switch response.origin {
        case .network, .revalidated: return "network"
        case .cache: return "cache"
        case .stale: return "stale"
        }
    }
}
