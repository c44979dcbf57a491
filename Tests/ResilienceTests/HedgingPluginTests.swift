// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitResilience
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Hedged requests", .throttled, .timeLimit(.minutes(3)))
struct HedgingPluginTests {
    private let clock = ManualClock()
    private let cancelled = Recorder<Int>()

    /// A transport whose requests end as the test says; `nil`: it waits until it is cancelled.
    private func script(_ answers: SampleResponse?...) -> ScriptedTransport {
        ScriptedTransport { [cancelled] _, index in
            if let answer = answers[min(index, answers.count - 1)] { return answer }
            do {
                try await Gate().waitUnlessCancelled()
            } catch {
                cancelled.append(index)
            }
            throw CancellationError()
        }
    }

    /// A transport whose first request fails when the second one does.
    private func failing(_ first: URLError.Code, _ second: URLError.Code) -> ScriptedTransport {
        let gate = Gate()
        return ScriptedTransport { _, index in
            guard index == 0 else {
                gate.open()
                return .error(second)
            }
            try await gate.waitUnlessCancelled()
            return .error(first)
        }
    }

    private func provider(_ script: ScriptedTransport, retry: RetryPlugin? = nil) -> Provider<SturdyTarget> {
        let hedging = HedgingPlugin(after: .seconds(1), budgetOf: retry, clock: clock)
        return Provider(transport: script.transport, plugins: [hedging] + (retry.map { [$0] } ?? []), clock: clock)
    }

    @Test("A second request is sent after the delay; its response is the result, and the first request is cancelled")
    func second() async {
        let script = script(nil, .status(200))
        let provider = provider(script)
        let (result, sleeps) = await clock.stepping { await provider.result(SturdyTarget()) }
        #expect(RecordingPlugin.Outcome(result) == .status(200))
        #expect(sleeps == [.seconds(1)])
        #expect(script.requests.count == 2)
        #expect(cancelled.elements == [0])
        #expect(clock.sleeperCount == 0)
    }

    @Test("A request that is answered in time is sent once, whatever its status", arguments: [200, 404, 503])
    func inTime(_ status: Int) async {
        let script = script(.status(status))
        #expect(RecordingPlugin.Outcome(await provider(script).result(SturdyTarget())) == .status(status))
        #expect(script.requests.count == 1)
        #expect(clock.sleeperCount == 0)
    }

    @Test("A failure before the delay ends the exchange; after it the other request decides")
    func failures() async {
        let early = script(.error(.cannotConnectToHost))
        #expect(await provider(early).result(SturdyTarget()).failure?.kind == .cannotConnect)
        #expect(early.requests.count == 1)
        let late = failing(.networkConnectionLost, .timedOut)
        let provider = provider(late)
        let (result, _) = await clock.stepping { await provider.result(SturdyTarget()) }
        #expect([.connectionLost, .timedOut].contains(result.failure?.kind))
        #expect(late.requests.count == 2)
    }

    @Test("If both fail, the result is that of the request that may have arrived")
    func failureThatSaysMore() async {
        let provider = provider(failing(.networkConnectionLost, .cannotConnectToHost))
        let (result, _) = await clock.stepping { await provider.result(SturdyTarget()) }
        #expect(result.failure?.kind == .connectionLost)
    }

    @Test("If the first request fails after the second is sent, the second decides")
    func secondDecides() async {
        let gate = Gate()
        let script = ScriptedTransport { _, index in
            if index == 0 {
                try await gate.waitUnlessCancelled()
                return .error(.networkConnectionLost)
            }
            gate.open()
            for _ in 0..<20 { await Task.yield() }
            return .status(200)
        }
        let provider = provider(script)
        let (result, _) = await clock.stepping { await provider.result(SturdyTarget()) }
        #expect(RecordingPlugin.Outcome(result) == .status(200))
        #expect(script.requests.count == 2)
    }

    @Test("Cancelling the call cancels both requests")
    func cancel() async throws {
        let script = script(nil)
        let provider = provider(script)
        let call = Task { await provider.result(SturdyTarget()) }
        try await clock.waitForSleepers()
        clock.advanceToNextDeadline()
        await script.requests.waitForCount(2)
        call.cancel()
        #expect(await call.value.failure?.stage == .cancelled)
        #expect(cancelled.elements.sorted() == [0, 1])
    }

    @Test("Only requests that may be sent twice are, with bodies in memory")
    func once() async throws {
        let folder = try TemporaryFolder()
        let script = ScriptedTransport { [clock] _, _ in
            // Nothing else sleeps, or the second request would be sent.
            #expect(clock.sleeperCount == 0)
            return .status(200)
        }
        let hedging = HedgingPlugin(after: .seconds(1), clock: clock)
        let provider = Provider<SturdyTarget>(transport: script.transport, plugins: [hedging])
        let file = folder.url.appendingPathComponent("file")
        try Data("x".utf8).write(to: file)
        let targets = [
            SturdyTarget(method: .post), SturdyTarget(method: .patch, headers: ["Idempotency-Key": " "]),
            SturdyTarget(method: .put, task: .upload(file: file)),
        ]
        for target in targets { #expect(RecordingPlugin.Outcome(await provider.result(target)) == .status(200)) }
        _ = try await provider.stream(SturdyTarget())
        #expect(script.requests.count == 4)
    }

    @Test("A POST with an idempotency key is sent twice, with the same key")
    func keyed() async {
        let script = script(nil, .status(200))
        let provider = provider(script)
        let target = SturdyTarget(method: .post, headers: ["Idempotency-Key": "7"])
        _ = await clock.stepping { await provider.result(target) }
        #expect(script.requests.elements.map { $0.value(forHTTPHeaderField: "Idempotency-Key") } == ["7", "7"])
    }

    @Test("Second requests and retries have one budget")
    func budget() async {
        let retry = RetryPlugin(budget: RetryBudget(share: 0, minimum: 2), clock: clock)
        // The first request of each call waits, and the second one is answered with 503.
        let script = ScriptedTransport { [cancelled] _, index in
            guard index == 0 else { return .status(503) }
            do {
                try await Gate().waitUnlessCancelled()
            } catch {
                cancelled.append(index)
            }
            throw CancellationError()
        }
        let provider = provider(script, retry: retry)
        let (result, _) = await clock.stepping { await provider.result(SturdyTarget()) }
        #expect(RecordingPlugin.Outcome(result) == .status(503))
        // The request, the second one, and one repetition.
        #expect(script.requests.count == 3)
    }

    @Test("Without a budget left there is no second request")
    func noBudget() async throws {
        let retry = RetryPlugin(budget: RetryBudget(share: 0, minimum: 0), clock: clock)
        let gate = Gate()
        let script = ScriptedTransport { _, _ in
            try await gate.waitUnlessCancelled()
            return .status(200)
        }
        let provider = provider(script, retry: retry)
        let call = Task { await provider.result(SturdyTarget()) }
        try await clock.waitForSleepers()
        clock.advanceToNextDeadline()
        while !Task.isCancelled, clock.sleeperCount > 0 { await Task.yield() }
        gate.open()
        #expect(RecordingPlugin.Outcome(await call.value) == .status(200))
        #expect(script.requests.count == 1)
    }

    @Test("By default the delay is the endpoint's 95th percentile, known after twenty exchanges")
    func percentile() async throws {
        let held = Locked(false)
        let gate = Gate()
        let script = ScriptedTransport { [clock] _, index in
            if held.withLock({ $0 }) {
                try await gate.waitUnlessCancelled()
            } else {
                clock.advance(by: .milliseconds(index == 7 ? 900 : 100))
            }
            return .status(200)
        }
        let provider = Provider<SturdyTarget>(transport: script.transport, plugins: [HedgingPlugin(clock: clock)])
        for _ in 0..<20 {
            #expect(clock.sleeperCount == 0)
            _ = await provider.result(SturdyTarget())
        }
        held.withLock { $0 = true }
        let call = Task { await provider.result(SturdyTarget()) }
        try await clock.waitForSleepers()
        #expect(clock.remainingSleeps == [.milliseconds(100)])
        clock.advanceToNextDeadline()
        await script.requests.waitForCount(22)
        gate.open()
        #expect(RecordingPlugin.Outcome(await call.value) == .status(200))
    }

    @Test("Exchanges before the endpoint's last 200 don't count")
    func latest() async throws {
        let held = Locked(false)
        let gate = Gate()
        let script = ScriptedTransport { [clock] _, index in
            if held.withLock({ $0 }) {
                try await gate.waitUnlessCancelled()
            } else {
                clock.advance(by: .milliseconds(index < 20 ? 900 : 100))
            }
            return .status(200)
        }
        let provider = Provider<SturdyTarget>(transport: script.transport, plugins: [HedgingPlugin(clock: clock)])
        // Of the last 200, ten were slow.
        for _ in 0..<210 { _ = await provider.result(SturdyTarget()) }
        held.withLock { $0 = true }
        let call = Task { await provider.result(SturdyTarget()) }
        try await clock.waitForSleepers()
        #expect(clock.remainingSleeps == [.milliseconds(100)])
        gate.open()
        #expect(RecordingPlugin.Outcome(await call.value) == .status(200))
        #expect(script.requests.count == 211)
    }
}
