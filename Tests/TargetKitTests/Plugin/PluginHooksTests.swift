// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A provider calls the hooks that a plugin names.
@Suite("The hooks that a plugin names", .throttled, .timeLimit(.minutes(2)))
struct PluginHooksTests {
    private struct Idle: Plugin {}

    /// The ways to make a call.
    enum Way: CaseIterable, Sendable {
        case awaited, closure, shared, stream
    }

    private static let transport = StubTransport { _ in .response(status: 200, data: Data()) }

    private func call(_ provider: Provider<TestTarget>, by way: Way) async throws {
        let target = TestTarget(.example)
        switch way {
        case .awaited: _ = try await provider.request(target)
        case .closure: _ = try await provider.request(target, on: .global(), completion: { _ in }).response()
        case .shared: _ = try await provider.request(target, options: .setting(\.sharesInFlight, true))
        case .stream:
            let stream = try await provider.stream(target)
            for try await _ in stream.body {}
        }
    }

    @Test("A plugin that passes its hooks on to an idle plugin keeps them in every call", arguments: Way.allCases)
    func wrapped(by way: Way) async throws {
        let (outer, inner) = (Recorder<String>(), Recorder<String>())
        let wrapper = PluginHookTests.Wrapper(inner: PluginHookTests.Wrapper(inner: Idle(), seen: inner), seen: outer)
        let provider = Provider<TestTarget>(transport: Self.transport, plugins: [Idle(), wrapper, Idle()])
        for _ in 0..<3 { try await call(provider, by: way) }
        let expected = PluginHookTests.hooks + PluginHookTests.hooks + PluginHookTests.hooks
        if way == .stream {
            // A stream's reader may see the end of the body before the call's last hook.
            #expect(await outer.waitForCount(expected.count) == expected)
        }
        #expect(outer.elements == expected)
        #expect(inner.elements == expected)
    }

    /// Implements all hooks, and names some of them.
    private struct Named: Plugin {
        let hooks: PluginHooks
        let inner: PluginHookTests.Wrapper

        func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
            try await inner.prepare(request, context: context)
        }

        func willSend(_ request: URLRequest, context: RequestContext) { inner.willSend(request, context: context) }

        func exchange(
            _ request: TransportRequest,
            context: RequestContext,
            next: Exchange
        ) async throws -> TransportResponse {
            try await inner.exchange(request, context: context, next: next)
        }

        func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
            inner.didReceive(result, context: context)
        }

        func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
            await inner.retry(result, context: context)
        }

        func process(
            _ result: Result<Response, TargetKitError>,
            context: RequestContext
        ) async -> Result<Response, TargetKitError> {
            await inner.process(result, context: context)
        }

        func didFinish(_ call: FinishedCall, context: RequestContext) { inner.didFinish(call, context: context) }
    }

    @Test(
        "A provider calls the hooks that a plugin names, and no others",
        arguments: [
            [], .prepare, .willSend, .exchange, .didReceive, .retry, .process, .didFinish, .all,
            [.prepare, .process],
        ] as [PluginHooks]
    )
    func named(hooks: PluginHooks) async throws {
        let all: [PluginHooks] = [.prepare, .willSend, .exchange, .didReceive, .retry, .process, .didFinish]
        let expected = zip(all, PluginHookTests.hooks).filter { hooks.contains($0.0) }.map(\.1)
        let seen = Recorder<String>()
        let plugin = Named(hooks: hooks, inner: PluginHookTests.Wrapper(inner: Idle(), seen: seen))
        let provider = Provider<TestTarget>(transport: Self.transport, plugins: [plugin])
        _ = try await provider.request(TestTarget(.example))
        #expect(seen.elements == expected)
    }

    @Test(
        "Cancelling a call reaches what any hook awaits, with other plugins or without",
        arguments: [PluginHooks.prepare, .exchange, .retry, .process],
        [true, false]
    )
    func cancelled(hook: PluginHooks, hasOthers: Bool) async throws {
        let plugin = Waiting(hooks: hook)
        let provider = Provider<TestTarget>(
            transport: Self.transport,
            plugins: hasOthers ? [RecordingPlugin(), plugin, Waiting(hooks: [])] : [plugin]
        )
        let call = Task { try await provider.request(TestTarget(.example)) }
        await plugin.gate.waitForArrivals()
        provider.cancelAll()
        let error = await #expect(throws: TargetKitError.self) { try await call.value }
        #expect(error?.stage == .cancelled)
        #expect(plugin.isCancelled.fulfilledCount == 1)
    }

    @Test("A hook that waits is cancelled with the call after an earlier one has waited")
    func cancelledAfterAnother() async throws {
        let (first, second) = (Waiting(hooks: .prepare), Waiting(hooks: .prepare))
        let provider = Provider<TestTarget>(transport: Self.transport, plugins: [first, second])
        let call = Task { try await provider.request(TestTarget(.example)) }
        await first.gate.waitForArrivals()
        first.gate.open()
        await second.gate.waitForArrivals()
        provider.cancelAll()
        let error = await #expect(throws: TargetKitError.self) { try await call.value }
        #expect(error?.stage == .cancelled)
        #expect(first.isCancelled.fulfilledCount == 0)
    }

    /// Waits in its hooks until the gate opens or the task is cancelled.
    private struct Waiting: Plugin {
        let hooks: PluginHooks
        let gate = Gate()
        let isCancelled = Expectation()

        private func wait() async throws {
            do {
                try await gate.waitUnlessCancelled()
            } catch {
                isCancelled.fulfill()
                throw error
            }
        }

        func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
            try await wait()
            return request
        }

        func exchange(
            _ request: TransportRequest,
            context: RequestContext,
            next: Exchange
        ) async throws -> TransportResponse {
            try await wait()
            return try await next(request)
        }

        func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
            try? await wait()
            return .doNotRetry
        }

        func process(
            _ result: Result<Response, TargetKitError>,
            context: RequestContext
        ) async -> Result<Response, TargetKitError> {
            try? await wait()
            return result
        }
    }
}
