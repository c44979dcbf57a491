// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Waits for connectivity", .timeLimit(.minutes(1)))
struct WaitsForConnectivityPluginTests {
    private let source = ManualConnectivity(.offline)
    private let clock = ManualClock()
    private let sent = Recorder<URLRequest>()
    private static let online = Reachability.Status.online(.wifi, isExpensive: false)

    private var reachability: Reachability { Reachability(source: source) }

    private func provider(
        _ plugins: [any Plugin],
        scope: RequestScope = RequestScope(),
        _ answer: @escaping @Sendable (Int) throws -> SampleResponse = { _ in .response(status: 200, data: Data()) }
    ) -> Provider<PluginTarget> {
        let transport = StubTransport { [sent] request in
            sent.append(request.urlRequest)
            return try answer(sent.count)
        }
        return Provider(transport: transport, plugins: plugins, scope: scope)
    }

    @Test("A call goes out at once while online, and while nothing is known", arguments: [online, .unknown])
    func goesOut(_ status: Reachability.Status) async {
        source.set(status)
        let provider = provider([WaitsForConnectivityPlugin(reachability, clock: clock)])
        #expect(await provider.result(PluginTarget()).failure == nil)
        #expect(clock.sleeperCount == 0)
    }

    @Test("The plugin starts the reachability that it is given")
    func starts() {
        let reachability = reachability
        _ = WaitsForConnectivityPlugin(reachability)
        _ = WaitsForConnectivityPlugin(reachability)
        #expect(reachability.status == .offline)
        #expect(source.startCount == 1)
    }

    @Test("While offline calls are held, and all go out when online again", arguments: [1, 50])
    func held(_ count: Int) async {
        let provider = provider([WaitsForConnectivityPlugin(reachability, timeout: .seconds(30), clock: clock)])
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<count { group.addTask { await provider.result(PluginTarget()).failure == nil } }
            await clock.waitForSleepers(count)
            #expect(sent.count == 0)
            #expect(clock.remainingSleeps == Array(repeating: .seconds(30), count: count))
            clock.advance(by: .seconds(29))
            source.set(Self.online)
            for await succeeded in group { #expect(succeeded) }
        }
        #expect(sent.count == count)
        #expect(clock.sleeperCount == 0)
    }

    @Test("A call that is held goes on when the reachability is stopped, since nothing is known then")
    func stopped() async {
        let reachability = reachability
        let provider = provider([WaitsForConnectivityPlugin(reachability, clock: clock)])
        async let result = provider.result(PluginTarget())
        await clock.waitForSleepers()
        reachability.stop()
        #expect(await result.failure == nil)
    }

    @Test("After the time the call fails as offline, and nothing has been sent")
    func timesOut() async throws {
        let log = RecordingPlugin()
        let waits = WaitsForConnectivityPlugin(reachability, timeout: .seconds(30), clock: clock)
        async let result = provider([waits, log]).result(PluginTarget())
        await clock.waitForSleepers()
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
        #expect(log.events == [.process(.failure(.request))])
    }

    @Test("After the time the call is sent, if that is what is wanted")
    func sendsAfterTime() async {
        let plugin = WaitsForConnectivityPlugin(reachability, timeout: .seconds(30), ending: .send, clock: clock)
        async let result = provider([plugin]).result(PluginTarget())
        await clock.waitForSleepers()
        #expect(sent.count == 0)
        clock.advance(by: .seconds(30))
        #expect(await result.failure == nil)
        #expect(sent.count == 1)
    }

    @Test("No time at all means not to wait", arguments: [Duration.zero, .seconds(-1)])
    func noTime(_ timeout: Duration) async {
        let plugin = WaitsForConnectivityPlugin(reachability, timeout: timeout, clock: clock)
        #expect(await provider([plugin]).result(PluginTarget()).failure?.kind == .offline)
        #expect(sent.count == 0)
    }

    @Test("The longest time that there is does not trap")
    func longestTime() async {
        let longest = Duration(secondsComponent: .max, attosecondsComponent: 0)
        let plugin = WaitsForConnectivityPlugin(reachability, timeout: longest)
        let held = RecordingPlugin(prepare: { request, _ in request })
        let (source, reachability) = (source, reachability)
        async let result = provider([held, plugin]).result(PluginTarget())
        await held.log.events.waitForCount(1)
        _ = reachability
        source.set(Self.online)
        #expect(await result.failure == nil)
    }

    @Test("A held call can be cancelled; the others stay held")
    func cancels() async {
        let scope = RequestScope()
        let provider = provider([WaitsForConnectivityPlugin(reachability, clock: clock)], scope: scope)
        let first = Task { await provider.result(PluginTarget()) }
        await clock.waitForSleepers(1)
        async let second = provider.result(PluginTarget())
        await clock.waitForSleepers(2)
        #expect(scope.inFlightCount == 2)
        first.cancel()
        #expect(await first.value.failure?.stage == .cancelled)
        #expect(clock.sleeperCount == 1)
        source.set(Self.online)
        #expect(await second.failure == nil)
        #expect(sent.count == 1)
        #expect(scope.inFlightCount == 0)
    }

    @Test("A call that is held comes and goes with the network while it is held")
    func flapping() async {
        let plugin = WaitsForConnectivityPlugin(reachability, clock: clock)
        let provider = provider([plugin])
        for round in 1...20 {
            source.set(.offline)
            async let result = provider.result(PluginTarget())
            await clock.waitForSleepers(1)
            source.set(Self.online)
            #expect(await result.failure == nil)
            #expect(sent.count == round)
        }
    }

    @Test("A target that opts out is not held, nor what the closure excepts, nor a call to this machine")
    func optOut() async throws {
        let waits = WaitsForConnectivityPlugin(reachability, clock: clock)
        let transport = StubTransport { _ in .response(status: 200, data: Data()) }
        let search = Provider<SearchTarget>(transport: transport, plugins: [waits])
        #expect(await search.result(SearchTarget()).failure == nil)
        #expect(
            await Provider<MultiTarget>(transport: transport, plugins: [waits]).result(MultiTarget(SearchTarget()))
                .failure == nil
        )
        let excepting = WaitsForConnectivityPlugin(reachability, clock: clock) { !($0 is PluginTarget) }
        #expect(await provider([excepting]).result(PluginTarget()).failure == nil)
        for host in ["localhost:8080", "127.0.0.1", "127.1.2.3:80", "[::1]:8080", "LOCALHOST"] {
            let target = PluginTarget(baseURL: try #require(URL(string: "http://\(host)")))
            #expect(await provider([waits]).result(target).failure == nil, "\(host)")
        }
        #expect(clock.sleeperCount == 0)
    }

    @Test(
        "A call that failed for want of a network is held and sent again",
        arguments: [
            .notConnectedToInternet, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .timedOut,
        ] as [URLError.Code]
    )
    func sendsAgain(_ code: URLError.Code) async {
        source.set(Self.online)
        let source = source
        let plugin = WaitsForConnectivityPlugin(reachability, clock: clock)
        let provider = provider([plugin]) { number in
            guard number == 1 else { return .response(status: 200, data: Data()) }
            source.set(.offline)
            throw URLError(code)
        }
        async let result = provider.result(PluginTarget())
        await clock.waitForSleepers()
        #expect(sent.count == 1)
        source.set(Self.online)
        #expect(await result.failure == nil)
        #expect(sent.count == 2)
    }

    @Test("A failure that is not for want of a network stands", arguments: [true, false])
    func otherFailures(isOnline: Bool) async {
        let codes: [URLError.Code] =
            isOnline
            ? [.cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .timedOut]
            : [.serverCertificateUntrusted, .secureConnectionFailed, .httpTooManyRedirects, .dataLengthExceedsMaximum]
        for code in codes {
            source.set(Self.online)
            let source = source
            let plugin = WaitsForConnectivityPlugin(reachability, clock: clock)
            let before = sent.count
            let provider = provider([plugin]) { _ in
                if !isOnline { source.set(.offline) }
                throw URLError(code)
            }
            #expect(await provider.result(PluginTarget()).failure != nil)
            #expect(sent.count == before + 1, "\(code)")
        }
    }

    @Test(
        "A call is sent again only if that does no harm",
        arguments: [
            (.get, 2), (.head, 2), (.put, 2), (.delete, 2), (.options, 2), (.query, 2), (.post, 1), (.patch, 1),
            ("BUY", 1),
        ] as [(HTTPMethod, Int)]
    )
    func idempotent(method: HTTPMethod, attempts: Int) async {
        source.set(Self.online)
        let plugin = WaitsForConnectivityPlugin(reachability, clock: clock)
        let provider = provider([plugin]) { _ in throw URLError(.notConnectedToInternet) }
        #expect(await provider.result(PluginTarget(method: method)).failure?.kind == .offline)
        #expect(sent.count == attempts)
        let keyed = PluginTarget(method: method, headers: ["Idempotency-Key": "7"])
        #expect(await provider.result(keyed).failure?.kind == .offline)
        #expect(sent.count == attempts + 2)
    }

    @Test("It is sent again as often as is said, and not for a target that opts out", arguments: [0, 1, 3])
    func repetitions(_ count: Int) async {
        source.set(Self.online)
        let offline: @Sendable (Int) throws -> SampleResponse = { _ in throw URLError(.notConnectedToInternet) }
        let plugin = WaitsForConnectivityPlugin(reachability, repetitions: count, clock: clock)
        #expect(await provider([plugin], offline).result(PluginTarget()).failure?.kind == .offline)
        #expect(sent.count == count + 1)
        let excepting = WaitsForConnectivityPlugin(reachability, repetitions: count, clock: clock) { _ in false }
        #expect(await provider([excepting], offline).result(PluginTarget()).failure?.kind == .offline)
        #expect(sent.count == count + 2)
    }

    @Test("A limit for the whole call covers the time that it is held")
    func wholeCall() async throws {
        let plugin = WaitsForConnectivityPlugin(reachability, timeout: .seconds(600), clock: clock)
        let provider = Provider<PluginTarget>(plugins: [plugin], timeout: .wholeCall(.seconds(30)), clock: clock)
        async let result = provider.result(PluginTarget())
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(30))
        let error = try #require(await result.failure)
        #expect(error.kind == .timedOut)
        #expect(error.stage == .transport)
    }

    @Test("However a call ends, nothing stays asleep", arguments: CallEnding.allCases)
    func endings(_ ending: CallEnding) async {
        source.set(Self.online)
        _ = await ending.run(through: WaitsForConnectivityPlugin(reachability, clock: clock))
        #expect(clock.sleeperCount == 0)
    }
}

/// A target whose calls are of no use later.
private struct SearchTarget: ConnectivityTarget {
    var baseURL: URL { .shop }
    var path: RequestPath { "/search" }
    var waitsForConnectivity: Bool { false }
}
