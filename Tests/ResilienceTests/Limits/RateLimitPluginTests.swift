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

@Suite("Rate limit", .throttled, .timeLimit(.minutes(3)))
struct RateLimitPluginTests {
    private let clock = ManualClock()
    private let sentAt = Recorder<Double>()
    /// Sun, 06 Nov 1994 08:49:37 GMT, the date of RFC 9110's examples.
    private static let now = Date(timeIntervalSince1970: 784_111_777)

    private func plugin(
        _ requests: Int = .max,
        burst: Int? = nil,
        maximumWait: Duration = .seconds(60)
    ) -> RateLimitPlugin {
        RateLimitPlugin(requests, burst: burst, maximumWait: maximumWait, clock: clock, now: { Self.now })
    }

    private func provider(
        _ plugins: any Plugin...,
        answers: @escaping @Sendable (Int) -> SampleResponse = { _ in .status(200) }
    ) -> Provider<SturdyTarget> {
        let script = ScriptedTransport { [clock, sentAt] _, index in
            sentAt.append(clock.now.offset / .seconds(1))
            return answers(index)
        }
        return Provider(transport: script.transport, plugins: plugins, clock: clock)
    }

    @Test(
        "Requests are sent at equal intervals after a burst",
        arguments: [
            (2, nil, [0, 0, 0.5, 1, 1.5]), (2, 1, [0, 0.5, 1, 1.5, 2]), (4, 3, [0, 0, 0, 0.25, 0.5]),
            (1, 0, [0, 1, 2, 3, 4]),
            (0, nil, [0, 1, 2, 3, 4]), (.max, nil, [0, 0, 0, 0, 0]),
        ] as [(Int, Int?, [Double])]
    )
    func distances(_ requests: Int, _ burst: Int?, _ expected: [Double]) async throws {
        let plugin = plugin(requests, burst: burst)
        let provider = provider(plugin)
        let calls = (0..<5).map { _ in Task { await provider.result(SturdyTarget()) } }
        while !Task.isCancelled, sentAt.count + plugin.counts.waiting < 5 { await Task.yield() }
        // One timer for all waiting calls, which wakes once for each.
        for count in sentAt.count..<5 {
            try await clock.waitForSleepers()
            #expect(clock.sleeperCount == 1)
            clock.advanceToNextDeadline()
            await sentAt.waitForCount(count + 1)
        }
        for call in calls { #expect(RecordingPlugin.Outcome(await call.value) == .status(200)) }
        #expect(sentAt.elements == expected)
        #expect(plugin.counts.waiting == 0)
        #expect(clock.sleeperCount == 0)
    }

    @Test("After a pause the whole burst can be sent again")
    func refill() async {
        let provider = provider(plugin(2))
        for _ in 0..<2 {
            for _ in 0..<2 { _ = await provider.result(SturdyTarget()) }
            clock.advance(by: .seconds(1))
        }
        #expect(sentAt.elements == [0, 0, 1, 1])
    }

    static let fields: [(status: Int, headers: HTTPHeaders, expected: Double)] = [
        (429, ["Retry-After": "20"], 20), (503, ["Retry-After": "20"], 20), (200, ["Retry-After": "20"], 0),
        (429, ["Retry-After": "Sun, 06 Nov 1994 08:49:47 GMT"], 10), (429, ["Retry-After": "soon"], 0), (429, [:], 0),
        (200, ["RateLimit-Remaining": "0", "RateLimit-Reset": "7"], 7),
        (200, ["RateLimit-Remaining": "1", "RateLimit-Reset": "7"], 0),
        (200, ["RateLimit-Remaining": "0", "RateLimit-Reset": "+7"], 0),
        (200, ["x-ratelimit-remaining": "0", "x-ratelimit-reset": "7.5"], 7.5),
        (200, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "784111787"], 10),
        (200, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1"], 1),
        (200, ["RateLimit": #""default";r=0;t=7"#], 7), (200, ["RateLimit": #""default";r=3;t=7"#], 0),
        (200, ["RateLimit": #""hour";r=9;t=3000, "burst";r=0;t=4"#], 4),
        (200, ["RateLimit": #""burst";r=0;t=4, "hour";r=0;t=3000"#], 3000),
        (200, ["RateLimit": "limit=9, remaining=0, reset=5"], 5),
        (200, ["RateLimit": "r=x;t=7"], 0), (200, ["RateLimit": ""], 0), (200, ["RateLimit-Remaining": "0"], 0),
        (200, ["RateLimit-Remaining": "-1", "RateLimit-Reset": "7"], 0),
        (200, ["RateLimit-Remaining": "nan", "RateLimit-Reset": "inf"], 0),
        (429, ["Retry-After": "3", "RateLimit-Remaining": "0", "RateLimit-Reset": "7"], 7),
        (429, ["Retry-After": "99999999999999999999"], 3600),
        (200, ["RateLimit-Remaining": "0", "RateLimit-Reset": "1e300"], 3600),
    ]

    @Test("The server's limits are respected for an hour at most", arguments: fields.indices)
    func learns(_ index: Int) async {
        let (status, headers, expected) = Self.fields[index]
        let provider = provider(plugin(maximumWait: .seconds(4000))) { index in
            .status(index == 0 ? status : 200, headers)
        }
        _ = await clock.stepping {
            for _ in 0..<2 { _ = await provider.result(SturdyTarget()) }
        }
        #expect(sentAt.elements == [0, expected], "\(headers)")
    }

    @Test("No more requests than the server has left are sent at once")
    func left() async {
        let provider = provider(plugin(4)) { index in .status(200, index == 0 ? ["RateLimit-Remaining": "1"] : [:]) }
        _ = await clock.stepping {
            for _ in 0..<4 { _ = await provider.result(SturdyTarget()) }
        }
        #expect(sentAt.elements == [0, 0, 0.25, 0.5])
    }

    @Test("A call that would wait too long fails at once", arguments: [true, false])
    func tooLong(isDeadline: Bool) async throws {
        let plugin = plugin(1, maximumWait: isDeadline ? .seconds(60) : .seconds(1))
        let provider = provider(plugin)
        _ = await provider.result(SturdyTarget())
        let failure = await Result { () async throws(TargetKitError) in
            let options = CallOptions.setting(\.timeout, isDeadline ? .wholeCall(.seconds(1)) : .none)
            return try await provider.request(SturdyTarget(), options: options) as Response
        }
        .failure
        #expect(
            failure?.underlying as? RateLimitError
                == RateLimitError(key: "https://shop.example", remaining: .seconds(1))
        )
        #expect(failure?.kind == .rateLimited)
        #expect(failure?.stage == .request)
        #expect(failure?.description.contains("would be sent in 1 s") == true)
        #expect(sentAt.count == 1)
        #expect(plugin.counts.waiting == 0)
    }

    @Test("A waiting call that is cancelled leaves its turn to the next")
    func cancelled() async throws {
        let plugin = plugin(1)
        let provider = provider(plugin)
        _ = await provider.result(SturdyTarget())
        var calls: [Task<Result<Response, TargetKitError>, Never>] = []
        for index in 0..<3 {
            calls.append(Task { await provider.result(SturdyTarget()) })
            while !Task.isCancelled, plugin.counts.waiting <= index { await Task.yield() }
        }
        try await clock.waitForSleepers()
        calls[0].cancel()
        #expect(await calls[0].value.failure?.stage == .cancelled)
        clock.advanceToNextDeadline()
        #expect(RecordingPlugin.Outcome(await calls[1].value) == .status(200))
        try await clock.waitForSleepers()
        clock.advanceToNextDeadline()
        #expect(RecordingPlugin.Outcome(await calls[2].value) == .status(200))
        #expect(sentAt.elements == [0, 1, 2])
        #expect(plugin.counts.waiting == 0)
    }

    @Test("A waiting call fails when the server asks for a longer wait than it may have", arguments: [true, false])
    func longerWait(isDeadline: Bool) async {
        let answer = Gate()
        let plugin = plugin(1, maximumWait: isDeadline ? .seconds(4000) : .seconds(60))
        let script = ScriptedTransport { _, _ in
            try await answer.waitUnlessCancelled()
            return .status(429, ["Retry-After": "120"])
        }
        let provider = Provider<SturdyTarget>(transport: script.transport, plugins: [plugin], clock: clock)
        let first = Task { await provider.result(SturdyTarget()) }
        await script.requests.waitForCount(1)
        let options = CallOptions.setting(\.timeout, isDeadline ? .wholeCall(.seconds(60)) : .none)
        let waiting = Task {
            await Result { () async throws(TargetKitError) in
                try await provider.request(SturdyTarget(), options: options) as Response
            }
        }
        while !Task.isCancelled, plugin.counts.waiting < 1 { await Task.yield() }
        answer.open()
        #expect(RecordingPlugin.Outcome(await first.value) == .status(429))
        let failure = await waiting.value.failure
        #expect(
            failure?.underlying as? RateLimitError
                == RateLimitError(key: "https://shop.example", remaining: .seconds(120))
        )
        #expect(script.requests.count == 1)
        #expect(plugin.counts.waiting == 0)
    }

    @Test("Another server to which a redirect leads does not limit the calls of this one")
    func otherServer() async {
        let script = ScriptedTransport { request, _ in
            if request.url?.host() == "other.example" { return .status(429, ["Retry-After": "120"]) }
            return .status(302, ["Location": "https://other.example/"])
        }
        let provider = Provider<SturdyTarget>(transport: script.transport, plugins: [plugin()], clock: clock)
        for _ in 0..<2 { #expect(RecordingPlugin.Outcome(await provider.result(SturdyTarget())) == .status(429)) }
        #expect(script.hosts.filter { $0 == "shop.example" }.count == 2)
    }

    @Test("The limits of hundreds of servers are removed when they no longer have any effect")
    func memory() async throws {
        let plugin = plugin(1)
        let provider = provider(plugin)
        for index in 0..<300 {
            let url = try #require(URL(string: "https://s\(index).example"))
            _ = await provider.result(SturdyTarget(baseURL: url))
            clock.advance(by: .milliseconds(100))
        }
        #expect(plugin.counts.keys <= 65)
    }

    @Test("A signature is made after the wait", arguments: [0, 1])
    func place(_ order: Int) async {
        let signing = RequestSigningPlugin(fields: ["X-Time"]) { [clock] _, _ in
            ["X-Time": "\(clock.now.offset / .seconds(1))"]
        }
        let script = ScriptedTransport(.status(200))
        let plugins: [any Plugin] = [signing, plugin(1)]
        let provider = Provider<SturdyTarget>(
            transport: script.transport,
            plugins: order == 0 ? plugins : plugins.reversed(),
            clock: clock
        )
        _ = await clock.stepping {
            for _ in 0..<2 { _ = await provider.result(SturdyTarget()) }
        }
        #expect(script.requests.elements.map { $0.value(forHTTPHeaderField: "X-Time") } == ["0.0", "1.0"])
    }
}
