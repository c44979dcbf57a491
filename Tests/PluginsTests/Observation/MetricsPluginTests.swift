// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("MetricsPlugin")
struct MetricsPluginTests {
    @Test("Each call is reported exactly once, however it ends", arguments: CallEnding.allCases)
    func once(ending: CallEnding) async throws {
        let calls = Recorder<CallMetrics>()
        let metrics = MetricsPlugin { calls.append($0) }
        let result = await ending.run(through: metrics)
        #expect(calls.count == 1)
        let call = try #require(calls.elements.first)
        #expect(call.failure == result.failure?.kind)
        #expect(call.statusCode == (try? result.get().statusCode) ?? result.failure?.response?.statusCode)
        #expect(call.attempts.isEmpty == !ending.isSent)
        #expect(call.retryCount == (ending == .retried ? 2 : 0))
        let summary = try #require(metrics.summaries[call.endpoint])
        #expect(summary.callCount == 1)
        #expect(summary.retryCount == call.retryCount)
        #expect(summary.cancelCount == (call.failure == .cancelled ? 1 : 0))
        // Of a call that was over before its measuring began, no duration is known.
        #expect(summary.durations.count == (ending.isPrepared && call.failure != .cancelled ? 1 : 0))
        #expect(summary.failureCount == (call.failure == nil || call.failure == .cancelled ? 0 : 1))
    }

    @Test(
        "Durations are measured by the clock: of each attempt, and of the call with the waits and other plugins' time"
    )
    func durations() async throws {
        let clock = ManualClock()
        let calls = Recorder<CallMetrics>()
        let slow = RecordingPlugin(
            prepare: { request, _ in
                clock.advance(by: .milliseconds(5))
                return request
            },
            retry: { _, context in
                clock.advance(by: .milliseconds(100))
                return context.attempt == 0 ? .retry(after: .zero) : .doNotRetry
            }
        )
        let provider = Provider<PluginTarget>(
            transport: StubTransport { _ in
                clock.advance(by: .milliseconds(20))
                return .response(status: 503, data: Data())
            },
            plugins: [MetricsPlugin(clock: clock) { calls.append($0) }, slow]
        )
        _ = await provider.result(PluginTarget())
        let call = try #require(calls.elements.first)
        #expect(call.attempts.map(\.duration) == [.milliseconds(20), .milliseconds(20)])
        #expect(call.attempts.map(\.statusCode) == [503, 503])
        #expect(call.duration == .milliseconds(250))
        #expect(call.statusCode == 503)
        #expect(call.failure == nil)
    }

    @Test(
        "Sizes and the transport's figures come from each attempt's response",
        arguments: [Backend.system, .urlSession]
    )
    func sizes(backend: Backend) async throws {
        let running = try RunningBackend(backend) { _ in .response(status: 200, data: Data(repeating: 7, count: 3_000))
        }
        let calls = Recorder<CallMetrics>()
        let metrics = MetricsPlugin { calls.append($0) }
        let provider = Provider<PluginTarget>(transport: running.transport, plugins: [metrics])
        let target = PluginTarget(baseURL: running.baseURL, method: .post, task: .data(Data(repeating: 1, count: 700)))
        let response = try await provider.result(target).get()
        let call = try #require(calls.elements.first)
        #expect(call.attempts.first?.transport == response.metrics)
        guard response.metrics != nil else { return }
        #expect(call.bytesSent == 700)
        #expect(call.bytesReceived >= 3_000)
        let summary = try #require(metrics.summaries[call.endpoint])
        #expect(summary.bytesSent == call.bytesSent && summary.bytesReceived == call.bytesReceived)
    }

    @Test("Endpoints are named by method, type and case, or as the app says, and summed up one by one")
    func names() async throws {
        let (plain, named) = (MetricsPlugin(), MetricsPlugin(name: { _ in "GET /things/:id" }))
        for metrics in [plain, named] {
            let provider = Provider<MultiTarget>.stubbed(metrics)
            for _ in 0..<3 { _ = await provider.result(MultiTarget(PlainTarget.thing(secret: "s3cret"))) }
            _ = await provider.result(MultiTarget(PluginTarget(method: .post)))
        }
        #expect(plain.summaries.mapValues(\.callCount) == ["GET PlainTarget.thing": 3, "POST PluginTarget": 1])
        #expect(named.summaries.mapValues(\.callCount) == ["GET /things/:id": 4])
        #expect(named.reset().count == 1)
        #expect(named.summaries.isEmpty)
    }

    @Test("Percentiles are those of the calls, cancelled ones left out")
    func percentiles() async throws {
        let clock = ManualClock()
        let metrics = MetricsPlugin(clock: clock)
        let step = Tally()
        let provider = Provider<PluginTarget>(
            transport: StubTransport { _ in
                step.add()
                clock.advance(by: .milliseconds(step.value))
                if step.value == 101 { throw CancellationError() }
                return .response(status: 200, data: Data())
            },
            plugins: [metrics]
        )
        for _ in 0..<101 { _ = await provider.result(PluginTarget()) }
        let summary = try #require(metrics.summaries["GET PluginTarget"])
        #expect(summary.callCount == 101)
        #expect(summary.cancelCount == 1)
        #expect(summary.durations.count == 100)
        for (found, exact) in [(summary.p50, 50), (summary.p90, 90), (summary.p99, 99)] {
            let seconds = try #require(found) / .milliseconds(exact)
            #expect(abs(seconds - 1) <= 1.0 / 64)
        }
    }

    @Test("Of more endpoints than may be, the rest is summed up together")
    func limit() async {
        let metrics = MetricsPlugin(endpointLimit: 3, name: { ($0 as? PluginTarget)?.path.description ?? "" })
        let provider = Provider<PluginTarget>.stubbed(metrics)
        for index in 0..<10 { _ = await provider.result(PluginTarget(path: "/\(index)")) }
        _ = await provider.result(PluginTarget(path: "/0"))
        let counts = metrics.summaries.mapValues(\.callCount)
        #expect(counts == ["/0": 2, "/1": 1, "/2": 1, MetricsPlugin.otherEndpoints: 7])
    }

    @Test("Many calls at once are all counted, and a shared network call is in the figures of one of them")
    func many() async throws {
        let calls = Recorder<CallMetrics>()
        let metrics = MetricsPlugin { calls.append($0) }
        let held = HeldTransport()
        let provider = Provider<PluginTarget>(transport: held.transport, plugins: [metrics], sharing: .identical)
        async let results = withTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 { group.addTask { await provider.result(PluginTarget()).failure == nil } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        for await count in provider.scope.inFlightCounts where count == 50 { break }
        await held.requests.waitForCount(1)
        held.gate.open()
        #expect(await results == 50)
        #expect(calls.count == 50)
        #expect(calls.elements.map(\.attempts.count).reduce(0, +) == held.requests.count)
        #expect(metrics.summaries.values.map(\.callCount) == [50])
    }
}
