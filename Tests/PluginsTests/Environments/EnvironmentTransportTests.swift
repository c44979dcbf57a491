// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
@testable import TargetKit
@testable import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Environment transport", .throttled, .timeLimit(.minutes(3)))
struct EnvironmentTransportTests {
    /// A transport that says which environment it was made for, and when it is let go of.
    private final class Named: Transport {
        let name: String
        let log: Log

        init(_ environment: ServerEnvironment, _ log: Log) {
            name = environment.name
            self.log = log
            log.made.append(environment)
        }

        deinit {
            log.ended.append(name)
        }

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            log.sent.append(name)
            if request.urlRequest.url?.path == "/v1/held" { try await log.gate.waitUnlessCancelled() }
            return TransportResponse(
                head: ResponseHead(statusCode: 200, headers: [:]),
                body: .data(Data(name.utf8))
            )
        }
    }

    private struct Log: Sendable {
        let made = Recorder<ServerEnvironment>()
        let sent = Recorder<String>()
        let ended = Recorder<String>()
        let gate = Gate()
    }

    private let log = Log()
    private let store = EnvironmentStore.shop()

    private func transport() -> EnvironmentTransport {
        EnvironmentTransport(store) { [log] in Named($0, log) }
    }

    private func call(_ provider: Provider<MultiTarget>, _ target: any TargetType) async -> TargetKitError? {
        await ShopTarget.$environments.withValue(store) { await provider.result(MultiTarget(target)).failure }
    }

    @Test(
        "A named environment can trust any certificate while the app is developed, which is logged",
        arguments: [(["test"], true), (["test"], false), ([], true), (["other"], true)] as [(Set<String>, Bool)]
    )
    func developmentTrust(_ names: Set<String>, _ isAllowed: Bool) async throws {
        let lines = Recorder<String>()
        let trust = DevelopmentTrust(names: names, isAllowed: isAllowed, warn: { lines.append($0) })
        let transport = EnvironmentTransport(store, developmentTrust: trust) { [log] in Named($0, log) }
        let provider = Provider<MultiTarget>(transport: transport)
        #expect(await call(provider, ShopTarget()) == nil)
        try store.select(.test)
        for _ in 0..<2 { #expect(await call(provider, ShopTarget()) == nil) }
        let isTrusting = names == ["test"] && isAllowed
        #expect(log.made.elements.map { $0.tls.trustsBlindly("10.0.0.1") } == [false, isTrusting])
        #expect(lines.count == (names == ["test"] ? 1 : 0))
        #expect(lines.elements.allSatisfy { $0.contains("WARNING") && $0.contains("\"test\"") })
        #expect(lines.elements.allSatisfy { $0.contains("release build") == !isAllowed })
    }

    @Test("A policy without a named environment trusts no certificate blindly for an asterisk")
    func asterisk() {
        #expect(!TLSPolicy(trust: .insecureTrustAll(for: ["*", "*.*", ""])).trustsBlindly("shop.example"))
        #expect(TLSPolicy.system.trustingEveryHost.trustsBlindly("shop.example"))
        #expect(TLSPolicy.system.trustingEveryHost != .system)
    }

    @Test("Each environment has one transport, made when it is first needed, with its policy")
    func onePerEnvironment() async throws {
        let transport = transport()
        let provider = Provider<MultiTarget>(transport: transport)
        #expect(log.made.count == 0)
        for _ in 0..<3 { #expect(await call(provider, ShopTarget()) == nil) }
        #expect(log.made.elements == [.live])
        #expect(transport.names == [.production])
        try store.select(.test)
        #expect(await call(provider, ShopTarget()) == nil)
        #expect(log.made.elements == [.live, .trial])
        #expect(log.sent.elements == [.production, .production, .production, .test])
    }

    @Test("What leads to no environment's servers goes by the current one's transport")
    func otherServers() async throws {
        let provider = Provider<MultiTarget>(transport: transport())
        #expect(await call(provider, PluginTarget()) == nil)
        try store.select("stage")
        #expect(await call(provider, PluginTarget()) == nil)
        #expect(log.sent.elements == [.production, "stage"])
    }

    @Test("A call that is repeated after another environment was selected goes by its own one's transport again")
    func repeated() async throws {
        let (transport, store) = (transport(), store)
        let again = RecordingPlugin(retry: { _, context in
            guard context.attempt == 0 else { return .doNotRetry }
            try? store.select(.test)
            return .retry(after: .zero)
        })
        let provider = Provider<MultiTarget>(transport: transport, plugins: [again])
        #expect(await call(provider, ShopTarget()) == nil)
        #expect(log.sent.elements == [.production, .production])
        await log.ended.waitForCount(log.made.count)
        #expect(transport.names.isEmpty)
    }

    @Test("A transport without calls is let go of when another environment is selected")
    func letsGoWhenIdle() async throws {
        let transport = transport()
        let provider = Provider<MultiTarget>(transport: transport)
        #expect(await call(provider, ShopTarget()) == nil)
        try store.select(.test)
        #expect(await log.ended.waitForCount(1) == [.production])
        #expect(transport.names.isEmpty)
        #expect(await call(provider, ShopTarget()) == nil)
        #expect(transport.names == [.test])
    }

    @Test("A transport with calls is let go of when the last of them is over", arguments: [1, 10])
    func letsGoWhenDone(_ count: Int) async throws {
        let transport = transport()
        let provider = Provider<MultiTarget>(transport: transport)
        try await withThrowingTaskGroup(of: TargetKitError?.self) { group in
            for _ in 0..<count { group.addTask { await self.call(provider, ShopTarget(path: "/held")) } }
            await log.gate.waitForArrivals(count)
            try store.select(.test)
            #expect(await call(provider, ShopTarget()) == nil)
            #expect(transport.names == [.production, .test])
            // Calls that begin at the same time may each make one; the first of them is kept.
            let surplus = log.made.count - 2
            await log.ended.waitForCount(surplus)
            #expect(log.ended.count == surplus)
            log.gate.open()
            for try await error in group { #expect(error == nil) }
        }
        let ended = await log.ended.waitForCount(log.made.count - 1)
        #expect(ended.last == .production)
        #expect(transport.names == [.test])
    }

    @Test("Calls and selections at the same time leave the current environment's transport alone")
    func concurrent() async throws {
        let transport = transport()
        let provider = Provider<MultiTarget>(transport: transport)
        let names: [String] = [.production, .test, "stage"]
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<300 {
                group.addTask {
                    if index.isMultiple(of: 5) { try? self.store.select(names[index / 5 % 3]) }
                    #expect(await self.call(provider, ShopTarget()) == nil)
                }
            }
        }
        store.reset()
        #expect(await call(provider, ShopTarget()) == nil)
        try store.select(.test)
        #expect(await call(provider, ShopTarget()) == nil)
        await log.ended.waitForCount(log.made.count - 1)
        #expect(transport.names == [.test])
        #expect(log.sent.count == 302)
    }

    @Test("A transport is let go of even if its environment was the current one only for a moment")
    func momentary() async throws {
        let transport = transport()
        var request = URLRequest(url: .shop)
        for round in 1...500 {
            try store.select(.test)
            request.url = store.current.baseURL
            _ = try await transport.send(TransportRequest(urlRequest: request))
            store.reset()
            await log.ended.waitForCount(round)
        }
        #expect(transport.names.isEmpty)
    }

    @Test("It is let go of with its transports, and so is the store")
    func letGo() async throws {
        var store: EnvironmentStore? = .shop()
        weak let weakStore = store
        var transport = store.map { EnvironmentTransport($0) { [log] in Named($0, log) } }
        weak let weak = transport
        let url = try #require(store?.url())
        _ = try await transport?.send(TransportRequest(urlRequest: URLRequest(url: url)))
        (store, transport) = (nil, nil)
        #expect(await log.ended.waitForCount(1) == [.production])
        #expect(weak == nil)
        #expect(weakStore == nil)
    }

    #if os(Linux)
    @Test("The system's transport has the environment's policy")
    func systemPolicy() async throws {
        let server = try TestServer { _ in TestServer.Response(status: 204) }
        let port = server.port
        let missing = TLSPolicy(trust: .authoritiesFile(URL(filePath: "/nowhere/authority.pem")))
        let secure = ServerEnvironment("secure", baseURL: "https://127.0.0.1:\(port)", tls: missing)
        let store = EnvironmentStore(
            default: secure,
            others: [secure.overHTTP(as: "plain")],
            storage: MemoryEnvironmentStorage(),
            launch: .ignored
        )
        let provider = Provider<MultiTarget>(transport: EnvironmentTransport(store))
        let failure = await ShopTarget.$environments.withValue(store) {
            await provider.result(MultiTarget(ShopTarget())).failure
        }
        // CURLE_SSL_CACERT_BADFILE, which only that policy leads to.
        #expect((failure?.underlying as? URLError)?.userInfo[CurlTransport.codeKey] as? Int == 77)
        try store.select("plain")
        let result = await ShopTarget.$environments.withValue(store) {
            await provider.result(MultiTarget(ShopTarget()))
        }
        #expect(try result.get().statusCode == 204)
    }
    #endif
}
