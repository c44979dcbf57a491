// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
@testable import TargetKit
import TargetKitPlugins
import TargetKitResilience
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A server whose responses wait at a gate, and that counts the requests that are in progress.
private final class BusyServer: Sendable {
    let gate = Gate()
    let paths = Recorder<String>()
    private let load = Locked((current: 0, highest: 0))

    var highest: Int { load.withLock { $0.highest } }

    var transport: StubTransport {
        StubTransport { [self] request in
            load.withLock {
                $0.current += 1
                $0.highest = max($0.highest, $0.current)
            }
            defer { load.withLock { $0.current -= 1 } }
            paths.append(request.urlRequest.url?.lastPathComponent ?? "")
            if !gate.isOpen { try await gate.waitUnlessCancelled() }
            return .status(200)
        }
    }
}

@Suite("Concurrency limit", .throttled, .timeLimit(.minutes(3)))
struct ConcurrencyLimitPluginTests {
    private let server = BusyServer()
    private let clock = ManualClock()

    private func provider(
        _ plugins: any Plugin...,
        options: CallOptions = CallOptions()
    ) -> Provider<SturdyTarget> {
        Provider(transport: server.transport, plugins: plugins, options: options, clock: clock)
    }

    private func waitForWaiting(_ count: Int, _ plugin: ConcurrencyLimitPlugin) async {
        while !Task.isCancelled, plugin.counts.waiting < count { await Task.yield() }
    }

    @Test("No more calls than the limit are in flight, and each one ends", arguments: [-1, 1, 3, 50])
    func limit(_ limit: Int) async {
        let plugin = ConcurrencyLimitPlugin(limit)
        let provider = provider(plugin)
        let calls = (0..<20).map { _ in Task { await provider.result(SturdyTarget()) } }
        await server.paths.waitForCount(min(max(limit, 1), 20))
        await waitForWaiting(20 - min(max(limit, 1), 20), plugin)
        server.gate.open()
        for call in calls { #expect(RecordingPlugin.Outcome(await call.value) == .status(200)) }
        #expect(server.highest <= max(limit, 1))
        #expect(server.paths.count == 20)
        #expect(plugin.counts == (0, 0))
    }

    @Test("A call that a signature makes does not wait for the slot of the call that is signed")
    func signature() async {
        server.gate.open()
        let limit = ConcurrencyLimitPlugin(1)
        let shared = Recorder<Provider<SturdyTarget>>()
        let signing = RequestSigningPlugin(fields: ["X-Signature"]) { _, context in
            guard (context.target as? SturdyTarget)?.path.description != "/nonce" else { return [:] }
            _ = try await shared.elements[0].request(SturdyTarget(path: "/nonce"))
            return ["X-Signature": "1"]
        }
        shared.append(provider(limit, signing))
        for _ in 0..<2 {
            #expect(RecordingPlugin.Outcome(await shared.elements[0].result(SturdyTarget())) == .status(200))
        }
        #expect(server.paths.elements == ["nonce", "things", "nonce", "things"])
        #expect(limit.counts == (0, 0))
    }

    @Test("The most urgent calls are sent first, and others in order of arrival")
    func order() async {
        let plugin = ConcurrencyLimitPlugin(1)
        let provider = provider(plugin)
        var calls: [Task<Result<Response, TargetKitError>, Never>] = []
        let steps: [(RequestPath, TaskPriority)] = [
            ("/first", .medium), ("/low", .background), ("/second", .medium), ("/urgent", .high), ("/third", .medium),
        ]
        for (index, (path, priority)) in steps.enumerated() {
            calls.append(Task(priority: priority) { await provider.result(SturdyTarget(path: path)) })
            await server.paths.waitForCount(1)
            await waitForWaiting(index, plugin)
        }
        server.gate.open()
        for call in calls { _ = await call.value }
        #expect(server.paths.elements == ["first", "urgent", "second", "third", "low"])
    }

    @Test("Urgent calls do not keep another one waiting forever")
    func starvation() async {
        let plugin = ConcurrencyLimitPlugin(1)
        let provider = provider(plugin)
        var calls: [Task<Result<Response, TargetKitError>, Never>] = []
        for index in 0..<22 {
            let (path, priority): (RequestPath, TaskPriority) = index == 1 ? ("/low", .background) : ("/urgent", .high)
            calls.append(Task(priority: priority) { await provider.result(SturdyTarget(path: path)) })
            await server.paths.waitForCount(1)
            await waitForWaiting(index, plugin)
        }
        server.gate.open()
        for call in calls { _ = await call.value }
        #expect(server.paths.elements.firstIndex(of: "low") == 8)
    }

    @Test(
        "A waiting call that is cancelled, or whose time is over, leaves its turn to the next",
        arguments: [true, false]
    )
    func leaves(isCancelled: Bool) async {
        let plugin = ConcurrencyLimitPlugin(1)
        let provider = provider(plugin)
        let first = Task { await provider.result(SturdyTarget()) }
        await server.paths.waitForCount(1)
        let second = Task {
            await Result { () async throws(TargetKitError) in
                try await provider.request(SturdyTarget(), options: .setting(\.timeout, .wholeCall(.seconds(5))))
                    as Response
            }
        }
        await waitForWaiting(1, plugin)
        let third = Task { await provider.result(SturdyTarget(path: "/third")) }
        await waitForWaiting(2, plugin)
        if isCancelled {
            second.cancel()
        } else {
            try? await clock.waitForSleepers(within: .seconds(600))
            clock.advance(by: .seconds(5))
        }
        let failure = await second.value.failure
        #expect(failure?.kind == (isCancelled ? .cancelled : .timedOut))
        #expect(plugin.counts.waiting == 1)
        server.gate.open()
        for call in [first, third] { #expect(RecordingPlugin.Outcome(await call.value) == .status(200)) }
        #expect(server.paths.elements == ["things", "third"])
        #expect(plugin.counts == (0, 0))
    }

    @Test("Each call returns its slot, however it ends", arguments: CallEnding.allCases, [false, true])
    func endings(_ ending: CallEnding, isRepeated: Bool) async {
        let plugin = ConcurrencyLimitPlugin(1, key: { _, _ in "all" })
        for _ in 0..<(isRepeated ? 3 : 1) { _ = await ending.run(through: plugin) }
        #expect(plugin.counts == (0, 0))
    }

    @Test("A stream holds its slot until the end of its body, or until it is released", arguments: [true, false])
    func streams(isRead: Bool) async throws {
        let plugin = ConcurrencyLimitPlugin(1)
        let (transport, scope) = (StreamingTransport(), RequestScope())
        let provider = Provider<SturdyTarget>(transport: transport, plugins: [plugin], scope: scope)
        var stream: ResponseStream? = try await provider.stream(SturdyTarget())
        #expect(plugin.counts.keys == 1)
        transport.gate.open()
        if isRead, let stream { for try await _ in stream {} }
        stream = nil
        await scope.shutdown(grace: .seconds(60))
        #expect(plugin.counts == (0, 0))
    }

    @Test("A stream that is repeated keeps its slot")
    func repeatedStream() async throws {
        let plugin = ConcurrencyLimitPlugin(1)
        let script = ScriptedTransport(.status(503), .response(status: 200, data: Data("one\n".utf8)))
        let repeating = RecordingPlugin(retry: { _, context in
            context.attempt == 0 ? .retry(after: .zero) : .doNotRetry
        })
        let provider = Provider<SturdyTarget>(transport: script.transport, plugins: [plugin, repeating])
        var lines: [String] = []
        for try await line in try await provider.stream(SturdyTarget()).lines() { lines.append(line) }
        #expect(lines == ["one"])
        #expect(plugin.counts == (0, 0))
    }

    @Test("A call that waits to be repeated holds no slot")
    func retryDelay() async throws {
        let plugin = ConcurrencyLimitPlugin(1)
        let script = ScriptedTransport { _, index in .status(index == 0 ? 503 : 200) }
        let provider = Provider<SturdyTarget>(
            transport: script.transport,
            plugins: [plugin, RetryPlugin(clock: clock)],
            clock: clock
        )
        let first = Task { await provider.result(SturdyTarget()) }
        try await clock.waitForSleepers()
        #expect(RecordingPlugin.Outcome(await provider.result(SturdyTarget())) == .status(200))
        clock.advanceToNextDeadline()
        #expect(RecordingPlugin.Outcome(await first.value) == .status(200))
        #expect(plugin.counts == (0, 0))
    }

    @Test("Calls that share an exchange hold one slot, even while it is repeated", arguments: [1, 2])
    func shared(_ limit: Int) async throws {
        let plugin = ConcurrencyLimitPlugin(limit)
        let gate = Gate()
        let script = ScriptedTransport { _, index in
            if index == 0 { try await gate.waitUnlessCancelled() }
            return .status(index == 0 ? 503 : 200)
        }
        let provider = Provider<SturdyTarget>(
            transport: script.transport,
            plugins: [plugin, RetryPlugin(clock: clock)],
            options: .setting(\.sharesInFlight, true),
            clock: clock
        )
        let first = (0..<3).map { _ in Task { await provider.result(SturdyTarget()) } }
        while !Task.isCancelled, provider.configuration.sharedExchanges.waiterCount < 3 { await Task.yield() }
        gate.open()
        try await clock.waitForSleepers()
        // Those join while the exchange waits for its repetition.
        let second = (0..<3).map { _ in Task { await provider.result(SturdyTarget()) } }
        while !Task.isCancelled, provider.configuration.sharedExchanges.waiterCount < 6 { await Task.yield() }
        clock.advanceToNextDeadline()
        for call in first + second { #expect(RecordingPlugin.Outcome(await call.value) == .status(200)) }
        #expect(script.requests.count == 2)
        #expect(plugin.counts == (0, 0))
    }

    @Test("Each server has its own limit, and a call without a key has none")
    func keys() async {
        let plugin = ConcurrencyLimitPlugin(1) { request, target in target.method == .get ? request.url?.host() : nil }
        let provider = provider(plugin)
        let targets = [SturdyTarget(baseURL: HostSet.urls("a")[0]), SturdyTarget(baseURL: HostSet.urls("b")[0])]
        let calls = (targets + [SturdyTarget(method: .put), SturdyTarget(method: .put)]).map { target in
            Task { await provider.result(target) }
        }
        await server.paths.waitForCount(4)
        #expect(plugin.counts == (2, 0))
        server.gate.open()
        for call in calls { _ = await call.value }
        #expect(plugin.counts == (0, 0))
    }

    @Test("Hundreds of calls that are cancelled at random leave nothing behind", arguments: [1, 2, 3] as [UInt64])
    func storm(_ seed: UInt64) async {
        let plugin = ConcurrencyLimitPlugin(3)
        server.gate.open()
        let provider = provider(plugin)
        var random = SeededGenerator(seed: seed)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<400 {
                let yields = Int.random(in: 0..<20, using: &random)
                group.addTask {
                    let call = Task { await provider.result(SturdyTarget()) }
                    for _ in 0..<yields { await Task.yield() }
                    if yields.isMultiple(of: 2) { call.cancel() }
                    _ = await call.value
                }
            }
        }
        #expect(server.highest <= 3)
        #expect(plugin.counts == (0, 0))
    }
}
