// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitResilience
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Host failover over the wire", .throttled, .timeLimit(.minutes(3)))
struct HostFailoverWireTests {
    private let good: TestServer

    init() throws {
        good = try TestServer(response: .text("good"))
    }

    private func outcome(
        _ engine: Backend,
        _ method: HTTPMethod,
        _ first: URL
    ) async throws -> (RecordingPlugin.Outcome, moved: Bool) {
        let plugin = HostFailoverPlugin(hosts: [first, good.baseURL])
        let transport: any Transport = engine == .urlSession ? URLSessionTransport.another() : SystemTransport.patient
        let provider = Provider<SturdyTarget>(transport: transport, plugins: [plugin])
        let result = await provider.result(SturdyTarget(method: method))
        return (.init(result), plugin.currentHost == good.baseURL)
    }

    private static let engines = [Backend.system, .urlSession]

    @Test("A refused connection moves any call", arguments: engines, [HTTPMethod.get, .post])
    func refused(_ engine: Backend, _ method: HTTPMethod) async throws {
        let port = try ClosedPort()
        #expect(try await outcome(engine, method, port.baseURL) == (.status(200), true))
        withExtendedLifetime(port) {}
    }

    /// On Linux, URLSession doesn't tell a failed handshake from a lost connection.
    private static let enginesWithTLSErrors: [Backend] = {
        #if canImport(FoundationNetworking)
        [.system]
        #else
        engines
        #endif
    }()

    @Test("A failed TLS handshake moves any call", arguments: enginesWithTLSErrors, [HTTPMethod.get, .post])
    func noTLS(_ engine: Backend, _ method: HTTPMethod) async throws {
        var options = TestServer.Options()
        options.onConnect = { _ in [.text("not TLS\r\n\r\n"), .close] }
        let plain = try TestServer(options: options, response: .close)
        let url = try #require(URL(string: "https://127.0.0.1:\(plain.port)"))
        #expect(try await outcome(engine, method, url) == (.status(200), true))
    }

    @Test(
        "A connection that ends after the request moves a GET, not a POST",
        arguments: engines,
        [TestServer.Response.close, .reset]
    )
    func ended(_ engine: Backend, _ reply: TestServer.Response) async throws {
        let first = try TestServer(response: reply)
        #expect(try await outcome(engine, .get, first.baseURL) == (.status(200), true))
        #expect(try await outcome(engine, .post, first.baseURL) == (.failure(.transport), true))
        #expect(first.requests.filter { $0.method == "POST" }.count == 1)
        #expect(good.requests.map(\.method) == ["GET"])
    }

    @Test("A status moves a GET, not a POST", arguments: engines, [502, 503, 504])
    func status(_ engine: Backend, _ status: Int) async throws {
        let first = try TestServer(response: .status(status))
        #expect(try await outcome(engine, .get, first.baseURL) == (.status(200), true))
        #expect(try await outcome(engine, .post, first.baseURL) == (.status(status), true))
        #expect(good.requests.map(\.method) == ["GET"])
    }

    @Test("The next server gets path, query and body unchanged", arguments: engines)
    func whole(_ engine: Backend) async throws {
        let port = try ClosedPort()
        let plugin = HostFailoverPlugin(hosts: [port.baseURL, good.baseURL])
        let transport: any Transport = engine == .urlSession ? URLSessionTransport.another() : SystemTransport.patient
        let provider = Provider<SturdyTarget>(transport: transport, plugins: [plugin])
        let name = "a/b?c"
        let task = HTTPTask.data(Data("body".utf8)).query(["q": "1+1"])
        _ = await provider.result(SturdyTarget(path: "/x/\(name)", method: .post, task: task))
        let request = try #require(good.requests.first)
        #expect(request.target == "/api/x/a%2Fb%3Fc?q=1%2B1")
        #expect(request.text == "body")
        #expect(request.headers.values(for: "Host") == ["127.0.0.1:\(good.port)"])
        withExtendedLifetime(port) {}
    }
}

@Suite("Host failover: addresses", .throttled, .timeLimit(.minutes(3)))
struct HostAddressTests {
    @Test(
        "Scheme, host and port are replaced; path and query stay byte for byte",
        arguments: [
            (
                "https://a.example", "http://x.example:1/p%2Fq/%C3%A9?a=%2B&b=%5B#f",
                "https://a.example/p%2Fq/%C3%A9?a=%2B&b=%5B#f"
            ),
            ("http://127.0.0.1:8080", "https://x.example/p", "http://127.0.0.1:8080/p"),
            ("https://[::1]:8443/ignored/path?too", "https://x.example/p", "https://[::1]:8443/p"),
            ("https://a.example", "https://x.example", "https://a.example"),
            ("https://a.example/", "https://x.example?q=http://y/z", "https://a.example?q=http://y/z"),
            ("https://a.example", "https://user:secret@x.example/p", "https://a.example/p"),
            ("HTTPS://A.example:443", "https://x.example/p", "HTTPS://A.example:443/p"),
        ]
    )
    func replaced(_ host: String, _ asked: String, _ expected: String) async throws {
        let plugin = HostFailoverPlugin(hosts: [try #require(URL(string: host))])
        let context = RequestContext(target: SturdyTarget(), attempt: 0)
        let request = URLRequest(url: try #require(URL(string: asked)))
        #expect(try await plugin.prepare(request, context: context).url?.absoluteString == expected)
    }

    @Test(
        "A URL without a host fails the call, and the error names it",
        arguments: ["file:///tmp", "a.example", "ftp://a.example"]
    )
    func unusable(_ host: String) async throws {
        let url = try #require(URL(string: host))
        let plugin = HostFailoverPlugin(hosts: HostSet.urls("a") + [url])
        let failure = await Provider<SturdyTarget>.stubbed(plugin).result(SturdyTarget()).failure
        #expect(failure?.stage == .request)
        #expect(failure?.underlying as? HostFailoverPlugin.Problem == .unusableHost(url))
        #expect(failure.map { "\($0)" }?.contains(host) == true)
    }

    @Test("An empty list changes nothing")
    func empty() async throws {
        let plugin = HostFailoverPlugin(hosts: [])
        let script = ScriptedTransport(.status(503))
        let provider = Provider<SturdyTarget>(transport: script.transport, plugins: [plugin])
        #expect(RecordingPlugin.Outcome(await provider.result(SturdyTarget())) == .status(503))
        #expect(script.hosts == ["shop.example"])
        #expect(plugin.currentHost == nil)
    }

    @Test("A list is used for the calls of the targets that its closure selects, also inside a MultiTarget")
    func targets() async {
        let script = ScriptedTransport(.status(503))
        let things = HostFailoverPlugin(hosts: HostSet.urls("a"), where: { $0 is SturdyTarget })
        let puts = HostFailoverPlugin(hosts: HostSet.urls("b"), where: { $0.method == .put })
        let provider = Provider<MultiTarget>(transport: script.transport, plugins: [things, puts])
        _ = await provider.result(MultiTarget(SturdyTarget()))
        _ = await provider.result(MultiTarget(PluginTarget()))
        _ = await provider.result(MultiTarget(PluginTarget(method: .put)))
        #expect(script.hosts == ["a.example", "shop.example", "b.example"])
    }

    @Test("The current host is the URL in the list")
    func currentHost() throws {
        let url = try #require(URL(string: "https://a.example:443/api"))
        #expect(HostFailoverPlugin(hosts: [url]).currentHost == url)
    }

    @Test("The fields of the request go to every host of the list, and to no other")
    func fields() async {
        let script = ScriptedTransport { request, _ in
            request.url?.host() == "b.example" ? .status(302, ["Location": "https://evil.example/"]) : .status(503)
        }
        let token = AccessTokenPlugin { _ in "token" }
        let plugin = HostFailoverPlugin(hosts: HostSet.urls("ab"))
        let provider = Provider<PluginTarget>(transport: script.transport, plugins: [plugin, token])
        _ = await provider.result(PluginTarget())
        let fields = script.requests.elements.map { $0.value(forHTTPHeaderField: "Authorization") }
        #expect(script.hosts == ["a.example", "b.example", "evil.example"])
        #expect(fields == ["Bearer token", "Bearer token", nil])
    }
}
