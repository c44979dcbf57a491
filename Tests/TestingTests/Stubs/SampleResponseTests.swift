// SPDX-License-Identifier: MIT
import Foundation
import TargetKitTesting
import TestSupport
import Testing

@testable import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("SampleResponse and StubBehavior", .throttled, .timeLimit(.minutes(2)))
struct SampleResponseTests {
    private struct Sampled: TargetType {
        var sampleResponse: SampleResponse
        var baseURL: URL { URL(string: "https://shop.example") ?? URL(fileURLWithPath: "/") }
        var path: RequestPath { "/" }

        func sampleResponse(in scenario: String) -> SampleResponse? {
            scenario == "slow" ? .delayed(.seconds(3), .status(202)) : nil
        }
    }

    @Test("json and status create responses")
    func conveniences() async throws {
        let provider = Provider<Sampled>(stubClosure: { _ in .immediate })
        let json = try await provider.request(Sampled(sampleResponse: .json("[1]", status: 201)))
        #expect(json.statusCode == 201)
        #expect(json.headers[.contentType] == "application/json")
        #expect(json.data == Data("[1]".utf8))
        let empty = try await provider.request(Sampled(sampleResponse: .status(204)))
        #expect(empty.statusCode == 204)
        #expect(empty.data.isEmpty)
    }

    @Test(
        "The provider's clock measures a sample's delay",
        arguments: [
            (StubBehavior.immediate, 2), (.delayed(.seconds(1)), 2), (.scenario("slow"), 3), (.scenario("other"), 2),
        ]
    )
    func delayed(behavior: StubBehavior, seconds: Int) async throws {
        let clock = ManualClock()
        let provider = Provider<Sampled>(stubClosure: { _ in behavior }, clock: clock)
        async let response = provider.request(
            Sampled(sampleResponse: .delayed(.seconds(1), .delayed(.seconds(1), .status(200))))
        )
        if case .delayed = behavior {
            try await clock.waitForSleepers()
            clock.advance(by: .seconds(1))
        }
        try await clock.waitForSleepers()
        #expect(clock.remainingSleeps == [.seconds(seconds)])
        clock.advance(by: .seconds(seconds))
        #expect(try await response.statusCode == (seconds == 3 ? 202 : 200))
    }

    @Test("The delays of a stub and its sample count against one timeout", arguments: [3, 5])
    func timeout(limit: Int) async throws {
        let clock = ManualClock()
        let provider = Provider<Sampled>(stubClosure: { _ in .delayed(.seconds(2)) }, clock: clock)
        async let result = provider.result(
            Sampled(sampleResponse: .delayed(.seconds(2), .status(200))),
            options: .setting(\.timeout, .exchange(.seconds(limit)))
        )
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(2))
        try await clock.waitForSleepers()
        #expect(clock.remainingSleeps == [.seconds(min(2, limit - 2))])
        clock.advance(by: .seconds(2))
        switch await result {
        case .success: #expect(limit == 5)
        case .failure(let error): #expect(error.kind == .timedOut && limit == 3)
        }
    }

    @Test("A delayed failure fails after the delay, and a cancelled call ends the delay", arguments: [true, false])
    func delayedFailure(isCancelled: Bool) async throws {
        let clock = ManualClock()
        let provider = Provider<Sampled>(stubClosure: { _ in .immediate }, clock: clock)
        let task = Task {
            await provider.result(
                Sampled(sampleResponse: .delayed(.seconds(1), .failure(URLError(.notConnectedToInternet))))
            )
        }
        try await clock.waitForSleepers()
        if isCancelled { task.cancel() } else { clock.advance(by: .seconds(1)) }
        let error = await #expect(throws: TargetKitError.self) { try await task.value.get() }
        #expect(error?.kind == (isCancelled ? .cancelled : .offline))
        #expect(clock.sleeperCount == 0)
    }

    @Test("A closure of a StubTransport can return a delayed sample")
    func delayedByClosure() async throws {
        let clock = ManualClock()
        let transport = StubTransport(delay: .seconds(1), clock: clock) { _ in .delayed(.seconds(2), .status(200)) }
        async let response = Provider<TeaShop>(transport: transport).request(.product(id: 1))
        for seconds in [1, 2] {
            try await clock.waitForSleepers()
            #expect(clock.remainingSleeps == [.seconds(seconds)])
            clock.advance(by: .seconds(seconds))
        }
        #expect(try await response.statusCode == 200)
    }

    @Test("The longest and negative delays are no mistake", arguments: [Duration.seconds(Int64.max), .seconds(-5)])
    func extremeDelays(delay: Duration) async throws {
        let clock = ManualClock()
        let provider = Provider<Sampled>(stubClosure: { _ in .immediate }, clock: clock)
        async let response = provider.request(Sampled(sampleResponse: .delayed(delay, .delayed(delay, .status(200)))))
        if delay > .zero {
            try await clock.waitForSleepers()
            clock.advanceToNextDeadline()
        }
        #expect(try await response.statusCode == 200)
    }

    @Test("A scenario selects the target's sample, also of a MultiTarget and of a changed endpoint")
    func scenario() async throws {
        let provider = Provider<TeaShop>(stubClosure: { _ in .scenario("out of stock") })
        let error = await #expect(throws: TargetKitError.self) { try await provider.request(.product(id: 1)) }
        #expect(error?.response?.statusCode == 404)
        let multi = Provider<MultiTarget>(stubClosure: { _ in .scenario("out of stock") })
        let inner = await #expect(throws: TargetKitError.self) {
            try await multi.request(MultiTarget(TeaShop.product(id: 1)))
        }
        #expect(inner?.response?.statusCode == 404)
        let given = Provider<TeaShop>(
            endpointClosure: { target in
                var endpoint = try Endpoint(target: target)
                endpoint.sampleResponse = .status(202)
                return endpoint
            },
            stubClosure: { _ in .scenario("out of stock") }
        )
        #expect(try await given.request(.product(id: 1)).statusCode == 202)
        let changed = Provider<TeaShop>(
            endpointClosure: {
                var endpoint = try Endpoint(target: $0)
                endpoint.headers["A"] = "b"
                return endpoint
            },
            stubClosure: { _ in .scenario("out of stock") }
        )
        await #expect(throws: TargetKitError.self) { try await changed.request(.product(id: 1)) }
        let unknown = Provider<TeaShop>(stubClosure: { _ in .scenario("unknown") })
        #expect(try await unknown.request(.product(id: 1)).data == Data(#"{"id":1}"#.utf8))
    }

    @Test("Calls with equal delayed samples share an exchange, and those of other scenarios do not")
    func sharing() async throws {
        let clock = ManualClock()
        let scenarios = Locked(["slow", "slow", "other"])
        let provider = Provider<Sampled>(
            stubClosure: { _ in .scenario(scenarios.withLock { $0.removeFirst() }) },
            options: .setting(\.sharesInFlight, true),
            clock: clock
        )
        let target = Sampled(sampleResponse: .delayed(.seconds(3), .status(201)))
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<3 { group.addTask { try await provider.request(target).statusCode } }
            try await clock.waitForSleepers(2)
            while !Task.isCancelled, provider.configuration.sharedExchanges.waiterCount < 3 { await Task.yield() }
            #expect(clock.sleeperCount == 2)
            clock.advance(by: .seconds(3))
            return try await group.reduce(into: []) { $0.append($1) }.sorted()
        }
        #expect(statuses == [201, 202, 202])
    }

    @Test("A sample's description has its delay")
    func description() {
        #expect("\(SampleResponse.delayed(.seconds(1), .status(204)))" == "HTTP 204, 0 bytes, after 1.0 seconds")
    }
}
