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

@Suite("Retry budget", .throttled, .timeLimit(.minutes(3)))
struct RetryBudgetTests {
    private let clock = ManualClock()
    private let script = ScriptedTransport(.status(503))

    private func plugin(_ budget: RetryBudget) -> RetryPlugin { RetryPlugin(budget: budget, clock: clock) }

    /// Makes calls one after the other; returns the number of requests.
    private func call(_ times: Int, _ plugin: RetryPlugin, scope: RequestScope = RequestScope()) async -> Int {
        let before = script.requests.count
        // The provider has a clock of its own, so that its delays do not move the window.
        let waits = ManualClock()
        let provider = Provider<SturdyTarget>(
            transport: script.transport,
            plugins: [plugin],
            scope: scope,
            clock: waits
        )
        _ = await waits.stepping { for _ in 0..<times { _ = await provider.result(SturdyTarget()) } }
        return script.requests.count - before
    }

    @Test(
        "In an outage there is at most a fifth more, and ten in any case",
        arguments: [(1, 3), (2, 6), (5, 15), (6, 16), (10, 20), (50, 60), (100, 120), (155, 186)]
    )
    func standard(_ calls: Int, _ requests: Int) async {
        #expect(await call(calls, plugin(RetryBudget())) == requests)
    }

    @Test(
        "Share and minimum can be set",
        arguments: [
            (RetryBudget(share: 0, minimum: 0), 10), (RetryBudget(share: 0, minimum: 3), 13),
            (RetryBudget(share: 0.5, minimum: 0), 15), (RetryBudget(share: 1, minimum: 0), 20),
            (RetryBudget.unlimited, 30), (RetryBudget(share: -1, minimum: -1), 10),
        ]
    )
    func settings(_ budget: RetryBudget, _ requests: Int) async {
        #expect(await call(10, plugin(budget)) == requests)
    }

    @Test("Calls and repetitions before the window do not count")
    func window() async {
        let plugin = plugin(RetryBudget(share: 0, minimum: 3, window: .seconds(60)))
        let scope = RequestScope()
        #expect(await call(5, plugin, scope: scope) == 8)
        clock.advance(by: .seconds(53))
        #expect(await call(5, plugin, scope: scope) == 5)
        clock.advance(by: .seconds(7))
        #expect(await call(5, plugin, scope: scope) == 8)
        // Calls before the window allow no repetitions either.
        let share = RetryPlugin(budget: RetryBudget(share: 1, minimum: 0, window: .seconds(60)), clock: clock)
        #expect(await call(5, share, scope: scope) == 10)
        clock.advance(by: .seconds(60))
        #expect(await call(1, share, scope: scope) == 2)
    }

    @Test("Each scope has a budget; scopes with a parent have the outermost parent's")
    func scopes() async {
        let plugin = plugin(RetryBudget(share: 0, minimum: 2))
        let session = RequestScope()
        #expect(await call(3, plugin, scope: RequestScope(parent: RequestScope(parent: session))) == 5)
        #expect(await call(3, plugin, scope: RequestScope(parent: session)) == 3)
        #expect(await call(3, plugin, scope: session) == 3)
        #expect(await call(3, plugin, scope: RequestScope()) == 5)
    }

    @Test("A scope at the address of a released one has a budget of its own")
    func reusedPlace() async throws {
        let plugin = plugin(RetryBudget(share: 0, minimum: 1))
        let request = URLRequest(url: .shop)
        let failure = TargetKitError(stage: .transport, request: request, underlying: URLError(.timedOut))
        // The allocator soon reuses the address, unless a sanitizer prevents it.
        for _ in 0..<200 {
            let context = RequestContext(target: SturdyTarget(), attempt: 0, scope: RequestScope())
            plugin.willSend(try await plugin.prepare(request, context: context), context: context)
            let decision = await plugin.retry(.failure(failure), context: context)
            guard case .retry = decision else {
                Issue.record("the budget is that of a released scope")
                return
            }
        }
    }

    @Test("Copies of a plugin, and the providers it serves, share the budget of a scope")
    func copies() async {
        let plugin = plugin(RetryBudget(share: 0, minimum: 2))
        let (copy, scope) = (plugin, RequestScope())
        #expect(await call(1, plugin, scope: scope) == 3)
        #expect(await call(1, copy, scope: scope) == 1)
    }

    @Test("A hundred calls at once have at most twenty repetitions", arguments: [1, 2, 3])
    func together(_ round: Int) async {
        let (held, waits) = (Gate(), ManualClock())
        let counted = Tally()
        let provider = Provider<SturdyTarget>(
            transport: StubTransport { _ in
                counted.add()
                try await held.waitUnlessCancelled()
                return .status(503)
            },
            plugins: [RetryPlugin(clock: clock)],
            clock: waits
        )
        let calls = (0..<100).map { _ in Task { await provider.result(SturdyTarget()) } }
        try? await counted.wait(for: 100)
        let results = await waits.stepping {
            held.open()
            for call in calls { _ = await call.value }
        }
        #expect(counted.value == 120)
        #expect(results.sleeps.count <= 20)
    }
}
