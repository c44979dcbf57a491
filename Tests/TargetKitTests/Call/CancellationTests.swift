// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Cancelling reads the same wherever the call is, and however it is said.
@Suite("Cancelling a call", .throttled, .timeLimit(.minutes(2)))
struct CancellationTests {
    /// Where the call is when it is cancelled.
    enum Place: String, CaseIterable, Sendable {
        case endpointClosure, requestClosure, prepare, transport, delayedStub, waitingToRetry, retryHook, process,
            decoding
    }

    /// Who cancels it.
    enum Means: String, CaseIterable, Sendable {
        case task, provider, scope
    }

    /// A value whose decoding opens a gate and waits for another.
    struct Slow: Decodable, Sendable {
        @TaskLocal static var stop: (@Sendable () -> Void)?

        init(from decoder: any Decoder) throws {
            Self.stop?()
        }
    }

    @Test("It ends with stage cancelled at every place, by every means", arguments: Place.allCases, Means.allCases)
    func everywhere(_ place: Place, _ means: Means) async throws {
        let clock = ManualClock()
        try await cancel(at: place, by: means, on: clock) { try? await clock.waitForSleepers(1, within: .seconds(600)) }
    }

    @Test(
        "It ends with stage cancelled at every stage of a call on the continuous clock, by every means",
        arguments: Place.allCases,
        Means.allCases
    )
    func onTheContinuousClock(_ place: Place, _ means: Means) async throws {
        try await cancel(at: place, by: means, on: ContinuousClock()) {}
    }

    /// - Parameter waiting: Returns when the call waits on the clock, if it can tell.
    private func cancel(
        at place: Place,
        by means: Means,
        on clock: any Clock<Duration>,
        waiting: () async -> Void
    ) async throws {
        let reached = Gate()
        // Opens the gate, and waits until the cancel has come.
        let stop: @Sendable () async throws -> Void = {
            reached.open()
            try await Gate().waitUnlessCancelled()
        }
        let plugin = RecordingPlugin(
            prepare: { request, _ in
                if place == .prepare { try await stop() }
                if place == .delayedStub { reached.open() }
                return request
            },
            retry: { _, context in
                if place == .retryHook { try? await stop() }
                if place == .waitingToRetry { reached.open() }
                return place == .waitingToRetry && context.attempt == 0 ? .retry(after: .seconds(60)) : .doNotRetry
            },
            process: { result, _ in
                if place == .process { try? await stop() }
                return result
            }
        )
        // These two places cannot wait: the cancel comes from inside of them.
        let cancelInside = Recorder<@Sendable () -> Void>()
        let scope = RequestScope()
        let provider = Provider<TestTarget>(
            endpointClosure: { target in
                if place == .endpointClosure { cancelInside.elements.first?() }
                return try Endpoint(target: target)
            },
            requestClosure: { endpoint in
                if place == .requestClosure { try await stop() }
                return try endpoint.urlRequest()
            },
            stubClosure: { _ in place == .delayedStub ? .delayed(.seconds(60)) : .never },
            transport: StubTransport { _ in
                if place == .transport { try await stop() }
                return .response(status: 200, data: Data("{}".utf8))
            },
            plugins: [plugin],
            scope: scope,
            clock: clock
        )
        let start = Gate()
        let call = Task {
            await start.wait()
            return await Result { () async throws -> Slow in
                try await Slow.$stop.withValue({ if place == .decoding { cancelInside.elements.first?() } }) {
                    try await provider.request(TestTarget(.example), as: Slow.self)
                }
            }
        }
        let cancel: @Sendable () -> Void = {
            switch means {
            case .task: call.cancel()
            case .provider: provider.cancelAll()
            case .scope: scope.cancelAll()
            }
        }
        cancelInside.append(cancel)
        start.open()
        switch place {
        case .endpointClosure, .decoding: break
        case .delayedStub, .waitingToRetry:
            await reached.wait()
            await waiting()
        case .requestClosure, .prepare, .transport, .retryHook, .process: await reached.wait()
        }
        if place != .endpointClosure, place != .decoding { cancel() }
        let error = try #require(await call.value.failure as? TargetKitError)
        #expect(error.stage == .cancelled)
        #expect(error.kind == .cancelled)
        #expect(scope.inFlightCount == 0)
        let sent = plugin.events.count { if case .willSend = $0 { true } else { false } }
        let received = plugin.events.count { if case .didReceive = $0 { true } else { false } }
        let processed = plugin.events.count { if case .process = $0 { true } else { false } }
        #expect(sent == received)
        #expect(processed == 1)
    }

    @Test("A handle cancels a call over a real connection", arguments: [Backend.system, .urlSession])
    func handleInFlight(_ backend: Backend) async throws {
        let forever = Gate()
        let running = try RunningBackend(backend) { _ in
            try await forever.waitUnlessCancelled()
            return .response(status: 200, data: Data())
        }
        let results = Recorder<TargetKitError.Stage?>()
        let plugin = RecordingPlugin()
        let provider = Provider<TestTarget>(transport: running.transport, plugins: [plugin])
        let handle = provider.request(TestTarget(running.baseURL), on: .global()) { result in
            if case .failure(let error) = result { results.append(error.stage) } else { results.append(nil) }
        }
        _ = await running.waitForRequests(1)
        handle.cancel()
        handle.cancel()
        #expect(await results.waitForCount(1) == [.cancelled])
        #expect(handle.isCancelled)
        #expect(
            plugin.events == [
                .prepare(attempt: 0), .willSend(attempt: 0), .didReceive(attempt: 0, .failure(.cancelled)),
                .process(.failure(.cancelled)),
            ]
        )
    }

    @Test("A call that is cancelled before it starts sends nothing and still completes")
    func beforeStart() async throws {
        let running = try RunningBackend(.stub)
        let provider = Provider<TestTarget>(transport: running.transport)
        let call = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await Result { try await provider.request(TestTarget(running.baseURL)) }
        }
        let error = try #require(await call.value.failure as? TargetKitError)
        #expect(error.stage == .cancelled)
        #expect(running.requests.isEmpty)
    }

    @Test("Cancel-all reaches every provider of the scope, and no other")
    func twoProviders() async throws {
        let scope = RequestScope()
        let arrived = Recorder<String>()
        let hanging = StubTransport { request in
            arrived.append(request.urlRequest.url?.path() ?? "")
            try await Gate().waitUnlessCancelled()
            return .response(status: 200, data: Data())
        }
        let one = Provider<TestTarget>(transport: hanging, scope: scope)
        let two = Provider<MultiTarget>(transport: hanging, scope: scope)
        let other = Provider<TestTarget>(transport: hanging)
        let stages = Recorder<TargetKitError.Stage?>()
        for _ in 0..<10 {
            one.request(TestTarget(.example), on: .global()) { stages.append($0.failure?.stage) }
            two.request(MultiTarget(TestTarget(.example)), on: .global()) {
                stages.append($0.failure?.stage)
            }
        }
        let others = Recorder<TargetKitError.Stage?>()
        other.request(TestTarget(.example), on: .global()) { others.append($0.failure?.stage) }
        _ = await arrived.waitForCount(21)
        #expect(scope.inFlightCount == 20)
        one.cancelAll()
        #expect(await stages.waitForCount(10) == Array(repeating: .cancelled, count: 10))
        #expect(scope.inFlightCount == 10)
        scope.cancelAll()
        #expect(await stages.waitForCount(20) == Array(repeating: .cancelled, count: 20))
        #expect(scope.inFlightCount == 0)
        #expect(others.count == 0)
        other.cancelAll()
        #expect(await others.waitForCount(1) == [.cancelled])
    }

    @Test("A call that is cancelled on its way to the stub is not answered by it", arguments: [true, false])
    func beforeStub(isAwaited: Bool) async throws {
        let asked = Recorder<Bool>()
        let transport = StubTransport { _ in
            asked.append(true)
            return .response(status: 200, data: Data())
        }
        let provider = Provider<TestTarget>(transport: transport, plugins: [LateCanceller()])
        let error = await #expect(throws: TargetKitError.self) {
            if isAwaited { return try await provider.request(TestTarget(.example)) }
            return try await provider.request(TestTarget(.example)) { _ in }.response()
        }
        #expect(error?.stage == .cancelled)
        #expect(asked.count == 0)
    }

    @Test("Cancel-where spares the calls that the closure spares")
    func cancelWhere() async throws {
        let scope = RequestScope()
        let release = Gate()
        let arrived = Recorder<Void>()
        let transport = StubTransport { _ in
            arrived.append(())
            try await release.waitUnlessCancelled()
            return .response(status: 200, data: Data())
        }
        let provider = Provider<TestTarget>(transport: transport, scope: scope)
        let outcomes = Recorder<RecordingPlugin.Outcome>()
        for method in [HTTPMethod.get, .post, .get] {
            provider.request(TestTarget(.example).with { $0.method = method }, on: .global()) {
                outcomes.append(.init($0))
            }
        }
        _ = await arrived.waitForCount(3)
        scope.cancelAll { $0.target.method == .get }
        #expect(await outcomes.waitForCount(2) == [.failure(.cancelled), .failure(.cancelled)])
        release.open()
        #expect(await outcomes.waitForCount(3).last == .status(200))
    }
}

extension Result {
    var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

extension Result where Failure == any Error {
    init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}

/// Cancels each call right before it is sent.
private struct LateCanceller: Plugin {
    func willSend(_ request: URLRequest, context: RequestContext) {
        context.scope.cancelAll()
    }
}
