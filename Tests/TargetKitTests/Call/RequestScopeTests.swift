// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("RequestScope", .throttled, .timeLimit(.minutes(2)))
struct RequestScopeTests {
    struct Other: TargetType {
        var baseURL: URL { .example }
        var path: RequestPath { "/other" }
    }

    let transport = HeldTransport()
    let target = TestTarget(.example)
    let queue = DispatchQueue(label: "test")

    private func provider(_ scope: RequestScope) -> Provider<TestTarget> {
        Provider(transport: transport, scope: scope)
    }

    /// Starts a call, and says how it ended.
    private func start(_ provider: Provider<TestTarget>) -> Task<Result<Response, any Error>, Never> {
        let handle = provider.request(target, on: queue) { _ in }
        return Task {
            do { return .success(try await handle.response()) } catch { return .failure(error) }
        }
    }

    private func stage(_ call: Task<Result<Response, any Error>, Never>) async -> TargetKitError.Stage? {
        guard case .failure(let error) = await call.value else { return nil }
        return (error as? TargetKitError)?.stage
    }

    @Test("A parent counts and cancels the calls of its children; a child only its own")
    func children() async {
        let parent = RequestScope()
        let (one, two) = (RequestScope(parent: parent), RequestScope(parent: parent))
        let calls = [start(provider(parent)), start(provider(one)), start(provider(two))]
        await transport.sent.waitForCount(3)
        #expect((parent.inFlightCount, one.inFlightCount, two.inFlightCount) == (3, 1, 1))
        one.cancelAll()
        #expect(await stage(calls[1]) == .cancelled)
        #expect((parent.inFlightCount, one.inFlightCount, two.inFlightCount) == (2, 0, 1))
        parent.cancelAll()
        #expect(await stage(calls[0]) == .cancelled)
        #expect(await stage(calls[2]) == .cancelled)
        #expect((parent.inFlightCount, two.inFlightCount) == (0, 0))
    }

    @Test("Calls are cancelled by target type and by what a closure says")
    func chosen() async {
        let scope = RequestScope()
        let other = Provider<Other>(transport: transport, scope: scope)
        let handle = other.request(Other(), on: queue) { _ in }
        let calls = [start(provider(scope)), start(provider(scope))]
        await transport.sent.waitForCount(3)
        scope.cancelAll(of: Other.self)
        let error = await #expect(throws: TargetKitError.self) { try await handle.response() }
        #expect(error?.stage == .cancelled)
        #expect(scope.inFlightCount == 2)
        scope.cancelAll { $0.target is TestTarget }
        #expect(await stage(calls[0]) == .cancelled)
        #expect(await stage(calls[1]) == .cancelled)
    }

    @Test("The counts come as they change, the present one first")
    func counts() async {
        let scope = RequestScope()
        var counts = scope.inFlightCounts.makeAsyncIterator()
        #expect(await counts.next() == 0)
        let call = start(provider(scope))
        #expect(await counts.next() == 1)
        await transport.release(0)
        #expect(await counts.next() == 0)
        #expect(await stage(call) == nil)
    }

    @Test(
        "A scope that is shut down refuses new calls, which plugins see at process; it takes them again when reopened"
    )
    func refusal() async throws {
        let scope = RequestScope()
        await scope.shutdown(grace: .seconds(5))
        let plugin = RecordingPlugin()
        let provider = Provider<TestTarget>(stubClosure: { _ in .immediate }, plugins: [plugin], scope: scope)
        let error = await #expect(throws: TargetKitError.self) { try await provider.request(target) }
        #expect(error?.stage == .shutDown)
        #expect(error?.kind == .shutDown)
        #expect(plugin.events == [.process(.failure(.shutDown))])
        #expect(scope.isShutDown && scope.inFlightCount == 0)
        scope.reopen()
        #expect(try await provider.request(target).statusCode == 200)
    }

    @Test("Plugins process the failure of a call that the scope does not accept, in a task that is not cancelled")
    func processedShutDown() async throws {
        struct Explaining: Plugin {
            struct Closed: Error {}
            var hooks: PluginHooks { [.process] }

            func process(
                _ result: Result<Response, TargetKitError>,
                context: RequestContext
            ) async -> Result<Response, TargetKitError> {
                result.mapError { error in
                    var error = error
                    error.appError = Task.isCancelled ? CancellationError() : Closed()
                    return error
                }
            }
        }
        let scope = RequestScope()
        await scope.shutdown(grace: .zero)
        let provider = Provider<TestTarget>(stubClosure: { _ in .immediate }, plugins: [Explaining()], scope: scope)
        let error = await #expect(throws: TargetKitError.self) { try await provider.request(TestTarget(.example)) }
        #expect(error?.stage == .shutDown)
        #expect(error?.appError is Explaining.Closed)
        let handle = provider.request(TestTarget(.example), on: .global()) { _ in }
        let other = await #expect(throws: TargetKitError.self) { try await handle.response() }
        #expect(other?.appError is Explaining.Closed)
    }

    @Test("A child of a scope that is shut down refuses calls too, and leaves no trace in the parent")
    func childOfShutDown() async {
        let parent = RequestScope()
        let child = RequestScope(parent: parent)
        await parent.shutdown(grace: .zero)
        #expect(child.isShutDown)
        #expect(await stage(start(provider(child))) == .shutDown)
        parent.reopen()
        await child.shutdown(grace: .zero)
        #expect(await stage(start(provider(child))) == .shutDown)
        #expect(parent.inFlightCount == 0 && !parent.isShutDown)
    }

    @Test("Calls may finish within the time of grace, and then shutdown returns")
    func grace() async throws {
        let clock = ManualClock()
        let scope = RequestScope(clock: clock)
        let call = start(provider(scope))
        await transport.sent.waitForCount(1)
        async let shutdown: Void = scope.shutdown(grace: .seconds(3))
        try await clock.waitForSleepers(1)
        #expect(clock.remainingSleeps == [.seconds(3)])
        await transport.release(0)
        await shutdown
        #expect(await stage(call) == nil)
        #expect(scope.inFlightCount == 0)
    }

    @Test(
        "What has not finished within the time of grace is cancelled, and its completion is handed out before the return"
    )
    func graceIsOver() async throws {
        let clock = ManualClock()
        let scope = RequestScope(parent: RequestScope(clock: clock))
        let endings = Recorder<TargetKitError.Stage?>()
        let provider = Provider<TestTarget>(transport: transport, scope: scope)
        for _ in 0..<20 {
            provider.request(target, on: queue) { result in
                if case .failure(let error) = result { endings.append(error.stage) } else { endings.append(nil) }
            }
        }
        await transport.sent.waitForCount(20)
        async let shutdown: Void = scope.shutdown(grace: .milliseconds(250))
        try await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(250))
        await shutdown
        #expect(scope.inFlightCount == 0)
        queue.sync {}
        #expect(endings.elements == Array(repeating: .cancelled, count: 20))
    }

    @Test("Cancelling the task that shuts down ends the time of grace")
    func impatient() async throws {
        let clock = ManualClock()
        let scope = RequestScope(clock: clock)
        let call = start(provider(scope))
        await transport.sent.waitForCount(1)
        let shutdown = Task { await scope.shutdown(grace: .seconds(60)) }
        try await clock.waitForSleepers(1)
        shutdown.cancel()
        await shutdown.value
        #expect(await stage(call) == .cancelled)
        #expect(scope.inFlightCount == 0)
    }

    @Test("Ten thousand calls in flight are all completed by one cancel")
    func many() async {
        let scope = RequestScope()
        let provider = provider(scope)
        let ended = Expectation(count: 10_000)
        let stages = Recorder<TargetKitError.Stage?>()
        for _ in 0..<10_000 {
            provider.request(target, on: queue) { result in
                if case .failure(let error) = result { stages.append(error.stage) } else { stages.append(nil) }
                ended.fulfill()
            }
        }
        await transport.sent.waitForCount(10_000)
        #expect(scope.inFlightCount == 10_000)
        scope.cancelAll()
        await ended.wait()
        #expect(scope.inFlightCount == 0)
        #expect(stages.elements.allSatisfy { $0 == .cancelled })
        #expect(stages.count == 10_000)
    }
}
