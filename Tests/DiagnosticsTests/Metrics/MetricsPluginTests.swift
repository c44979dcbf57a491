// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitDiagnostics
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("MetricsPlugin", .throttled, .timeLimit(.minutes(2)))
struct MetricsPluginTests {
    /// Sees how calls end.
    private struct Watcher: Plugin {
        let see: @Sendable (FinishedCall) -> Void

        func didFinish(_ call: FinishedCall, context: RequestContext) {
            see(call)
        }
    }

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
        let summary = try #require(metrics.summaries[call.endpoint])
        #expect(summary.callCount == 1)
        #expect(summary.retryCount == (ending == .retried ? 2 : 0))
        #expect(summary.cancelCount == (call.failure == .cancelled ? 1 : 0))
        // A call that failed before `prepare` does not count in the percentiles.
        #expect(summary.durations.count == (ending.isPrepared && call.failure != .cancelled ? 1 : 0))
        #expect(summary.failureCount == (call.failure == nil || call.failure == .cancelled ? 0 : 1))
    }

    @Test(
        "Each attempt is measured from willSend to didReceive, and the call with the delays and other plugins' time"
    )
    func durations() async throws {
        let clock = ManualClock()
        let calls = Recorder<CallMetrics>()
        let finished = Recorder<FinishedCall>()
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
            plugins: [MetricsPlugin(clock: clock) { calls.append($0) }, slow, Watcher { finished.append($0) }]
        )
        _ = await provider.result(PluginTarget())
        let call = try #require(calls.elements.first)
        #expect(call.attempts.map(\.duration) == [.milliseconds(20), .milliseconds(20)])
        #expect(call.attempts.map(\.statusCode) == [503, 503])
        // The call is measured by the continuous clock.
        #expect(call.duration > .zero)
        #expect(finished.elements.map(\.duration) == [call.duration])
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
        let metrics = MetricsPlugin()
        for step in 1...101 {
            let context = RequestContext(target: PluginTarget())
            _ = try await metrics.prepare(URLRequest(url: .shop), context: context)
            let result: Result<Response, TargetKitError> =
                step == 101 ? .failure(TargetKitError(stage: .cancelled)) : .success(Response(statusCode: 200))
            metrics.didFinish(FinishedCall(result: result, duration: .milliseconds(step)), context: context)
        }
        let summary = try #require(metrics.summaries["GET PluginTarget"])
        #expect(summary.callCount == 101)
        #expect(summary.cancelCount == 1)
        #expect(summary.durations.count == 100)
        for percent in [50, 90, 99] {
            let found = try #require(summary.percentile(Double(percent) / 100))
            let seconds = found / .milliseconds(percent)
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

    @Test("A stream is reported at the end of its body, with its bytes or its failure", arguments: [true, false])
    func stream(fails: Bool) async throws {
        let calls = Recorder<CallMetrics>()
        let metrics = MetricsPlugin { calls.append($0) }
        var transport = StreamingTransport()
        if fails { transport.failure = URLError(.networkConnectionLost) }
        let provider = Provider<PluginTarget>(transport: transport, plugins: [metrics])
        let stream = try await provider.stream(PluginTarget())
        #expect(calls.count == 0)
        transport.gate.open()
        var count = 0
        do {
            for try await piece in stream { count += piece.count }
        } catch {
            #expect(fails)
        }
        let call = try #require(calls.elements.first)
        #expect(calls.count == 1)
        #expect(call.streamedByteCount == Int64(count))
        #expect(call.bytesReceived == Int64(count))
        #expect(call.failure == (fails ? .connectionLost : nil))
        #expect(call.attempts.map(\.failure) == [nil])
    }

    @Test("A response that cannot be decoded counts as a failure of the call")
    func decoding() async throws {
        let calls = Recorder<CallMetrics>()
        let provider = Provider<PluginTarget>.stubbed(MetricsPlugin { calls.append($0) })
        await #expect(throws: TargetKitError.self) { try await provider.request(PluginTarget(), as: [Int].self) }
        let call = try #require(calls.elements.first)
        #expect(call.failure == .decoding)
        #expect(call.statusCode == 200)
        #expect(call.attempts.map(\.failure) == [nil])
    }

    @Test("Two of these plugins in one provider measure separately")
    func two() async {
        let (first, second) = (MetricsPlugin(), MetricsPlugin())
        let provider = Provider<PluginTarget>.stubbed(first, second)
        _ = await provider.result(PluginTarget())
        for metrics in [first, second] {
            #expect(metrics.summaries.values.map(\.callCount) == [1])
        }
    }

    @Test("Many calls at once are all counted, and a shared exchange is in the figures of the call that began it")
    func many() async throws {
        let calls = Recorder<CallMetrics>()
        let metrics = MetricsPlugin { calls.append($0) }
        let held = HeldTransport()
        let provider = Provider<PluginTarget>(
            transport: held.transport,
            plugins: [metrics],
            options: .setting(\.sharesInFlight, true)
        )
        async let results = withTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 { group.addTask { await provider.result(PluginTarget()).failure == nil } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        await provider.waitForJoinedCalls(50)
        await held.requests.waitForCount(1)
        held.gate.open()
        #expect(await results == 50)
        #expect(calls.count == 50)
        #expect(calls.elements.map(\.attempts.count).reduce(0, +) == held.requests.count)
        #expect(metrics.summaries.values.map(\.callCount) == [50])
    }
}
