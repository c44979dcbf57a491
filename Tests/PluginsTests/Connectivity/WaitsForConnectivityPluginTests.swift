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

@Suite("Waits for connectivity", .throttled, .timeLimit(.minutes(3)))
struct WaitsForConnectivityPluginTests {
    private let source = ManualConnectivity(.offline)
    private let clock = ManualClock()
    private let sent = Recorder<URLRequest>()
    private static let online = Reachability.Status.online(.wifi, isExpensive: false)

    private var reachability: Reachability { Reachability(source: source) }

    private func provider(_ plugins: [any Plugin], scope: RequestScope = RequestScope()) -> Provider<PluginTarget> {
        let transport = StubTransport { [sent] request in
            sent.append(request.urlRequest)
            return .response(status: 200, data: Data())
        }
        return Provider(transport: transport, plugins: plugins, scope: scope)
    }

    @Test("A call is sent at once while the device is online, or its status unknown", arguments: [online, .unknown])
    func goesOut(_ status: Reachability.Status) async {
        source.set(status)
        let provider = provider([WaitsForConnectivityPlugin(reachability, clock: clock)])
        #expect(await provider.result(PluginTarget()).failure == nil)
        #expect(clock.sleeperCount == 0)
    }

    @Test("The plugin starts its reachability")
    func starts() {
        let reachability = reachability
        _ = WaitsForConnectivityPlugin(reachability)
        _ = WaitsForConnectivityPlugin(reachability)
        #expect(reachability.status == .offline)
        #expect(source.startCount == 1)
    }

    @Test("Calls wait while the device is offline, and are all sent when it is online again", arguments: [1, 50])
    func held(_ count: Int) async {
        let provider = provider([WaitsForConnectivityPlugin(reachability, timeout: .seconds(30), clock: clock)])
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<count { group.addTask { await provider.result(PluginTarget()).failure == nil } }
            try? await clock.waitForSleepers(count, within: .seconds(600))
            #expect(sent.count == 0)
            #expect(clock.remainingSleeps == Array(repeating: .seconds(30), count: count))
            clock.advance(by: .seconds(29))
            source.set(Self.online)
            for await succeeded in group { #expect(succeeded) }
        }
        #expect(sent.count == count)
        #expect(clock.sleeperCount == 0)
    }

    @Test("A waiting call is sent when the reachability is stopped, since the status is unknown then")
    func stopped() async throws {
        let reachability = reachability
        let provider = provider([WaitsForConnectivityPlugin(reachability, clock: clock)])
        async let result = provider.result(PluginTarget())
        try await clock.waitForSleepers()
        reachability.stop()
        #expect(await result.failure == nil)
    }

    @Test("After the timeout the call fails as offline, and nothing has been sent")
    func timesOut() async throws {
        let log = RecordingPlugin()
        let waits = WaitsForConnectivityPlugin(reachability, timeout: .seconds(30), clock: clock)
        async let result = provider([waits, log]).result(PluginTarget())
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(30))
        let error = try #require(await result.failure)
        #expect(error.stage == .request)
        #expect(error.kind == .offline)
        #expect((error.underlying as? URLError)?.code == .notConnectedToInternet)
        #expect(
            error.localizedDescription
                == TargetKitError(stage: .transport, underlying: URLError(.notConnectedToInternet)).localizedDescription
        )
        #expect(sent.count == 0)
        let events: [RecordingPlugin.Event] = [
            .prepare(attempt: 0), .willSend(attempt: 0), .didReceive(attempt: 0, .failure(.request)),
            .process(.failure(.request)),
        ]
        #expect(log.events == events)
    }

    @Test("After the timeout the call is sent, if the plugin says so")
    func sendsAfterTime() async throws {
        let plugin = WaitsForConnectivityPlugin(
            reachability,
            timeout: .seconds(30),
            failsAfterTimeout: false,
            clock: clock
        )
        async let result = provider([plugin]).result(PluginTarget())
        try await clock.waitForSleepers()
        #expect(sent.count == 0)
        clock.advance(by: .seconds(30))
        #expect(await result.failure == nil)
        #expect(sent.count == 1)
    }

    @Test(
        "With a timeout of zero or less, calls do not wait",
        arguments: [.zero, .seconds(-1)] as [Duration],
        [true, false]
    )
    func noTime(_ timeout: Duration, _ fails: Bool) async {
        let plugin = WaitsForConnectivityPlugin(reachability, timeout: timeout, failsAfterTimeout: fails, clock: clock)
        #expect(await provider([plugin]).result(PluginTarget()).failure == nil)
        #expect(sent.count == 1)
        #expect(clock.sleeperCount == 0)
    }

    @Test("The longest duration does not trap")
    func longestTime() async {
        let longest = Duration(secondsComponent: .max, attosecondsComponent: 0)
        let plugin = WaitsForConnectivityPlugin(reachability, timeout: longest)
        let held = RecordingPlugin(place: .environment)
        let (source, reachability) = (source, reachability)
        async let result = provider([plugin, held]).result(PluginTarget())
        await held.waitForEvents(1)
        _ = reachability
        source.set(Self.online)
        #expect(await result.failure == nil)
    }

    @Test("A waiting call can be cancelled; others still wait")
    func cancels() async throws {
        let scope = RequestScope()
        let provider = provider([WaitsForConnectivityPlugin(reachability, clock: clock)], scope: scope)
        let first = Task { await provider.result(PluginTarget()) }
        try await clock.waitForSleepers(1)
        async let second = provider.result(PluginTarget())
        try await clock.waitForSleepers(2)
        #expect(scope.inFlightCount == 2)
        first.cancel()
        #expect(await first.value.failure?.stage == .cancelled)
        #expect(clock.sleeperCount == 1)
        source.set(Self.online)
        #expect(await second.failure == nil)
        #expect(sent.count == 1)
        #expect(scope.inFlightCount == 0)
    }

    @Test("Calls wait each time the device is offline")
    func flapping() async throws {
        let plugin = WaitsForConnectivityPlugin(reachability, clock: clock)
        let provider = provider([plugin])
        for round in 1...20 {
            source.set(.offline)
            async let result = provider.result(PluginTarget())
            try await clock.waitForSleepers(1)
            source.set(Self.online)
            #expect(await result.failure == nil)
            #expect(sent.count == round)
        }
    }

    @Test("A call does not wait if its target, its options or the closure say so, nor does a call to this machine")
    func optOut() async throws {
        let waits = WaitsForConnectivityPlugin(reachability, clock: clock)
        let transport = StubTransport { _ in .response(status: 200, data: Data()) }
        let search = Provider<SearchTarget>(transport: transport, plugins: [waits])
        #expect(await search.result(SearchTarget()).failure == nil)
        #expect(
            await Provider<MultiTarget>(transport: transport, plugins: [waits]).result(MultiTarget(SearchTarget()))
                .failure == nil
        )
        let suggestion = await Result { () async throws(TargetKitError) in
            try await provider([waits]).request(PluginTarget(), options: .setting(\.waitsForConnectivity, false))
        }
        #expect(suggestion.failure == nil)
        let excepting = WaitsForConnectivityPlugin(reachability, clock: clock) { !($0 is PluginTarget) }
        #expect(await provider([excepting]).result(PluginTarget()).failure == nil)
        for host in ["localhost:8080", "127.0.0.1", "127.1.2.3:80", "[::1]:8080", "LOCALHOST"] {
            let target = PluginTarget(baseURL: try #require(URL(string: "http://\(host)")))
            #expect(await provider([waits]).result(target).failure == nil, "\(host)")
        }
        #expect(clock.sleeperCount == 0)
    }

    @Test("A limit for the whole call includes the wait")
    func wholeCall() async throws {
        let plugin = WaitsForConnectivityPlugin(reachability, timeout: .seconds(600), clock: clock)
        let provider = Provider<PluginTarget>(
            plugins: [plugin],
            options: .setting(\.timeout, .wholeCall(.seconds(30))),
            clock: clock
        )
        async let result = provider.result(PluginTarget())
        try await clock.waitForSleepers(2)
        clock.advance(by: .seconds(30))
        let error = try #require(await result.failure)
        #expect(error.kind == .timedOut)
        #expect(error.stage == .transport)
    }

    @Test("However a call ends, nothing waits any more", arguments: CallEnding.allCases)
    func endings(_ ending: CallEnding) async {
        source.set(Self.online)
        _ = await ending.run(through: WaitsForConnectivityPlugin(reachability, clock: clock))
        #expect(clock.sleeperCount == 0)
    }
}

/// A target that opts out.
private struct SearchTarget: TargetType {
    var baseURL: URL { .shop }
    var path: RequestPath { "/search" }
    var options: CallOptions { .setting(\.waitsForConnectivity, false) }
}
