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

@Suite("Host failover", .throttled, .timeLimit(.minutes(3)))
struct HostFailoverPluginTests {
    private let clock = ManualClock()
    private let hosts = HostSet()
    private let moves = Recorder<String>()

    private func plugin(_ names: String = "abc", _ policy: HostFailoverPolicy = .init()) -> HostFailoverPlugin {
        HostFailoverPlugin(hosts: HostSet.urls(names), policy: policy, clock: clock) {
            [moves] in moves.append(String($0.host()?.prefix(1) ?? ""))
        }
    }

    private func provider(_ plugins: any Plugin...) -> Provider<SturdyTarget> {
        Provider(transport: hosts.script.transport, plugins: plugins, clock: clock)
    }

    private func outcome(
        _ plugin: HostFailoverPlugin,
        _ target: SturdyTarget = SturdyTarget()
    ) async -> RecordingPlugin.Outcome {
        .init(await provider(plugin).result(target))
    }

    @Test(
        "A status of the list moves the call, and all that follow, to the next host",
        arguments: [502, 503, 504],
        [StatusValidation.none, .successCodes]
    )
    func status(_ status: Int, _ validation: StatusValidation) async {
        let plugin = plugin()
        hosts.set(.status(status), "a")
        let target = SturdyTarget(validation: validation)
        #expect(await outcome(plugin, target) == .status(200))
        #expect(await outcome(plugin, target) == .status(200))
        #expect(hosts.visits == "abb")
        #expect(plugin.currentHost?.host() == "b.example")
        #expect(moves.elements == ["b"])
    }

    @Test(
        "A call that was processed before a redirect isn't sent to another host when a circuit breaker refuses the rest",
        arguments: [303, 307]
    )
    func refusedRedirect(_ status: Int) async {
        let breaker = CircuitBreakerPlugin(clock: clock)
        let script = ScriptedTransport { request, _ in
            guard request.url?.host() == "a.example" else { return .status(200) }
            breaker.isolate("https://a.example")
            return .status(status, ["Location": "/receipt"])
        }
        let provider = Provider<SturdyTarget>(
            transport: script.transport,
            plugins: [plugin("ab"), breaker],
            clock: clock
        )
        let result = await provider.result(SturdyTarget(method: .post))
        let visits = script.requests.elements.compactMap { $0.url?.host()?.prefix(1) }.joined()
        #expect(visits == (status == 303 ? "a" : "ab"))
        #expect((try? result.get().statusCode) == (status == 303 ? nil : 200))
    }

    @Test("Any other status is the result", arguments: [200, 204, 304, 400, 401, 403, 404, 429, 500])
    func otherStatus(_ status: Int) async {
        hosts.set(.status(status), "a")
        #expect(await outcome(plugin()) == .status(status))
        #expect(hosts.visits == "a")
        #expect(moves.count == 0)
    }

    @Test("A forbidden POST moves no call to the reserve, unless the policy lists its status")
    func forbidden() async {
        let (plain, gateway) = (plugin(), plugin("abc", HostFailoverPolicy(statuses: [403])))
        hosts.set(.status(403), "a")
        for plugin in [plain, gateway] {
            #expect(await outcome(plugin, SturdyTarget(method: .post)) == .status(403))
        }
        #expect(plain.currentHost?.host() == "a.example")
        #expect(gateway.currentHost?.host() == "b.example")
    }

    @Test(
        "A stream whose body fails moves the calls that follow",
        arguments: [
            (.networkConnectionLost, "b"), (.timedOut, "b"), (.cannotDecodeContentData, "a"), (nil, "a"),
        ] as [(URLError.Code?, String)]
    )
    func streamBody(_ code: URLError.Code?, _ host: String) async throws {
        let plugin = plugin()
        var transport = StreamingTransport()
        transport.failure = code.map { URLError($0) }
        transport.gate.open()
        let provider = Provider<SturdyTarget>(transport: transport, plugins: [plugin])
        for _ in 0..<2 {
            let stream = try await provider.stream(SturdyTarget())
            #expect(plugin.currentHost?.host() == "a.example" || host == "b")
            do {
                for try await _ in stream {}
            } catch {
                #expect(code != nil)
            }
            if host == "b" { break }
        }
        #expect(plugin.currentHost?.host() == "\(host).example")
        #expect(moves.elements == (host == "b" ? ["b"] : []))
    }

    /// Which calls a failure moves to the next host.
    struct Failing: Sendable {
        let code: URLError.Code
        let movesGet: Bool
        let movesPost: Bool

        static func notSent(_ code: URLError.Code) -> Failing { .init(code: code, movesGet: true, movesPost: true) }
        static func maybeProcessed(_ code: URLError.Code) -> Failing {
            .init(code: code, movesGet: true, movesPost: false)
        }
        static func unrelated(_ code: URLError.Code) -> Failing {
            .init(code: code, movesGet: false, movesPost: false)
        }
    }

    @Test(
        "A failure before the request is sent moves any call, a later one only calls that are safe to repeat",
        arguments: [
            Failing.notSent(.cannotConnectToHost), .notSent(.cannotFindHost), .notSent(.dnsLookupFailed),
            .notSent(.secureConnectionFailed), .notSent(.serverCertificateUntrusted),
            .notSent(.serverCertificateHasUnknownRoot), .notSent(.serverCertificateHasBadDate),
            .notSent(.serverCertificateNotYetValid),
            .maybeProcessed(.timedOut), .maybeProcessed(.networkConnectionLost),
            .unrelated(.notConnectedToInternet), .unrelated(.badURL), .unrelated(.dataLengthExceedsMaximum),
            .unrelated(.cancelled), .unrelated(.clientCertificateRejected),
        ]
    )
    func errors(_ failing: Failing) async {
        hosts.set(.error(failing.code), "a")
        let failure = RecordingPlugin.Outcome.failure(failing.code == .cancelled ? .cancelled : .transport)
        for method in [HTTPMethod.get, .put, .post, .patch] {
            let isSafe = method == .get || method == .put
            let isMoved = isSafe ? failing.movesGet : failing.movesPost
            let plugin = plugin()
            let outcome = await outcome(plugin, SturdyTarget(method: method))
            #expect(outcome == (isMoved ? .status(200) : failure))
            // The host is left even if the call is not moved.
            #expect(plugin.currentHost?.host() == (failing.movesGet ? "b.example" : "a.example"))
        }
    }

    @Test("A failure after a redirect is not one before the request is sent")
    func behindRedirect() async throws {
        let asked = try #require(URL(string: "https://a.example/api/things"))
        let next = try #require(URL(string: "https://a.example/receipt"))
        for (url, expected) in [(asked, "ab"), (next, "a")] {
            let hosts = HostSet()
            hosts.set(.failure(URLError(.cannotConnectToHost, userInfo: [NSURLErrorFailingURLErrorKey: url])), "a")
            let provider = Provider<SturdyTarget>(transport: hosts.script.transport, plugins: [plugin()])
            _ = await provider.result(SturdyTarget(method: .post))
            #expect(hosts.visits == expected)
        }
    }

    @Test("A host that redirects to one that fails is not left", arguments: [true, false])
    func redirectElsewhere(_ isStatus: Bool) async throws {
        let other = try #require(URL(string: "https://other.example/x"))
        hosts.set(.status(302, ["Location": other.absoluteString]), "a")
        let error = URLError(.cannotConnectToHost, userInfo: [NSURLErrorFailingURLErrorKey: other])
        hosts.set(isStatus ? .status(503) : .failure(error), "other")
        let plugin = plugin()
        #expect(await outcome(plugin) == (isStatus ? .status(503) : .failure(.transport)))
        #expect(hosts.visits == "ao")
        #expect(plugin.currentHost?.host() == "a.example")
    }

    @Test("A status moves a POST only with a key, or when that is set")
    func postOnStatus() async {
        hosts.set(.status(503), "a")
        let post = SturdyTarget(method: .post)
        #expect(await outcome(plugin(), post) == .status(503))
        #expect(await outcome(plugin(), post.with { $0.headers = ["Idempotency-Key": "k"] }) == .status(200))
        var policy = HostFailoverPolicy()
        policy.movesNonIdempotentCallsOnStatus = true
        #expect(await outcome(plugin("ab", policy), post) == .status(200))
        #expect(hosts.visits == "aabab")
        // The next call uses the next host.
        let plugin = plugin()
        #expect(await outcome(plugin, post) == .status(503))
        #expect(await outcome(plugin, post) == .status(200))
    }

    @Test("Statuses and codes can be chosen")
    func chosen() async {
        var policy = HostFailoverPolicy()
        policy.statuses = [500]
        policy.errorCodes = [.badServerResponse]
        for (answer, visits) in [
            (SampleResponse.status(500), "ab"), (.status(503), "a"), (.error(.badServerResponse), "ab"),
            (.error(.cannotConnectToHost), "a"),
        ] {
            let hosts = HostSet()
            hosts.set(answer, "a")
            let provider = Provider<SturdyTarget>(transport: hosts.script.transport, plugins: [plugin("ab", policy)])
            _ = await provider.result(SturdyTarget())
            #expect(hosts.visits == visits)
        }
    }

    @Test("A call tries each host once, then ends with its last result", arguments: ["a", "ab", "abc", "abcde"])
    func allFail(_ names: String) async {
        hosts.set(.status(503), "a", "b", "c", "d", "e")
        let plugin = plugin(names)
        #expect(await outcome(plugin) == .status(503))
        #expect(hosts.visits == names)
        #expect(plugin.currentHost?.host() == "a.example")
        #expect(await outcome(plugin) == .status(503))
        #expect(hosts.visits == names + names)
    }

    @Test("After the last host comes the first")
    func circle() async {
        let plugin = plugin()
        hosts.set(.status(503), "a", "b")
        #expect(await outcome(plugin) == .status(200))
        hosts.set(.status(503), "c")
        hosts.set(nil, "b")
        #expect(await outcome(plugin) == .status(200))
        #expect(hosts.visits == "abc" + "cab")
        #expect(moves.elements == ["b", "c", "a", "b"])
    }

    @Test("Twenty calls that fail on one host at the same time leave it once")
    func together() async {
        let gate = Gate()
        let script = ScriptedTransport { request, _ in
            guard request.url?.host() == "a.example" else { return .status(200) }
            try await gate.waitUnlessCancelled()
            return .error(.cannotConnectToHost)
        }
        let plugin = plugin()
        let provider = Provider<SturdyTarget>(transport: script.transport, plugins: [plugin])
        let calls = (0..<20).map { index in
            Task { await provider.result(SturdyTarget(method: index % 2 == 0 ? .get : .post)) }
        }
        await script.requests.waitForCount(20)
        gate.open()
        for call in calls { #expect(RecordingPlugin.Outcome(await call.value) == .status(200)) }
        #expect(script.hosts.suffix(20) == Array(repeating: "b.example", count: 20)[...])
        #expect(moves.elements == ["b"])
    }

    @Test("A late failure of a host that is used again does not move calls")
    func lateFailure() async {
        let gate = Gate()
        let script = ScriptedTransport { request, index in
            guard index == 0 else {
                return request.url?.host() == "a.example" && index == 1 ? .status(503) : .status(200)
            }
            try await gate.waitUnlessCancelled()
            return .status(503)
        }
        let plugin = plugin("ab")
        let provider = Provider<SturdyTarget>(transport: script.transport, plugins: [plugin])
        let late = Task { await provider.result(SturdyTarget()) }
        await script.requests.waitForCount(1)
        _ = await provider.result(SturdyTarget())
        clock.advance(by: .seconds(60))
        _ = await provider.result(SturdyTarget())
        #expect(moves.elements == ["b", "a"])
        gate.open()
        #expect(RecordingPlugin.Outcome(await late.value) == .status(200))
        #expect(plugin.currentHost?.host() == "a.example")
        #expect(script.hosts.map { $0.prefix(1) }.joined() == "aabab")
    }

    @Test("A cancelled call is not moved, and its host is still used")
    func cancelled() async {
        let gate = Gate()
        let script = ScriptedTransport { _, _ in
            try await gate.waitUnlessCancelled()
            return .status(200)
        }
        let plugin = plugin()
        let provider = Provider<SturdyTarget>(transport: script.transport, plugins: [plugin])
        let call = Task { await provider.result(SturdyTarget()) }
        await script.requests.waitForCount(1)
        call.cancel()
        #expect(await call.value.failure?.stage == .cancelled)
        #expect(script.requests.count == 1)
        #expect(plugin.currentHost?.host() == "a.example")
    }

    @Test("A host that is not available is skipped, before and after a failure")
    func availability() async {
        let closed = Locked<Set<String>>(["a.example"])
        var policy = HostFailoverPolicy()
        policy.isAvailable = { host in closed.withLock { !$0.contains(host.host() ?? "") } }
        let plugin = plugin("abcd", policy)
        #expect(await outcome(plugin) == .status(200))
        closed.withLock { $0 = ["c.example"] }
        hosts.set(.status(503), "b")
        #expect(await outcome(plugin) == .status(200))
        #expect(hosts.visits == "bbd")
        // If no host is available, the current one is used.
        closed.withLock { $0 = ["a.example", "b.example", "c.example", "d.example"] }
        #expect(await outcome(plugin) == .status(200))
        #expect(hosts.visits == "bbdd")
    }
}
