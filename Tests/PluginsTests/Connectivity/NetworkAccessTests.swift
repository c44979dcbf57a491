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

@Suite("Networks that a call may not use", .throttled, .timeLimit(.minutes(3)))
struct NetworkAccessTests {
    private static let wifi = Reachability.Status.online(.wifi, isExpensive: false)
    private static let mobile = Reachability.Status.online(.cellular, isExpensive: true)
    private static let hotspot = Reachability.Status.online(.wifi, isExpensive: true)
    private static let lowData = Reachability.Status.online(.wifi, isExpensive: false, isConstrained: true)

    private let source = ManualConnectivity(wifi)
    private let clock = ManualClock()
    private let sent = Recorder<URLRequest>()

    private func provider(
        _ options: CallOptions,
        timeout: Duration = .seconds(30),
        failsAfterTimeout: Bool = true
    ) -> Provider<PluginTarget> {
        let transport = StubTransport { [sent] request in
            sent.append(request.urlRequest)
            return .response(status: 200, data: Data())
        }
        let plugin = WaitsForConnectivityPlugin(
            Reachability(source: source),
            timeout: timeout,
            failsAfterTimeout: failsAfterTimeout,
            clock: clock
        )
        return Provider(transport: transport, plugins: [plugin], options: options)
    }

    /// An option, a network that it refuses, and one that it allows.
    static let refusals: [(CallOptions, refused: Reachability.Status, allowed: Reachability.Status)] = [
        (.setting(\.allowsCellular, false), mobile, hotspot),
        (.setting(\.allowsExpensive, false), hotspot, lowData),
        (.setting(\.allowsExpensive, false), mobile, wifi),
        (.setting(\.allowsConstrained, false), lowData, mobile),
    ]

    @Test("A call waits for a network that it may use", arguments: refusals)
    func waits(_ options: CallOptions, refused: Reachability.Status, allowed: Reachability.Status) async throws {
        source.set(refused)
        async let result = provider(options).result(PluginTarget())
        try await clock.waitForSleepers()
        #expect(sent.count == 0)
        source.set(allowed)
        #expect(await result.failure == nil)
        #expect(sent.count == 1)
    }

    @Test("A call that may not use the network fails at the timeout", arguments: refusals, [true, false])
    func fails(
        _ refusal: (CallOptions, refused: Reachability.Status, allowed: Reachability.Status),
        failsAfterTimeout: Bool
    ) async throws {
        source.set(refusal.refused)
        async let result = provider(refusal.0, failsAfterTimeout: failsAfterTimeout).result(PluginTarget())
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(30))
        let error = try #require(await result.failure)
        #expect(error.stage == .request)
        #expect(error.kind == .offline)
        #expect((error.underlying as? URLError)?.code == .dataNotAllowed)
        #expect(sent.count == 0)
    }

    @Test("A call that does not wait fails at once", arguments: [true, false])
    func failsAtOnce(hasNoTimeout: Bool) async throws {
        source.set(Self.mobile)
        let options = CallOptions.setting(\.allowsCellular, false)
        let provider = provider(
            hasNoTimeout ? options : options.setting(\.waitsForConnectivity, false),
            timeout: hasNoTimeout ? .zero : .seconds(30)
        )
        let error = try #require(await provider.result(PluginTarget()).failure)
        #expect((error.underlying as? URLError)?.code == .dataNotAllowed)
        #expect(sent.count == 0)
    }

    @Test("A call whose options allow every network uses an expensive one", arguments: [mobile, hotspot, lowData])
    func allowed(_ status: Reachability.Status) async {
        source.set(status)
        #expect(await provider(CallOptions()).result(PluginTarget()).failure == nil)
    }

    @Test("An option of the call overrides that of the provider")
    func overrides() async throws {
        source.set(Self.mobile)
        let provider = provider(.setting(\.allowsCellular, false))
        _ = try await provider.request(PluginTarget(), options: .setting(\.allowsCellular, true))
        #expect(sent.elements.map(\.allowsCellularAccess) == [true])
    }

    @Test("The transport gets a request that may not use a mobile network", arguments: [true, false])
    func transport(allows: Bool) async throws {
        _ = try await provider(.setting(\.allowsCellular, allows)).request(PluginTarget())
        #expect(sent.elements.map(\.allowsCellularAccess) == [allows])
    }

    @Test("Calls that differ in the networks that they may use do not share an exchange")
    func sharing() async throws {
        let gate = Gate()
        let transport = StubTransport { [sent] request in
            sent.append(request.urlRequest)
            await gate.wait()
            return .response(status: 200, data: Data())
        }
        let provider = Provider<PluginTarget>(transport: transport, options: .setting(\.sharesInFlight, true))
        async let first = provider.request(PluginTarget())
        async let second = provider.request(PluginTarget(), options: .setting(\.allowsExpensive, false))
        await sent.waitForCount(2)
        gate.open()
        _ = try await (first, second)
    }
}
