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

/// A target of the shop's environments. Each test has a store of its own, as a task-local value.
struct ShopTarget: EnvironmentTarget {
    @TaskLocal static var environments = EnvironmentStore.shop()

    var module: String?
    var path: RequestPath = "/things"
    var headers: HTTPHeaders = [:]
}

@Suite("Environment plugin", .throttled, .timeLimit(.minutes(3)))
struct EnvironmentPluginTests {
    private let store = EnvironmentStore.shop()
    private let sent = Recorder<URLRequest>()

    private func provider(
        plugins: [any Plugin] = [],
        _ answer: @escaping @Sendable (URLRequest) async throws -> SampleResponse = { _ in
            .response(status: 200, data: Data())
        }
    ) -> Provider<MultiTarget> {
        let transport = StubTransport { [sent] request in
            sent.append(request.urlRequest)
            return try await answer(request.urlRequest)
        }
        return Provider(transport: transport, plugins: [EnvironmentPlugin(store)] + plugins)
    }

    private func call(_ provider: Provider<MultiTarget>, _ target: any TargetType) async -> TargetKitError? {
        await ShopTarget.$environments.withValue(store) { await provider.result(MultiTarget(target)).failure }
    }

    private var urls: [String?] { sent.elements.map { $0.url?.absoluteString } }
    private func fields(_ name: String) -> [String?] { sent.elements.map { $0.value(forHTTPHeaderField: name) } }

    @Test("A target's calls go to the servers of the current environment, with its header fields")
    func follows() async throws {
        let provider = provider()
        #expect(await call(provider, ShopTarget()) == nil)
        try store.select(.test)
        #expect(await call(provider, ShopTarget()) == nil)
        #expect(await call(provider, ShopTarget(module: "media", path: "/1.png")) == nil)
        try store.select("stage")
        #expect(await call(provider, ShopTarget()) == nil)
        #expect(
            urls == [
                "https://api.shop.example/v1/things", "https://api.test.example/v1/things",
                "https://media.test.example/1.png", "http://stage.example:8080/things",
            ]
        )
        #expect(fields("X-Key") == ["live", "trial", "trial", nil])
        #expect(fields("X-Tester") == [nil, "yes", "yes", nil])
    }

    @Test("A field of the target is not replaced")
    func targetWins() async {
        #expect(await call(provider(), ShopTarget(headers: ["x-key": "mine"])) == nil)
        #expect(fields("X-Key") == ["mine"])
    }

    @Test("Its fields win over default header fields in any order of the array", arguments: [true, false])
    func defaultHeaders(isFirst: Bool) async {
        let transport = StubTransport { [sent] request in
            sent.append(request.urlRequest)
            return .response(status: 200, data: Data())
        }
        let plugins: [any Plugin] = [EnvironmentPlugin(store), DefaultHeadersPlugin(others: ["X-Key": "default"])]
        let provider = Provider<MultiTarget>(transport: transport, plugins: isFirst ? plugins : plugins.reversed())
        #expect(await call(provider, ShopTarget()) == nil)
        #expect(fields("X-Key") == ["live"])
    }

    @Test("Requests to other servers are not changed")
    func otherServers() async {
        #expect(await call(provider(), PluginTarget()) == nil)
        #expect(fields("X-Key") == [nil])
    }

    @Test("A call in flight keeps its environment at each attempt when another one is selected")
    func inFlight() async throws {
        let gate = Gate()
        let again = RecordingPlugin(retry: { _, context in context.attempt == 0 ? .retry(after: .zero) : .doNotRetry })
        let provider = provider(plugins: [again]) { _ in
            await gate.wait()
            return .response(status: 200, data: Data())
        }
        async let error = call(provider, ShopTarget())
        await gate.waitForArrivals()
        try store.select(.test)
        gate.open()
        #expect(await error == nil)
        #expect(urls == ["https://api.shop.example/v1/things", "https://api.shop.example/v1/things"])
        #expect(fields("X-Key") == ["live", "live"])
    }

    @Test("An app cancels the calls in flight by its scope, and then selects")
    func cancelsAtSwitch() async throws {
        let held = HeldTransport()
        let provider = Provider<ShopTarget>(transport: held.transport, plugins: [EnvironmentPlugin(store)])
        async let result = provider.result(ShopTarget())
        await held.requests.waitForCount(1)
        provider.scope.cancelAll()
        try store.select(.test)
        #expect(await result.failure?.stage == .cancelled)
    }

    @Test("A redirect keeps the fields within the server, and omits them to another one")
    func redirects() async {
        let provider = provider { request in
            switch request.url?.path {
            case "/v1/things": .response(status: 302, headers: ["Location": "/v1/here"], data: Data())
            case "/v1/here": .response(status: 302, headers: ["Location": "https://cdn.example/x"], data: Data())
            default: .response(status: 200, data: Data())
            }
        }
        #expect(await call(provider, ShopTarget()) == nil)
        #expect(fields("X-Key") == ["live", "live", nil])
    }

    @Test("A value with a line break ends the call")
    func badValue() async throws {
        let bad = ServerEnvironment("bad", baseURL: "https://bad.example", headers: ["X-A": "1\r\nX-B: 2"])
        let store = EnvironmentStore(default: bad, storage: MemoryEnvironmentStorage(), launch: .ignored)
        let provider = Provider<PluginTarget>.stubbed(EnvironmentPlugin(store))
        let error = try #require(await provider.result(PluginTarget(baseURL: bad.baseURL)).failure)
        #expect(error.stage == .request)
        #expect(error.underlying as? InvalidRequest == .invalidHeaderValue(name: "X-A"))
    }

    @Test("With an unknown name at the launch, every call fails before it is sent", arguments: [true, false])
    func problem(hasPlugin: Bool) async throws {
        let launch = EnvironmentStore.Launch(variables: ["TARGETKIT_ENVIRONMENT": "tset"])
        let store = EnvironmentStore.shop(launch: launch)
        let plugins: [any Plugin] = hasPlugin ? [EnvironmentPlugin(store)] : []
        let held = HeldTransport()
        held.gate.open()
        let provider = Provider<MultiTarget>(transport: held.transport, plugins: plugins)
        let error = await ShopTarget.$environments.withValue(store) {
            await provider.result(MultiTarget(ShopTarget())).failure
        }
        #expect(error?.stage == .request)
        #expect(error?.kind == .invalidRequest)
        if hasPlugin {
            #expect(error?.underlying as? EnvironmentError == store.problem as? EnvironmentError)
        } else {
            #expect(error?.underlying as? InvalidRequest == .unsupportedURL("unknown-environment:tset/things"))
        }
        #expect(error?.description.contains("tset") == true)
        // The error of another target is not replaced.
        let other = await provider.result(MultiTarget(PluginTarget(baseURL: URL(filePath: "/")))).failure
        #expect(other?.underlying is InvalidRequest)
        // Nor is that of another store's target.
        let others = EnvironmentStore.shop(launch: launch)
        let stranger = await ShopTarget.$environments.withValue(others) {
            await provider.result(MultiTarget(ShopTarget())).failure
        }
        #expect(stranger?.underlying is InvalidRequest)
        #expect(held.requests.count == 0)
    }
}
