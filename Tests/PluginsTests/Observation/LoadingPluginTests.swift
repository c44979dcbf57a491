// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

@Suite("Loading", .throttled, .timeLimit(.minutes(2)))
struct LoadingPluginTests {
    private let shown = Recorder<Bool>()

    /// What has been shown when the closures have run.
    private var settled: [Bool] {
        get async {
            await MainQueue.settle()
            return shown.elements
        }
    }

    private func plugin() -> LoadingPlugin {
        LoadingPlugin { [shown] isLoading in
            MainActor.assertIsolated()
            shown.append(isLoading)
        }
    }

    @MainActor private final class Overlay {
        var isHidden = true
    }

    @Test("The closure changes what belongs to the main actor")
    func mainActor() async {
        let overlay = Overlay()
        let held = HeldTransport()
        let plugin = LoadingPlugin { isLoading in overlay.isHidden = !isLoading }
        let provider = Provider<PluginTarget>(transport: held.transport, plugins: [plugin])
        async let result = provider.result(PluginTarget())
        await held.requests.waitForCount(1)
        await MainQueue.settle()
        #expect(await !overlay.isHidden)
        held.gate.open()
        _ = await result
        await MainQueue.settle()
        #expect(await overlay.isHidden)
    }

    @Test("It is shown and hidden once, however the call ends", arguments: CallEnding.allCases)
    func balanced(_ ending: CallEnding) async {
        _ = await ending.run(through: plugin())
        #expect(await settled == (ending.isPrepared ? [true, false] : []))
    }

    @Test("It stays until the last of the calls ends, over two providers")
    func overlapping() async {
        let plugin = plugin()
        let (one, two) = (HeldTransport(), HeldTransport())
        let first = Provider<PluginTarget>(transport: one.transport, plugins: [plugin])
        let second = Provider<PlainTarget>(transport: two.transport, plugins: [plugin])
        async let oneResult = first.result(PluginTarget())
        async let twoResult = second.result(.thing(secret: ""))
        await one.requests.waitForCount(1)
        await two.requests.waitForCount(1)
        one.gate.open()
        _ = await oneResult
        #expect(await settled == [true])
        two.gate.open()
        _ = await twoResult
        #expect(await settled == [true, false])
    }

    @Test("It alternates when hundreds of calls come and go at the same time")
    func alternates() async {
        let provider = Provider<PluginTarget>.stubbed(plugin())
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<500 { group.addTask { _ = await provider.result(PluginTarget()) } }
        }
        let shown = await settled
        #expect(shown.count >= 2)
        #expect(shown == shown.indices.map { $0.isMultiple(of: 2) })
        #expect(shown.last == false)
    }

    @Test("Cancel-all leaves nothing shown")
    func cancelAll() async {
        let held = HeldTransport()
        let provider = Provider<PluginTarget>(transport: held.transport, plugins: [plugin()])
        let ended = Expectation(count: 20)
        for _ in 0..<20 { provider.request(PluginTarget(), on: .global()) { _ in ended.fulfill() } }
        await held.requests.waitForCount(20)
        provider.cancelAll()
        await ended.wait()
        #expect(await settled == [true, false])
    }

    @Test("A target opts out by its options, and a call by its own")
    func options() async throws {
        let provider = Provider<PluginTarget>.stubbed(plugin())
        _ = await provider.result(PluginTarget(showsLoading: false))
        _ = try await provider.request(PluginTarget(), options: .setting(\.showsLoading, false))
        #expect(await settled == [])
        _ = try await provider.request(PluginTarget(showsLoading: false), options: .setting(\.showsLoading, true))
        #expect(await settled == [true, false])
    }

    @Test("A stream is shown until the end of its body")
    func stream() async throws {
        let transport = StreamingTransport()
        let provider = Provider<PluginTarget>(transport: transport, plugins: [plugin()])
        let stream = try await provider.stream(PluginTarget())
        #expect(await settled == [true])
        transport.gate.open()
        for try await _ in stream {}
        #expect(await settled == [true, false])
    }

    @Test("Calls that share an exchange are shown once, until each has ended")
    func sharing() async {
        let held = HeldTransport()
        let provider = Provider<PluginTarget>(
            transport: held.transport,
            plugins: [plugin()],
            options: .setting(\.sharesInFlight, true)
        )
        let first = Task { await provider.result(PluginTarget()) }
        async let second = provider.result(PluginTarget())
        await provider.waitForJoinedCalls(2)
        await held.requests.waitForCount(1)
        first.cancel()
        #expect(await first.value.failure?.stage == .cancelled)
        #expect(await settled == [true])
        held.gate.open()
        #expect(await second.failure == nil)
        #expect(await settled == [true, false])
    }

    @Test("A change within the closure is reported afterwards")
    func reentrant() async throws {
        let told = Recorder<String>()
        let box = Locked<LoadingPlugin?>(nil)
        let (first, second) = (RequestContext(target: PluginTarget()), RequestContext(target: PluginTarget()))
        let end = FinishedCall(result: .success(Response(statusCode: 200)))
        let plugin = LoadingPlugin { isLoading in
            told.append("\(isLoading) begins")
            if isLoading { box.withLock { $0 }?.didFinish(end, context: first) }
            told.append("\(isLoading) ends")
        }
        box.withLock { $0 = plugin }
        _ = try await plugin.prepare(URLRequest(url: .shop), context: first)
        await told.waitForCount(4)
        #expect(told.elements == ["true begins", "true ends", "false begins", "false ends"])
        box.withLock { $0 = nil }
        _ = try await plugin.prepare(URLRequest(url: .shop), context: second)
        await told.waitForCount(6)
        #expect(told.elements.suffix(2) == ["true begins", "true ends"])
    }
}

@Suite("Loading, timed", .throttled, .timeLimit(.minutes(2)))
struct LoadingTimingTests {
    private let shown = Recorder<Bool>()
    private let clock = ManualClock()

    /// What has been shown when the closures have run.
    private var settled: [Bool] {
        get async {
            await MainQueue.settle()
            return shown.elements
        }
    }

    private func plugin(delay: Duration = .zero, shortest: Duration = .zero) -> LoadingPlugin {
        LoadingPlugin(delay: delay, shortest: shortest, clock: clock) { [shown] in shown.append($0) }
    }

    private func provider(_ held: HeldTransport, _ plugin: LoadingPlugin) -> Provider<PluginTarget> {
        Provider(transport: held.transport, plugins: [plugin])
    }

    @Test("A call that is over before the delay is never shown, and no timer stays")
    func quick() async throws {
        let held = HeldTransport()
        let provider = provider(held, plugin(delay: .seconds(1)))
        async let result = provider.result(PluginTarget())
        await held.requests.waitForCount(1)
        try await clock.waitForSleepers()
        clock.advance(by: .milliseconds(999))
        held.gate.open()
        _ = await result
        #expect(clock.sleeperCount == 0)
        clock.advance(by: .seconds(10))
        #expect(await settled == [])
    }

    @Test("A call that outlasts the delay is shown then, and hidden at its end")
    func slow() async throws {
        let held = HeldTransport()
        let provider = provider(held, plugin(delay: .seconds(1)))
        async let result = provider.result(PluginTarget())
        try await clock.waitForSleepers()
        #expect(clock.remainingSleeps == [.seconds(1)])
        clock.advance(by: .seconds(1))
        #expect(await shown.waitForCount(1) == [true])
        await held.requests.waitForCount(1)
        held.gate.open()
        _ = await result
        #expect(await shown.waitForCount(2) == [true, false])
    }

    @Test("The delay counts from the first of the calls that overlap")
    func delayOfOverlap() async throws {
        let plugin = plugin(delay: .seconds(1))
        let (one, two) = (HeldTransport(), HeldTransport())
        async let first = provider(one, plugin).result(PluginTarget())
        try await clock.waitForSleepers()
        clock.advance(by: .milliseconds(600))
        async let second = provider(two, plugin).result(PluginTarget())
        await two.requests.waitForCount(1)
        one.gate.open()
        _ = await first
        #expect(await settled == [])
        #expect(clock.remainingSleeps == [.milliseconds(400)])
        clock.advance(by: .milliseconds(400))
        #expect(await shown.waitForCount(1) == [true])
        two.gate.open()
        _ = await second
        #expect(await shown.waitForCount(2) == [true, false])
    }

    @Test("The delay starts anew when no call is left")
    func delayStartsAnew() async throws {
        let plugin = plugin(delay: .seconds(1))
        let (one, two) = (HeldTransport(), HeldTransport())
        async let first = provider(one, plugin).result(PluginTarget())
        try await clock.waitForSleepers()
        clock.advance(by: .milliseconds(600))
        one.gate.open()
        _ = await first
        async let second = provider(two, plugin).result(PluginTarget())
        try await clock.waitForSleepers()
        #expect(clock.remainingSleeps == [.seconds(1)])
        clock.advance(by: .milliseconds(999))
        two.gate.open()
        _ = await second
        #expect(await settled == [])
    }

    @Test("What is shown stays for the shortest time")
    func shortest() async throws {
        let held = HeldTransport()
        let provider = provider(held, plugin(shortest: .seconds(1)))
        async let result = provider.result(PluginTarget())
        await held.requests.waitForCount(1)
        clock.advance(by: .milliseconds(300))
        held.gate.open()
        _ = await result
        #expect(await settled == [true])
        try await clock.waitForSleepers()
        #expect(clock.remainingSleeps == [.milliseconds(700)])
        clock.advance(by: .milliseconds(700))
        #expect(await shown.waitForCount(2) == [true, false])
    }

    @Test("A call that begins in the shortest time keeps it shown, without a flicker")
    func bridged() async throws {
        let held = HeldTransport()
        held.gate.open()
        let provider = provider(held, plugin(shortest: .seconds(1)))
        _ = await provider.result(PluginTarget())
        try await clock.waitForSleepers()
        clock.advance(by: .milliseconds(500))
        _ = await provider.result(PluginTarget())
        #expect(await settled == [true])
        try await clock.waitForSleepers()
        clock.advance(by: .milliseconds(500))
        #expect(await shown.waitForCount(2) == [true, false])
    }

    @Test("What has been shown long enough is hidden at once")
    func longShown() async {
        let held = HeldTransport()
        let provider = provider(held, plugin(shortest: .seconds(1)))
        async let result = provider.result(PluginTarget())
        await held.requests.waitForCount(1)
        clock.advance(by: .seconds(5))
        held.gate.open()
        _ = await result
        #expect(await settled == [true, false])
        #expect(clock.sleeperCount == 0)
    }
}
