// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

@Suite("Page: connectivity", .throttled, .timeLimit(.minutes(3)))
struct ConnectivityPageTests {
    enum Orders: TargetType {
        case order(id: String)
        case suggestions(text: String)

        var baseURL: URL { .shop }

        var path: RequestPath {
            switch self {
            case .order(let id): "/orders/\(id)"
            case .suggestions: "/suggestions"
            }
        }

        var options: CallOptions {
            switch self {
            case .order: .init()
            case .suggestions: .setting(\.waitsForConnectivity, false)
            }
        }
    }

    enum Photos: TargetType {
        case preview, original

        var baseURL: URL { .shop }
        var path: RequestPath { "/photos" }

        var options: CallOptions {
            switch self {
            case .preview: .init()
            case .original: .setting(\.allowsExpensive, false)
            }
        }
    }

    @Test("A target whose calls do not all use an expensive network")
    func expensive() async throws {
        let transport = StubTransport { _ in .response(status: 200, data: Data()) }
        let reachability = Reachability(ManualConnectivity(.online(.cellular, isExpensive: true)))
        let waiting = WaitsForConnectivityPlugin(reachability, timeout: .zero)
        let provider = Provider<Photos>(transport: transport, plugins: [waiting])
        #expect(try await provider.request(.preview).statusCode == 200)
        #expect(await provider.result(.original).failure?.kind == .offline)
    }

    private static let online = Reachability.Status.online(.wifi, isExpensive: false)
    private let shown = Recorder<String>()

    @Test("A screen that shows the status")
    func showing() async {
        let connectivity = ManualConnectivity(.offline)
        let banner = { [shown] (text: String) in shown.append(text) }

        func watch(_ reachability: Reachability) async {
            for await status in reachability.statuses {
                switch status {
                case .unknown: banner("")
                case .offline: banner("No connection")
                case .online(let link, let isExpensive, _): banner(isExpensive ? "\(link), costs money" : "\(link)")
                }
            }
        }

        let reachability = Reachability(connectivity)
        reachability.start()
        let watching = Task { await watch(reachability) }
        await shown.waitForCount(1)
        connectivity.set(.online(.cellular, isExpensive: true))
        await shown.waitForCount(2)
        connectivity.set(Self.online)
        #expect(await shown.waitForCount(3) == ["No connection", "cellular, costs money", "wifi"])
        watching.cancel()
        await watching.value
    }

    @Test("A provider whose calls wait")
    func provider() async throws {
        let transport = StubTransport { _ in .response(status: 200, data: Data()) }
        let reachability = Reachability()
        reachability.set(.offline)
        let waiting = WaitsForConnectivityPlugin(reachability, timeout: .seconds(30))
        let provider = Provider<Orders>(transport: transport, plugins: [waiting, DefaultHeadersPlugin()])
        async let order = provider.request(.order(id: "A1"))
        reachability.set(.online(.wifi, isExpensive: false))
        #expect(try await order.statusCode == 200)
    }

    @Test("A call that waits until its timeout, and one that does not wait")
    func waiting() async throws {
        let transport = StubTransport { _ in .response(status: 200, data: Data()) }
        let clock = ManualClock()
        let reachability = Reachability(ManualConnectivity(.offline))
        let waiting = WaitsForConnectivityPlugin(reachability, timeout: .seconds(30), clock: clock)
        let provider = Provider<Orders>(transport: transport, plugins: [waiting])
        #expect(try await provider.request(.suggestions(text: "te")).statusCode == 200)
        async let late = provider.result(.order(id: "A1"))
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(30))
        #expect(await late.failure?.kind == .offline)
    }

    @Test("A closed network")
    func closedNetwork() async throws {
        #if os(Linux)
        let closedNetwork = Reachability(requiresDefaultRoute: false)
        let plugin = WaitsForConnectivityPlugin(closedNetwork, timeout: .seconds(10), failsAfterTimeout: false)
        let transport = StubTransport { _ in .response(status: 200, data: Data()) }
        let provider = Provider<Orders>(transport: transport, plugins: [plugin])
        #expect(try await provider.request(.suggestions(text: "te")).statusCode == 200)
        #endif
    }
}
