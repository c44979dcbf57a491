// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitDiagnostics
import TargetKitTesting
import TestSupport
import Testing

@Suite("Page: Metrics", .throttled, .timeLimit(.minutes(2)))
struct MetricsPageTests {
    enum Tea: TargetType {
        case latest

        var baseURL: URL { .shop }
        var path: RequestPath { "/teas/latest" }
    }

    @Test("Calls are reported and summed up")
    func metrics() async throws {
        let lines = Recorder<String>()
        let log: @Sendable (String) -> Void = { lines.append($0) }
        let transport = StubTransport(.response(status: 200, data: Data("{}".utf8)))
        let metrics = MetricsPlugin { call in
            guard call.duration > .seconds(2) else { return }
            log("\(call.endpoint): \(call.duration), \(call.attempts.count) attempts, \(call.bytesReceived) bytes")
        }
        let provider = Provider<Tea>(transport: transport, plugins: [metrics])
        _ = try await provider.request(.latest)
        for (endpoint, summary) in metrics.summaries {
            log("\(endpoint): \(summary.callCount) calls, p50 \(summary.percentile(0.5) ?? .zero)")
        }
        #expect(lines.elements.last?.hasPrefix("GET Tea.latest: 1 calls, p50 ") == true)
        let lastMinute = metrics.reset()
        #expect(lastMinute["GET Tea.latest"]?.callCount == 1)
        let byPath = MetricsPlugin(name: { target in target is Tea ? "GET /teas/:id" : "other" })
        _ = try await Provider<Tea>(transport: transport, plugins: [byPath]).request(.latest)
        #expect(byPath.summaries.keys.sorted() == ["GET /teas/:id"])
    }
}
