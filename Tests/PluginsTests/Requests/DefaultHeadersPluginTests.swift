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

@Suite("DefaultHeadersPlugin", .throttled, .timeLimit(.minutes(2)))
struct DefaultHeadersPluginTests {
    private func headers(_ plugin: DefaultHeadersPlugin, _ headers: HTTPHeaders = [:]) async throws -> HTTPHeaders {
        let sent = Recorder<URLRequest>()
        let transport = StubTransport { request in
            sent.append(request.urlRequest)
            return .response(status: 200, data: Data())
        }
        let provider = Provider<PluginTarget>(transport: transport, plugins: [plugin])
        _ = try await provider.request(PluginTarget().with { $0.headers = headers })
        return HTTPHeaders(try #require(sent.elements.first).allHTTPHeaderFields ?? [:])
    }

    @Test("The fields are set where they are missing")
    func missing() async throws {
        let plugin = DefaultHeadersPlugin(
            userAgent: "Shop/1",
            languages: { ["zh-Hans-CN", "en"] },
            others: ["X-Platform": "phone"]
        )
        let headers = try await headers(plugin)
        #expect(headers["Accept"] == "application/json, */*;q=0.8")
        #expect(headers["Accept-Language"] == "zh-Hans-CN, en;q=0.9")
        #expect(headers["User-Agent"] == "Shop/1")
        #expect(headers["X-Platform"] == "phone")
    }

    @Test("What the target has set stays, however its name is written")
    func present() async throws {
        let plugin = DefaultHeadersPlugin(languages: { ["en"] }, others: ["X-Platform": "phone"])
        let own: HTTPHeaders = [
            "accept": "text/csv", "ACCEPT-LANGUAGE": "fr", "user-agent": "Mine", "x-platform": "desk",
        ]
        let headers = try await headers(plugin, own)
        for field in own { #expect(headers[field.name] == field.value) }
    }

    @Test("Fields without a value are not set")
    func without() async throws {
        let headers = try await headers(DefaultHeadersPlugin(accept: nil, userAgent: nil, languages: { [] }))
        for name: HTTPHeaderName in [.accept, .acceptLanguage, .userAgent] { #expect(headers[name] == nil) }
    }

    @Test(
        "Languages have falling weights; what is no tag, and what comes twice, is left out",
        arguments: [
            ([], nil), (["C"], nil), (["en_GB.UTF-8"], "en-GB"), (["de", "de", "en"], "de, en;q=0.9"),
            (["a b", "x\r\nY: z", "fr;q=2", "ja-JP"], "ja-JP"),
            (
                (0..<12).map { "l\($0)" },
                "l0, l1;q=0.9, l2;q=0.8, l3;q=0.7, l4;q=0.6, l5;q=0.5, l6;q=0.4, l7;q=0.3, l8;q=0.2, l9;q=0.1"
            ),
        ] as [([String], String?)]
    )
    func weights(languages: [String], value: String?) {
        #expect(DefaultHeadersPlugin.acceptLanguage(languages) == value)
    }

    @Test("A user agent names app, version and system, in characters that may be sent")
    func userAgent() {
        let system = ProcessInfo.processInfo.operatingSystemVersion
        let number = "\(system.majorVersion).\(system.minorVersion).\(system.patchVersion)"
        #expect(DefaultHeadersPlugin.userAgent(app: "Tea Shop ☕", version: "1.2 (3)").hasPrefix("TeaShop/1.23 ("))
        #expect(DefaultHeadersPlugin.userAgent(app: "茶", version: nil).hasPrefix("App ("))
        #expect(DefaultHeadersPlugin.userAgent(app: "a\r\nB: c", version: "").hasPrefix("aBc ("))
        #expect(DefaultHeadersPlugin.systemUserAgent.hasSuffix(" \(number))"))
    }

    @Test("A value with a line break ends the call, with the field's name")
    func lineBreak() async throws {
        let provider = Provider<PluginTarget>.stubbed(DefaultHeadersPlugin(userAgent: "a\r\nB: c"))
        let error = await provider.result(PluginTarget()).failure
        #expect(error?.stage == .request)
        #expect(error?.underlying as? InvalidRequest == .invalidHeaderValue(name: "User-Agent"))
    }
}
