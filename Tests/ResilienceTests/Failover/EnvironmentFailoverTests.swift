// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitResilience
import TargetKitTesting
import TestSupport
import Testing

@Suite("Failover in an environment", .throttled, .timeLimit(.minutes(1)))
struct EnvironmentFailoverTests {
    private static let test = ServerEnvironment(
        "test",
        baseURL: "https://api.test.example/v1",
        headers: ["X-Tester": "yes"]
    )
    private static let production = ServerEnvironment("production", baseURL: "https://api.example")

    @Test("The header fields of an environment are also sent to another host", arguments: [true, false])
    func failover(isSelectedMeanwhile: Bool) async throws {
        let store = EnvironmentStore(
            default: Self.test,
            others: [Self.production],
            storage: MemoryEnvironmentStorage(),
            launch: .ignored
        )
        let sent = Recorder<URLRequest>()
        let hosts = ["https://api.test.example", "https://reserve.example"].compactMap { URL(string: $0) }
        let transport = StubTransport { request in
            sent.append(request.urlRequest)
            guard request.urlRequest.url?.host() != "reserve.example" else { return .status(200) }
            if isSelectedMeanwhile { try store.select("production") }
            return .status(503)
        }
        let provider = Provider<MultiTarget>(
            transport: transport,
            plugins: [EnvironmentPlugin(store), HostFailoverPlugin(hosts: hosts)]
        )
        let response = try await EnvironmentCall.$environments.withValue(store) {
            try await provider.request(EnvironmentCall())
        }
        #expect(response.statusCode == 200)
        #expect(sent.elements.compactMap { $0.url?.host() } == ["api.test.example", "reserve.example"])
        #expect(sent.elements.map { $0.value(forHTTPHeaderField: "X-Tester") } == ["yes", "yes"])
    }
}

private struct EnvironmentCall: EnvironmentTarget {
    @TaskLocal static var environments = EnvironmentStore(
        default: ServerEnvironment("none", baseURL: "https://none.example"),
        storage: MemoryEnvironmentStorage(),
        launch: .ignored
    )

    var path: RequestPath { "/things" }
}
