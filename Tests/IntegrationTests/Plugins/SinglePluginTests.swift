// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitResilience
import TargetKitTesting
import TestSupport
import Testing

@Suite("Plugins of which a provider has only one", .throttled)
struct SinglePluginTests {
    static let plugins: [any Plugin] = [
        RetryPlugin(), WaitsForConnectivityPlugin(Reachability(ManualConnectivity(.offline))),
    ]

    @Test("A call of a provider with two of them fails, and its error names the type", arguments: 0..<plugins.count)
    func repeated(_ index: Int) async throws {
        let plugin = Self.plugins[index]
        let sent = Recorder<Void>()
        let transport = StubTransport { _ in
            sent.append(())
            return .response(status: 200, data: Data())
        }
        let log = RecordingPlugin()
        let provider = Provider<PluginTarget>(
            transport: transport,
            plugins: [plugin, DefaultHeadersPlugin(), plugin, log]
        )
        let error = try #require(await provider.result(PluginTarget()).failure)
        #expect(error.stage == .endpoint)
        #expect(error.kind == .invalidRequest)
        #expect(error.description.contains("two plugins of type \(type(of: plugin))"))
        #expect(sent.count == 0)
        #expect(log.events == [.process(.failure(.endpoint))])
    }

    @Test("A provider can have other plugins more than once")
    func others() async throws {
        let transport = StubTransport { _ in .response(status: 200, data: Data()) }
        let plugins: [any Plugin] = [
            DefaultHeadersPlugin(), DefaultHeadersPlugin(), NetworkLoggerPlugin { _ in }, NetworkLoggerPlugin { _ in },
            RetryPlugin(), CircuitBreakerPlugin(), CircuitBreakerPlugin(key: { request, _ in request.url?.path }),
        ]
        let provider = Provider<PluginTarget>(transport: transport, plugins: plugins)
        #expect(try await provider.request(PluginTarget()).statusCode == 200)
    }
}
