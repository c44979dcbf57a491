// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Network activity", .timeLimit(.minutes(2)))
struct NetworkActivityPluginTests {
    @Test(
        "A call begins and ends once, however it ends, and not at all when it is not sent",
        arguments: CallEnding.allCases
    )
    func balanced(_ ending: CallEnding) async {
        let changes = Recorder<NetworkActivityPlugin.Change>()
        _ = await ending.run(through: NetworkActivityPlugin { change, _ in changes.append(change) })
        #expect(changes.elements == (ending.isSent ? [.began, .ended] : []))
    }

    @Test("The closure sees the inner target")
    func target() async throws {
        let targets = Recorder<String>()
        let plugin = NetworkActivityPlugin { _, target in targets.append("\(type(of: target))") }
        _ = try await Provider<MultiTarget>.stubbed(plugin).request(PluginTarget())
        #expect(targets.elements == ["PluginTarget", "PluginTarget"])
    }

    @Test("Any-in-flight is told once for calls that overlap, over two providers")
    func counted() async {
        let changes = Recorder<Bool>()
        let plugin = NetworkActivityPlugin(anyInFlight: { isActive in changes.append(isActive) })
        let held = HeldTransport()
        let one = Provider<PluginTarget>(transport: held.transport, plugins: [plugin])
        let two = Provider<PlainTarget>(transport: held.transport, plugins: [plugin])
        async let first = one.result(PluginTarget())
        async let second = two.result(.thing(secret: ""))
        await held.requests.waitForCount(2)
        #expect(changes.elements == [true])
        held.gate.open()
        _ = await (first, second)
        #expect(changes.elements == [true, false])
    }

    @Test("Any-in-flight balances however a call ends", arguments: CallEnding.allCases)
    func countedBalance(_ ending: CallEnding) async {
        let changes = Recorder<Bool>()
        _ = await ending.run(through: NetworkActivityPlugin(anyInFlight: { changes.append($0) }))
        #expect(changes.elements == (ending.isSent ? [true, false] : []))
    }

    @Test("Any-in-flight alternates when hundreds of calls come and go at the same time")
    func alternates() async {
        let changes = Recorder<Bool>()
        let plugin = NetworkActivityPlugin(anyInFlight: { changes.append($0) })
        let provider = Provider<PluginTarget>.stubbed(plugin)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<500 { group.addTask { _ = await provider.result(PluginTarget()) } }
        }
        let seen = changes.elements
        #expect(seen.count >= 2)
        #expect(seen == seen.indices.map { $0.isMultiple(of: 2) })
        #expect(seen.last == false)
    }

    @Test("A change that comes from within the closure is told afterwards, not within itself")
    func reentrant() async throws {
        let told = Recorder<String>()
        let box = TestLock<NetworkActivityPlugin?>(nil)
        let request = URLRequest(url: .shop)
        let (first, second) = (RequestContext(target: PluginTarget()), RequestContext(target: PluginTarget()))
        let plugin = NetworkActivityPlugin(anyInFlight: { isActive in
            told.append("\(isActive) begins")
            if !isActive { box.withLock { $0 }?.willSend(request, context: second) }
            told.append("\(isActive) ends")
        })
        box.withLock { $0 = plugin }
        plugin.willSend(request, context: first)
        plugin.didFinish(FinishedCall(result: .success(Response(statusCode: 200))), context: first)
        #expect(
            told.elements == [
                "true begins", "true ends", "false begins", "false ends", "true begins", "true ends",
            ]
        )
        box.withLock { $0 = nil }
    }

    @Test("A shared exchange is one activity until its last attempt, also when its first call was cancelled")
    func sharing() async {
        let changes = Recorder<NetworkActivityPlugin.Change>()
        let held = HeldTransport()
        let again = RecordingPlugin(retry: { _, context in context.attempt < 2 ? .retry(after: .zero) : .doNotRetry })
        let provider = Provider<PluginTarget>(
            transport: held.transport,
            plugins: [NetworkActivityPlugin { change, _ in changes.append(change) }, again],
            options: .setting(\.sharesInFlight, true)
        )
        let first = Task { await provider.result(PluginTarget()) }
        for await count in provider.scope.inFlightCounts where count == 1 { break }
        await held.requests.waitForCount(1)
        async let second = provider.result(PluginTarget())
        for await count in provider.scope.inFlightCounts where count == 2 { break }
        first.cancel()
        #expect(await first.value.failure?.stage == .cancelled)
        #expect(changes.elements == [.began])
        held.gate.open()
        #expect(await second.failure == nil)
        #expect(await changes.waitForCount(2) == [.began, .ended])
        #expect(held.requests.count == 3)
    }
}
