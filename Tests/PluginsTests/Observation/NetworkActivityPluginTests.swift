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

@Suite("Network activity", .throttled, .timeLimit(.minutes(2)))
struct NetworkActivityPluginTests {
    @Test(
        "A call begins and ends once, however it ends, and not at all when it is not sent",
        arguments: CallEnding.allCases
    )
    func balanced(_ ending: CallEnding) async {
        let changes = Recorder<NetworkActivityPlugin.Change>()
        let plugin = NetworkActivityPlugin { change, _ in
            MainActor.assertIsolated()
            changes.append(change)
        }
        _ = await ending.run(through: plugin)
        await MainQueue.settle()
        #expect(changes.elements == (ending.isSent ? [.began, .ended] : []))
    }

    @Test("The closure sees the inner target")
    func target() async throws {
        let targets = Recorder<String>()
        let plugin = NetworkActivityPlugin { _, target in targets.append("\(type(of: target))") }
        _ = try await Provider<MultiTarget>.stubbed(plugin).request(PluginTarget())
        await MainQueue.settle()
        #expect(targets.elements == ["PluginTarget", "PluginTarget"])
    }

    @MainActor private final class Screen {
        var callCount = 0
    }

    @Test("The closure changes what belongs to the main actor")
    func mainActor() async throws {
        let screen = Screen()
        let plugin = NetworkActivityPlugin { change, _ in screen.callCount += change == .began ? 1 : 0 }
        _ = try await Provider<PluginTarget>.stubbed(plugin).request(PluginTarget())
        await MainQueue.settle()
        #expect(await screen.callCount == 1)
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
        await provider.waitForJoinedCalls(2)
        first.cancel()
        #expect(await first.value.failure?.stage == .cancelled)
        await MainQueue.settle()
        #expect(changes.elements == [.began])
        held.gate.open()
        #expect(await second.failure == nil)
        #expect(await changes.waitForCount(2) == [.began, .ended])
        #expect(held.requests.count == 3)
    }
}
