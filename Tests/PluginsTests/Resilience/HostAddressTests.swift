// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Host failover: addresses", .timeLimit(.minutes(1)))
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
        "What is no host fails the call, and says which it is",
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

    @Test("A list is for the calls of its target type alone, also within a MultiTarget, or for those of a closure")
    func targets() async {
        let script = ScriptedTransport(.status(503))
        let things = HostFailoverPlugin(for: SturdyTarget.self, hosts: HostSet.urls("a"))
        let puts = HostFailoverPlugin(hosts: HostSet.urls("b"), where: { $0.method == .put })
        let provider = Provider<MultiTarget>(transport: script.transport, plugins: [things, puts])
        _ = await provider.result(MultiTarget(SturdyTarget()))
        _ = await provider.result(MultiTarget(PluginTarget()))
        _ = await provider.result(MultiTarget(PluginTarget(method: .put)))
        #expect(script.hosts == ["a.example", "shop.example", "b.example"])
    }

    @Test("The current host is given as it stands in the list")
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
