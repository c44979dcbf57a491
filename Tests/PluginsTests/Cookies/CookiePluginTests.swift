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

@Suite("Cookies of providers", .throttled, .timeLimit(.minutes(2)))
struct CookiePluginTests {
    private func server(_ backend: Backend) throws -> RunningBackend {
        try RunningBackend(backend) { request in
            guard request.target == "/login" else { return .response(status: 200, data: Data()) }
            let headers = HTTPHeaders(
                dictionaryLiteral: ("Set-Cookie", "a=1; Path=/; Expires=Wed, 09 Jun 2100 10:18:14 GMT"),
                ("Set-Cookie", "b=2; Path=/"),
                ("Location", "/home")
            )
            return .response(status: 302, headers: headers, data: Data())
        }
    }

    private func call(_ running: RunningBackend, _ path: RequestPath) -> PluginTarget {
        PluginTarget(baseURL: running.baseURL).with { $0.path = path }
    }

    @Test("The response to a request from before removeAll() sets no cookies, and a later one does")
    func lateCookies() async throws {
        let (store, gate) = (CookieStore(), Gate())
        store.store(["sid=anna; Path=/"], from: .shop)
        let transport = StubTransport { _ in
            await gate.wait()
            return .response(status: 200, headers: ["Set-Cookie": "sid=new; Path=/"], data: Data())
        }
        let provider = Provider<PluginTarget>(transport: transport, plugins: [CookiePlugin(store)])
        let call = Task { try await provider.request(PluginTarget()) }
        await gate.waitForArrivals()
        store.removeAll()
        store.store(["sid=bob; Path=/"], from: .shop)
        gate.open()
        _ = try await call.value
        #expect(store.cookies(for: .shop).map(\.value) == ["bob"])
        _ = try await provider.request(PluginTarget())
        #expect(store.cookies(for: .shop).map(\.value) == ["new"])
    }

    @Test("Without a store none are kept", arguments: Backend.allCases)
    func off(_ backend: Backend) async throws {
        let running = try server(backend)
        let provider = Provider<PluginTarget>(transport: running.transport)
        _ = try await provider.request(call(running, "/login"))
        _ = try await provider.request(call(running, "/home"))
        #expect(running.requests.allSatisfy { $0.headers[.cookie] == nil })
    }

    @Test(
        "Those of a redirect go along with the next request, and to every provider that shares the store",
        arguments: Backend.allCases
    )
    func shared(_ backend: Backend) async throws {
        let running = try server(backend)
        let store = CookieStore()
        let one = Provider<PluginTarget>(transport: running.transport, plugins: [CookiePlugin(store)])
        let two = Provider<MultiTarget>(transport: running.transport, plugins: [CookiePlugin(store)])
        _ = try await one.request(call(running, "/login"))
        _ = try await two.request(call(running, "/other"))
        #expect(running.requests.map { $0.headers[.cookie] } == [nil, "a=1; b=2", "a=1; b=2"])
        #expect(store.cookies.map(\.name).sorted() == ["a", "b"])
    }

    private struct Witness: Plugin {
        let seen = Recorder<String?>()

        func willSend(_ request: URLRequest, context: RequestContext) {
            seen.append(request.value(forHTTPHeaderField: "Cookie"))
        }

        func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
            context.attempt == 0 ? .retry(after: .zero) : .doNotRetry
        }
    }

    @Test("willSend sees the store's cookies of each attempt as they are sent", arguments: Backend.allCases)
    func willSend(_ backend: Backend) async throws {
        let (store, witness) = (CookieStore(), Witness())
        let running = try RunningBackend(backend) { _ in
            .response(status: 200, headers: ["Set-Cookie": "b=2; Path=/"], data: Data())
        }
        store.store(["a=1; Path=/"], from: running.baseURL)
        let provider = Provider<PluginTarget>(transport: running.transport, plugins: [witness, CookiePlugin(store)])
        _ = try await provider.request(call(running, "/x"))
        #expect(running.requests.map { $0.headers[.cookie] } == ["a=1", "a=1; b=2"])
        #expect(witness.seen.elements == ["a=1", "a=1; b=2"])
    }

    @Test(
        "A redirect does not send a cookie that its own response has replaced or removed",
        arguments: Backend.allCases
    )
    func redirected(_ backend: Backend) async throws {
        let store = CookieStore()
        let running = try RunningBackend(backend) { request in
            guard request.target == "/a" else { return .response(status: 200, data: Data()) }
            let headers = HTTPHeaders(
                dictionaryLiteral: ("Set-Cookie", "a=new; Path=/"),
                ("Set-Cookie", "b=; Path=/; Max-Age=0"),
                ("Location", "/b")
            )
            return .response(status: 307, headers: headers, data: Data())
        }
        store.store(["a=1; Path=/", "b=2; Path=/", "c=3; Path=/a"], from: running.baseURL)
        let provider = Provider<PluginTarget>(transport: running.transport, plugins: [CookiePlugin(store)])
        _ = try await provider.request(call(running, "/a"))
        #expect(running.requests.map { $0.headers[.cookie] } == ["c=3; a=1; b=2", "a=new"])
    }

    private struct TwoServers: TransferDriver {
        let other: URL
        var isConcurrent = false

        func response(to request: URLRequest, over exchanges: CallExchanges) async throws -> Response {
            _ = try await exchanges.send(request)
            var request = request
            request.url = other
            return try await (isConcurrent ? exchanges.concurrent() : exchanges).send(request)
        }
    }

    @Test("A driver's request to another server has the cookies of that server", arguments: [false, true])
    func driver(isConcurrent: Bool) async throws {
        let (running, store) = (try server(.stub), CookieStore())
        let other = try #require(URL(string: "https://storage.example/1"))
        store.store(["a=1; Path=/"], from: running.baseURL)
        store.store(["b=2; Path=/"], from: other)
        let provider = Provider<PluginTarget>(transport: running.transport, plugins: [CookiePlugin(store)])
        let task = HTTPTask.plain.driver(TwoServers(other: other, isConcurrent: isConcurrent))
        _ = try await provider.request(call(running, "/x").with { $0.task = task })
        #expect(running.requests.map { $0.headers[.cookie] } == ["a=1", "b=2"])
    }

    @Test("A Cookie field of the target's own stands in for the store's")
    func own() async throws {
        let running = try server(.stub)
        let store = CookieStore()
        store.store(["a=1; Path=/"], from: running.baseURL)
        let provider = Provider<PluginTarget>(transport: running.transport, plugins: [CookiePlugin(store)])
        _ = try await provider.request(call(running, "/x").with { $0.headers = ["Cookie": "mine=1"] })
        #expect(running.requests.last?.headers[.cookie] == "mine=1")
    }
}
