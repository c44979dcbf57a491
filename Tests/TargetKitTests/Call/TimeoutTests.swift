// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Timeouts", .throttled, .timeLimit(.minutes(2)))
struct TimeoutTests {
    struct Patient: TargetType {
        var options: CallOptions
        var baseURL: URL { .example }
        var path: RequestPath { "/patient" }
    }

    @Test(
        "A whole call that takes too long ends as timed out, wherever it is",
        arguments: ["prepare", "transport"]
    )
    func wholeCall(place: String) async throws {
        let clock = ManualClock()
        let transport = HeldTransport()
        let plugin = RecordingPlugin(
            prepare: { request, _ in
                if place == "prepare" { try await Gate().waitUnlessCancelled() }
                return request
            }
        )
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [plugin],
            options: .setting(\.timeout, .wholeCall(.milliseconds(1500))),
            clock: clock
        )
        let call = Task { try await provider.request(TestTarget(.example)) }
        try await clock.waitForSleepers()
        #expect(clock.remainingSleeps.first == .milliseconds(1500))
        clock.advance(by: .milliseconds(1500))
        let error = await #expect(throws: TargetKitError.self) { try await call.value }
        #expect(error?.stage == .transport)
        #expect(error?.kind == .timedOut)
        #expect((error?.underlying as? URLError)?.code == .timedOut)
        let words = "the whole call, with its retries and waits, took longer than 1.5 seconds; set \\.timeout"
        #expect(error?.description.contains(words) == true)
        #expect(plugin.events.last == .process(.failure(.transport)))
        #expect(clock.sleeperCount == 0)
    }

    @Test("A call that is quick enough leaves nothing on the clock")
    func quick() async throws {
        let clock = ManualClock()
        let provider = Provider<TestTarget>(stubClosure: { _ in .immediate }, clock: clock)
        let response = try await provider.request(
            TestTarget(.example),
            options: .setting(\.timeout, .wholeCall(.seconds(1)))
        )
        #expect(response.statusCode == 200)
        // The clock's sleeper goes when its task has seen the cancel.
        while !Task.isCancelled, clock.sleeperCount > 0 { await Task.yield() }
    }

    @Test(
        "A request's timeout that isn't greater than zero ends the call, however small it is",
        arguments: [0, -1, -1e18, -1e300, -.greatestFiniteMagnitude] as [TimeInterval]
    )
    func negative(seconds: TimeInterval) async {
        let provider = Provider<TestTarget>(
            requestClosure: { endpoint in
                var request = try endpoint.urlRequest()
                request.timeoutInterval = seconds
                return request
            },
            transport: StubTransport(.response(status: 200, data: Data()))
        )
        let error = await #expect(throws: TargetKitError.self) { try await provider.request(TestTarget(.example)) }
        #expect(error?.stage == .request)
    }

    @Test("A request's timeout that isn't a number limits nothing", arguments: [Double.nan, .infinity, 1e300])
    func noNumber(seconds: TimeInterval) async throws {
        let provider = Provider<TestTarget>(
            requestClosure: { endpoint in
                var request = try endpoint.urlRequest()
                request.timeoutInterval = seconds
                return request
            },
            transport: StubTransport(.response(status: 200, data: Data()))
        )
        #expect(try await provider.request(TestTarget(.example)).statusCode == 200)
    }

    @Test("The error of an exchange that timed out states its limit and the option, whoever found out")
    func exchangeWords() async throws {
        let provider = Provider<TestTarget>(transport: SlowTransport())
        let options = CallOptions.setting(\.timeout, .exchange(.milliseconds(800)))
        let limited = await #expect(throws: TargetKitError.self) {
            try await provider.request(TestTarget(.example), options: options)
        }
        let words = "the exchange took longer than 0.8 seconds; set \\.timeout to a longer .exchange(…)"
        #expect(limited?.description.contains(words) == true, "\(limited as Any)")
        #expect((limited?.underlying as? URLError)?.code == .timedOut)
        let unlimited = await #expect(throws: TargetKitError.self) {
            try await provider.request(TestTarget(.example))
        }
        #expect(unlimited?.description.contains("took longer") == false)
    }

    @Test("A stub's delay that exceeds the exchange's limit is stated with it")
    func stubWords() async throws {
        let clock = ManualClock()
        let provider = Provider<TestTarget>(stubClosure: { _ in .delayed(.seconds(5)) }, clock: clock)
        let call = Task {
            try await provider.request(
                TestTarget(.example),
                options: .setting(\.timeout, .exchange(.seconds(2)))
            )
        }
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(2))
        let error = await #expect(throws: TargetKitError.self) { try await call.value }
        let words = "the stub's delay of 5.0 seconds exceeds the exchange's limit of 2.0 seconds; shorten the delay"
        #expect(error?.description.contains(words) == true, "\(error as Any)")
    }

    @Test("An exchange is timed by an injected clock, at each attempt anew")
    func exchange() async throws {
        let clock = ManualClock()
        let transport = HeldTransport()
        let plugin = RecordingPlugin(retry: { _, context in context.attempt == 0 ? .retry(after: .zero) : .doNotRetry })
        let provider = Provider<TestTarget>(transport: transport, plugins: [plugin], clock: clock)
        let options = CallOptions.setting(\.timeout, .exchange(.milliseconds(800)))
        let call = Task { try await provider.request(TestTarget(.example), options: options) }
        for attempt in 0...1 {
            await transport.sent.waitForCount(attempt + 1)
            try await clock.waitForSleepers(1)
            #expect(clock.remainingSleeps == [.milliseconds(800)])
            clock.advance(by: .milliseconds(800))
        }
        let error = await #expect(throws: TargetKitError.self) { try await call.value }
        #expect(error?.kind == .timedOut)
        #expect(plugin.events.contains(.didReceive(attempt: 1, .failure(.transport))))
    }

    enum Engine: CaseIterable, Sendable { case network, stubTransport, delayedStub }

    @Test(
        "An injected clock ends an exchange in the caller's task too, whatever it goes through",
        arguments: Engine.allCases
    )
    func exchangeInCallersTask(engine: Engine) async throws {
        let clock = ManualClock()
        let server = try TestServer(response: .hang)
        let transport: any Transport =
            engine == .network
            ? SystemTransport.another()
            : StubTransport { _ in
                try await Gate().waitUnlessCancelled()
                return .response(status: 200, data: Data())
            }
        let provider = Provider<TestTarget>(
            stubClosure: { _ in engine == .delayedStub ? .delayed(.seconds(3)) : .never },
            transport: transport,
            clock: clock
        )
        let options = CallOptions.setting(\.timeout, .exchange(.milliseconds(800)))
        let call = Task { try await provider.request(TestTarget(server.baseURL), options: options) }
        try await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(800))
        let error = await #expect(throws: TargetKitError.self) { try await call.value }
        #expect(error?.kind == .timedOut && error?.stage == .transport)
        #expect(clock.sleeperCount == 0)
    }

    @Test("A stub that is quick enough is in time by any clock")
    func stubInTime() async throws {
        let provider = Provider<TestTarget>(stubClosure: { _ in .immediate }, clock: HastyClock())
        let options = CallOptions.setting(\.timeout, .exchange(.seconds(5)))
        for _ in 0..<50 {
            let response = try await provider.request(TestTarget(.example), options: options)
            #expect(response.statusCode == 200)
        }
    }

    @Test("The limit of an exchange is the call's, else the endpoint's, else the target's, else the provider's")
    func precedence() async throws {
        let seen = Recorder<Duration?>()
        let transport = StubTransport { request in
            seen.append(request.timeout)
            return .response(status: 200, data: Data())
        }
        let provider = Provider<MultiTarget>(
            endpointClosure: { target in
                var endpoint = try Endpoint(target: target)
                if target.path == "/own" { endpoint.timeout = .seconds(7) }
                return endpoint
            },
            transport: transport,
            options: .setting(\.timeout, .exchange(.seconds(9)))
        )
        let plain = TestTarget(.example)
        _ = try await provider.request(MultiTarget(plain))
        let patient = Patient(options: .setting(\.timeout, .exchange(.seconds(8))))
        let five = CallOptions.setting(\.timeout, .exchange(.seconds(5)))
        _ = try await provider.request(MultiTarget(patient))
        _ = try await provider.request(
            MultiTarget(
                plain.with {
                    $0.options = patient.options; $0.path = "/own"
                }
            )
        )
        _ = try await provider.request(MultiTarget(plain.with { $0.path = "/own" }), options: five)
        _ = try await provider.request(MultiTarget(plain), options: .setting(\.timeout, .wholeCall(.seconds(5))))
        #expect(seen.elements == [.seconds(9), .seconds(8), .seconds(7), .seconds(5), .seconds(9)])
    }

    static let endlessTimes: [Duration] = [
        .seconds(Int64.max), .seconds(Int64.max) * 10, .seconds(1.5e20), .milliseconds(Int64.max),
    ]

    @Test("A timeout beyond a clock's range is a very long one", arguments: endlessTimes)
    func endless(time: Duration) async throws {
        let server = try TestServer(response: .status(200))
        let target = TestTarget(server.baseURL)
        for transport in [SystemTransport.patient, URLSessionTransport.patient] as [any Transport] {
            for timeout in [CallTimeout.wholeCall(time), .exchange(time), CallTimeout(exchange: time, wholeCall: time)]
            {
                let provider = Provider<TestTarget>(transport: transport, options: .setting(\.timeout, timeout))
                #expect(try await provider.request(target).statusCode == 200)
                #expect(try await provider.request(target.with { $0.options.timeout = timeout }).statusCode == 200)
                #expect(try await provider.request(target, options: .setting(\.timeout, timeout)).statusCode == 200)
            }
            let request = TransportRequest(urlRequest: URLRequest(url: server.baseURL), timeout: time)
            #expect(try await transport.send(request).head.statusCode == 200)
        }
    }

    @Test("A wait beyond a clock's range is a very long one, and can be cancelled", arguments: endlessTimes)
    func endlessWaits(time: Duration) async throws {
        let delayed = Provider<TestTarget>(stubClosure: { _ in .delayed(time) })
        let slow = Provider<TestTarget>(transport: StubTransport(delay: time) { _ in .failure(Boom()) })
        let retrying = Provider<TestTarget>(
            stubClosure: { _ in .immediate },
            plugins: [RecordingPlugin(retry: { _, _ in .retry(after: time) })]
        )
        for provider in [delayed, slow, retrying] {
            let call = Task { try await provider.request(TestTarget(.example)) }
            for _ in 0..<200 { await Task.yield() }
            call.cancel()
            let error = await #expect(throws: TargetKitError.self) { try await call.value }
            #expect(error?.stage == .cancelled)
        }
        let scope = RequestScope()
        let busy = Provider<TestTarget>(transport: HeldTransport(), scope: scope)
        let call = Task { try await busy.request(TestTarget(.example)) }
        while !Task.isCancelled, scope.inFlightCount == 0 { await Task.yield() }
        let ending = Task { await scope.shutdown(grace: time) }
        for _ in 0..<200 { await Task.yield() }
        ending.cancel()
        await ending.value
        await #expect(throws: TargetKitError.self) { try await call.value }
    }

    @Test("Extreme numbers as limits do not trap", arguments: [Int.max, Int.max / 2 + 1, Int.min, 0])
    func endlessNumbers(number: Int) async throws {
        let provider = Provider<TestTarget>(stubClosure: { _ in .immediate }, redirects: .follow(limit: number))
        let target = TestTarget(.example)
        for await outcome in provider.requests([target, target, target], maxConcurrent: number, inOrder: true) {
            #expect(try outcome.result.get().statusCode == 200)
        }
        let isLimit = number <= 0
        let limited = target.with { $0.task = .plain.limit(bytes: number) }
        let result = await Result<Response, any Error> { try await provider.request(limited) }
        #expect((try? result.get()) == nil ? isLimit : !isLimit)
        let server = try TestServer(response: .text("0123456789"))
        for transport in [SystemTransport.patient, URLSessionTransport.patient] as [any Transport] {
            let real = Provider<TestTarget>(transport: transport)
            let call = TestTarget(server.baseURL).with { $0.task = .plain.limit(bytes: number) }
            let result = await Result<Response, any Error> { try await real.request(call) }
            #expect((try? result.get()) == nil ? isLimit : !isLimit)
        }
    }

    @Test(
        "A timeout of zero or less is a mistake of the program",
        arguments: [
            CallTimeout.exchange(.zero), .wholeCall(.zero), .wholeCall(.seconds(-1)), .exchange(.seconds(Int64.min)),
            .wholeCall(.seconds(-1.5e20)),
        ]
    )
    func invalid(timeout: CallTimeout) async throws {
        let provider = Provider<TestTarget>(stubClosure: { _ in .immediate }, options: .setting(\.timeout, timeout))
        let error = await #expect(throws: TargetKitError.self) { try await provider.request(TestTarget(.example)) }
        #expect(error?.kind == .invalidRequest)
        #expect(error?.underlying is InvalidRequest)
    }
}

/// A clock whose waits are over at once.
private struct HastyClock: Clock {
    var now: ContinuousClock.Instant { .now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {}
}

/// A transport with a limit of its own, which it doesn't state.
private struct SlowTransport: Transport {
    func send(_ request: TransportRequest) async throws -> TransportResponse { throw URLError(.timedOut) }
}
