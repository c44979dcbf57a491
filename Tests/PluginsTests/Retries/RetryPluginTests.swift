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

@Suite("Retry", .throttled, .timeLimit(.minutes(3)))
struct RetryPluginTests {
    private let clock = ManualClock()

    private func provider(
        _ script: ScriptedTransport,
        _ plugins: any Plugin...,
        policy: RetryPolicy = RetryPolicy()
    ) -> Provider<SturdyTarget> {
        Provider(
            transport: script.transport,
            plugins: plugins + [RetryPlugin(policy: policy, clock: clock)],
            clock: clock
        )
    }

    /// The number of requests, and the result.
    private func attempts(
        _ answers: SampleResponse...,
        target: SturdyTarget = SturdyTarget(),
        policy: RetryPolicy = RetryPolicy()
    ) async -> (count: Int, outcome: RecordingPlugin.Outcome) {
        let script = ScriptedTransport { _, index in answers[min(index, answers.count - 1)] }
        let provider = provider(script, policy: policy)
        let result = await clock.stepping { await provider.result(target) }.value
        return (script.requests.count, .init(result))
    }

    @Test(
        "A call with a transient status is sent three times, whether the target accepts the status or not",
        arguments: [408, 425, 429, 500, 502, 503, 504],
        [StatusValidation.none, .successCodes]
    )
    func transientStatus(_ status: Int, _ validation: StatusValidation) async {
        let target = SturdyTarget(validation: validation)
        let failing = await attempts(.status(status), target: target)
        #expect(failing.count == 3)
        #expect(failing.outcome == (validation == .none ? .status(status) : .failure(.status)))
        let recovering = await attempts(.status(status), .status(200), target: target)
        #expect(recovering == (2, .status(200)))
    }

    @Test(
        "Any other status is the answer",
        arguments: [200, 204, 301, 304, 400, 401, 403, 404, 409, 422, 501, 505],
        [StatusValidation.none, .successCodes]
    )
    func finalStatus(_ status: Int, _ validation: StatusValidation) async {
        #expect(await attempts(.status(status), target: SturdyTarget(validation: validation)).count == 1)
    }

    @Test(
        "A call is repeated after a transient failure",
        arguments: [
            URLError.Code.timedOut, .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .networkConnectionLost,
            .notConnectedToInternet,
        ]
    )
    func transientError(_ code: URLError.Code) async {
        #expect(await attempts(.error(code)) == (3, .failure(.transport)))
        #expect(await attempts(.error(code), .status(200)) == (2, .status(200)))
    }

    @Test(
        "Any other failure is final",
        arguments: [
            URLError.Code.badURL, .secureConnectionFailed, .serverCertificateUntrusted, .dataLengthExceedsMaximum,
            .httpTooManyRedirects, .cannotDecodeContentData, .fileDoesNotExist, .unknown,
        ]
    )
    func finalError(_ code: URLError.Code) async {
        #expect(await attempts(.error(code)) == (1, .failure(.transport)))
    }

    @Test("An error that is not a URLError is final")
    func foreignError() async {
        #expect(await attempts(.failure(Boom())) == (1, .failure(.transport)))
    }

    @Test("Statuses, codes and methods can be chosen")
    func chosen() async {
        var policy = RetryPolicy(attempts: 2)
        policy.statuses = [418]
        policy.errorCodes = [.badURL]
        policy.methods = [.post]
        let post = SturdyTarget(method: .post)
        #expect(await attempts(.status(418), target: post, policy: policy).count == 2)
        #expect(await attempts(.error(.badURL), target: post, policy: policy).count == 2)
        #expect(await attempts(.status(503), target: post, policy: policy).count == 1)
        #expect(await attempts(.error(.timedOut), target: post, policy: policy).count == 1)
        #expect(await attempts(.status(418), policy: policy).count == 1)
    }

    @Test(
        "Only idempotent methods are repeated",
        arguments: [
            ("GET", true), ("HEAD", true), ("OPTIONS", true), ("TRACE", true), ("PUT", true), ("DELETE", true),
            ("QUERY", true), ("POST", false), ("PATCH", false), ("PURGE", false),
        ]
    )
    func methods(_ method: String, _ isRepeated: Bool) async {
        let target = SturdyTarget(method: HTTPMethod(rawValue: method))
        #expect(await attempts(.status(503), target: target).count == (isRepeated ? 3 : 1))
        // Also if nothing was sent.
        #expect(await attempts(.error(.cannotConnectToHost), target: target).count == (isRepeated ? 3 : 1))
    }

    @Test("The method that is sent counts, not the target's; after a redirect the first one")
    func sentMethod() async throws {
        let script = ScriptedTransport(.status(503))
        let changed = Provider<SturdyTarget>(
            endpointClosure: { target in
                var endpoint = try Endpoint(target: target)
                endpoint.method = .post
                return endpoint
            },
            transport: script.transport,
            plugins: [RetryPlugin()]
        )
        _ = await changed.result(SturdyTarget())
        #expect(script.requests.count == 1)
        // The server has processed the POST, and redirects to a page that fails.
        let redirecting = ScriptedTransport { request, _ in
            request.httpMethod == "POST" ? .status(303, ["Location": "/receipt"]) : .status(503)
        }
        _ = await provider(redirecting).result(SturdyTarget(method: .post))
        #expect(redirecting.requests.elements.map(\.httpMethod) == ["POST", "GET"])
    }

    @Test(
        "A call is sent as often as the policy says, and at least once",
        arguments: [(-1, 1), (0, 1), (1, 1), (2, 2), (5, 5)]
    )
    func count(_ attempts: Int, _ expected: Int) async {
        #expect(await self.attempts(.status(503), policy: RetryPolicy(attempts: attempts)).count == expected)
    }

    @Test("The policy of the options overrides the plugin's")
    func targetPolicy() async {
        let never = SturdyTarget(retryPolicy: .never)
        let five = SturdyTarget(retryPolicy: RetryPolicy(attempts: 5))
        #expect(await attempts(.status(503), target: never).count == 1)
        #expect(await attempts(.status(503), target: five).count == 5)
        #expect(await attempts(.status(503), target: five, policy: .never).count == 5)
        #expect(await attempts(.status(503), target: SturdyTarget(), policy: .never).count == 1)
        let script = ScriptedTransport(.status(503))
        let provider = provider(script)
        let result = await clock.stepping {
            await Result { () async throws(TargetKitError) in
                try await provider.request(five, options: .setting(\.retryPolicy, RetryPolicy(attempts: 2)))
            }
        }
        #expect(result.value.failure == nil)
        #expect(script.requests.count == 2)
    }

    @Test("Attempts that another plugin asked for do not count")
    func othersAttempts() async {
        let script = ScriptedTransport(.status(401), .status(503))
        let refresh = RecordingPlugin(
            place: .authentication,
            retry: { _, context in context.attempt == 0 ? .retry(after: .zero) : .doNotRetry }
        )
        let provider = provider(script, refresh)
        let (result, sleeps) = await clock.stepping { await provider.result(SturdyTarget()) }
        #expect(RecordingPlugin.Outcome(result) == .status(503))
        #expect(script.requests.count == 4)
        #expect(sleeps.count == 2)
    }

    @Test("A call that failed before it was sent is not repeated")
    func beforeSending() async {
        let script = ScriptedTransport(.status(200))
        let broken = RecordingPlugin(prepare: { _, _ in throw URLError(.timedOut) })
        let result = await provider(script, broken).result(SturdyTarget())
        #expect(result.failure?.stage == .request)
        #expect(script.requests.count == 0)
        #expect(broken.events.contains(.prepare(attempt: 1)) == false)
    }

    @Test("A call that is cancelled during its delay is not sent again")
    func cancelledWaiting() async throws {
        let script = ScriptedTransport(.status(503))
        let provider = provider(script)
        let call = Task { await provider.result(SturdyTarget()) }
        try await clock.waitForSleepers()
        call.cancel()
        #expect(await call.value.failure?.stage == .cancelled)
        #expect(script.requests.count == 1)
        #expect(clock.sleeperCount == 0)
    }

    @Test("A call that the transport cancelled is not repeated, whatever its status")
    func cancelled() async {
        #expect(await attempts(.error(.cancelled)) == (1, .failure(.cancelled)))
        let plugin = RetryPlugin()
        let context = RequestContext(target: SturdyTarget(), attempt: 0)
        let response = Response(statusCode: 503, request: URLRequest(url: .shop))
        let cancelled = TargetKitError(stage: .cancelled, response: response, underlying: CancellationError())
        guard case .doNotRetry = await plugin.retry(.failure(cancelled), context: context) else {
            Issue.record("a cancelled call is repeated")
            return
        }
    }

    @Test("A stream whose response is 503 is repeated")
    func stream() async throws {
        let script = ScriptedTransport(.status(503), .response(status: 200, data: Data("one\ntwo\n".utf8)))
        let provider = provider(script)
        let lines = await clock.stepping { () -> [String] in
            var lines: [String] = []
            do {
                for try await line in try await provider.stream(SturdyTarget()).lines() { lines.append(line) }
            } catch {
                lines.append("\(error)")
            }
            return lines
        }
        #expect(lines.value == ["one", "two"])
        #expect(script.requests.count == 2)
    }
}

@Suite("Retry: predicate, notification, history", .throttled, .timeLimit(.minutes(3)))
struct RetryHistoryTests {
    private let clock = ManualClock()

    private func result(
        _ script: ScriptedTransport,
        _ plugin: RetryPlugin,
        _ target: SturdyTarget = SturdyTarget(validation: .successCodes),
        options: CallOptions = CallOptions()
    ) async -> Result<Response, TargetKitError> {
        let provider = Provider<SturdyTarget>(
            transport: script.transport,
            plugins: [plugin],
            options: options,
            clock: clock
        )
        return await clock.stepping { await provider.result(target) }.value
    }

    @Test(
        "The predicate overrides the statuses and codes of the policy, and nothing else",
        arguments: [
            (true, HTTPMethod.get, 404, 3), (true, .post, 404, 1), (false, .get, 503, 1), (nil, .get, 503, 3),
            (nil, .get, 404, 1),
        ]
            as [(Bool?, HTTPMethod, Int, Int)]
    )
    func predicate(_ decision: Bool?, _ method: HTTPMethod, _ status: Int, _ count: Int) async {
        let script = ScriptedTransport(.status(status))
        let plugin = RetryPlugin(clock: clock, shouldRetry: { _, _ in decision })
        _ = await result(script, plugin, SturdyTarget(method: method))
        #expect(script.requests.count == count)
    }

    @Test("The predicate gets the result of the attempt, and is not asked about cancelled calls")
    func predicateResult() async {
        let asked = Recorder<RecordingPlugin.Outcome>()
        let plugin = RetryPlugin(
            clock: clock,
            shouldRetry: { result, context in
                asked.append(.init(result))
                return context.attempt == 0
            }
        )
        _ = await result(ScriptedTransport(.status(409)), plugin)
        _ = await result(ScriptedTransport(.error(.cancelled)), plugin)
        #expect(asked.elements == [.failure(.status), .failure(.status)])
    }

    @Test(
        "A closure is called before each retry, and the error has the attempts before the last one",
        arguments: [false, true]
    )
    func history(isShared: Bool) async throws {
        let told = Recorder<FailedAttempt>()
        let plugin = RetryPlugin(
            policy: RetryPolicy(baseDelay: .seconds(1)),
            clock: clock,
            generator: HighestNumbers(),
            onRetry: { attempt, context in
                #expect(context.attempt == told.count)
                told.append(attempt)
            }
        )
        let script = ScriptedTransport(
            .error(.timedOut),
            .status(503, ["Retry-After": "7", "Set-Cookie": "secret"]),
            .status(500)
        )
        let error = try #require(
            await result(script, plugin, options: .setting(\.sharesInFlight, isShared)).failure
        )
        #expect(error.response?.statusCode == 500)
        #expect(error.previousAttempts == told.elements)
        #expect(error.previousAttempts.map(\.kind) == [.timedOut, .server])
        #expect(error.previousAttempts.map(\.statusCode) == [nil, 503])
        #expect(error.previousAttempts.last?.delay == .seconds(7))
        #expect("\(error)".hasSuffix(", after timedOut, server (HTTP 503)"))
        #expect(!"\(error)".contains("secret"))
    }

    @Test("An error that follows other retries has their attempts too, and one without retries has none")
    func otherRetries() async {
        let script = ScriptedTransport(.status(401))
        let refresh = RecordingPlugin(
            place: .authentication,
            prepare: { request, context in
                if context.attempt == 1 { throw Boom() }
                return request
            },
            retry: { _, _ in .retry(after: .zero) }
        )
        let provider = Provider<SturdyTarget>(transport: script.transport, plugins: [refresh])
        let error = await provider.result(SturdyTarget()).failure
        #expect(error?.underlying is Boom)
        #expect(error?.previousAttempts.map(\.kind) == [.unauthorized])
        let plain = Provider<SturdyTarget>(transport: script.transport)
        #expect(await plain.result(SturdyTarget(validation: .successCodes)).failure?.previousAttempts == [])
    }

    @Test(
        "The presets",
        arguments: [
            (RetryPolicy.idempotent, 503, nil, 3), (.idempotent, nil, .timedOut, 3), (.lostConnections, 503, nil, 1),
            (.lostConnections, nil, .timedOut, 1), (.lostConnections, nil, .networkConnectionLost, 3),
            (.never, 503, nil, 1),
        ] as [(RetryPolicy, Int?, URLError.Code?, Int)]
    )
    func presets(_ policy: RetryPolicy, _ status: Int?, _ code: URLError.Code?, _ count: Int) async {
        let script = ScriptedTransport(code.map { .error($0) } ?? .status(status ?? 200))
        _ = await result(script, RetryPlugin(policy: policy, clock: clock))
        #expect(script.requests.count == count)
        let post = ScriptedTransport(code.map { .error($0) } ?? .status(status ?? 200))
        _ = await result(post, RetryPlugin(policy: policy, clock: clock), SturdyTarget(method: .post))
        #expect(post.requests.count == 1)
    }
}

@Suite("Idempotency key", .throttled, .timeLimit(.minutes(3)))
struct IdempotencyKeyTests {
    private let clock = ManualClock()

    private func keys(sentFor targets: SturdyTarget..., answers: SampleResponse = .status(503)) async -> [[String?]] {
        var keys: [[String?]] = []
        for target in targets {
            let script = ScriptedTransport(answers)
            let provider = Provider<SturdyTarget>(
                transport: script.transport,
                plugins: [RetryPlugin(clock: clock)],
                clock: clock
            )
            _ = await clock.stepping { await provider.result(target) }
            keys.append(script.requests.elements.map { $0.value(forHTTPHeaderField: "Idempotency-Key") })
        }
        return keys
    }

    @Test("A POST with a key is repeated, with the same key at all attempts and another one in the next call")
    func oneKeyPerCall() async {
        let asked = Tally()
        let target = SturdyTarget(method: .post) {
            asked.add()
            return "key-\(asked.value)"
        }
        let keys = await keys(sentFor: target, target)
        #expect(keys.map(\.count) == [3, 3])
        #expect(keys.map { Set($0).count } == [1, 1])
        #expect(Set(keys.joined()).count == 2)
    }

    @Test("A POST with a key in its header fields is repeated, and keeps that key")
    func ownField() async {
        let own = SturdyTarget(method: .post, headers: ["idempotency-key": "own"])
        #expect(
            await keys(sentFor: own, own.with { $0.key = { "other" } }) == [
                ["own", "own", "own"], ["own", "own", "own"],
            ]
        )
    }

    @Test("A POST without a key, or with an empty one, has no field and is not repeated", arguments: [nil, ""])
    func noKey(_ key: String?) async {
        #expect(await keys(sentFor: SturdyTarget(method: .post) { key }) == [[nil]])
    }

    @Test("A POST with an empty key in its header fields is not sent again", arguments: ["", " "])
    func emptyField(_ key: String) async {
        let target = SturdyTarget(method: .post, headers: ["Idempotency-Key": key])
        #expect(await keys(sentFor: target).map(\.count) == [1])
    }

    @Test("The key is also sent with an idempotent method")
    func idempotentMethod() async {
        #expect(await keys(sentFor: SturdyTarget(method: .put) { "k" }, answers: .status(200)) == [["k"]])
    }

    @Test("A key with CR, LF or NUL ends the call", arguments: ["a\r\nX: b", "a\nb", "a\0b"])
    func badKey(_ key: String) async {
        let script = ScriptedTransport(.status(200))
        let provider = Provider<SturdyTarget>(transport: script.transport, plugins: [RetryPlugin()])
        let failure = await provider.result(SturdyTarget(method: .post) { key }).failure
        #expect(failure?.stage == .request)
        #expect(failure?.underlying as? InvalidRequest == .invalidHeaderValue(name: "Idempotency-Key"))
        #expect(script.requests.count == 0)
    }
}
