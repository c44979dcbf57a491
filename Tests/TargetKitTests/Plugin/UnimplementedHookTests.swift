// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A provider leaves out the hooks that a plugin does not implement. No plugin may lose one that it does.
@Suite("Hooks that a plugin does not implement", .throttled)
struct UnimplementedHookTests {
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

    /// Implements one hook only.
    private struct Watcher: Plugin {
        let calls: Recorder<Int>

        func willSend(_ request: URLRequest, context: RequestContext) {
            calls.append(context.attempt)
        }
    }

    /// Calls a hook of another plugin at the wrong time.
    private struct Caller: Plugin {
        let other: any Plugin

        func willSend(_ request: URLRequest, context: RequestContext) {
            other.didReceive(.success(Response(statusCode: 100)), context: context)
            other.willSend(request, context: context)
        }
    }

    @Test("A plugin keeps its hook if another plugin calls the hooks that it does not implement")
    func calledByAnother() async throws {
        let calls = Recorder<Int>()
        let watcher = Watcher(calls: calls)
        let provider = Provider<TestTarget>(transport: Self.transport, plugins: [Caller(other: watcher), watcher])
        for _ in 0..<3 { _ = try await provider.request(TestTarget(.example)) }
        #expect(calls.count == 6)
    }

    private class Base: Plugin, @unchecked Sendable {
        let calls = Recorder<String>()

        func willSend(_ request: URLRequest, context: RequestContext) {
            calls.append("base")
        }
    }

    private final class Derived: Base, @unchecked Sendable {
        override func willSend(_ request: URLRequest, context: RequestContext) {
            calls.append("derived")
        }
    }

    @Test("A subclass keeps the hooks that it overrides, beside an object of its superclass")
    func subclass() async throws {
        let (base, derived) = (Base(), Derived())
        let provider = Provider<TestTarget>(transport: Self.transport, plugins: [base, derived])
        for _ in 0..<3 { _ = try await provider.request(TestTarget(.example)) }
        #expect(base.calls.elements == ["base", "base", "base"])
        #expect(derived.calls.elements == ["derived", "derived", "derived"])
    }

    private struct Generic<Value: Sendable>: Plugin {
        let calls: Recorder<String>

        func willSend(_ request: URLRequest, context: RequestContext) {
            calls.append("\(Value.self)")
        }
    }

    @Test("A generic plugin keeps its hooks for each of its types")
    func generic() async throws {
        let calls = Recorder<String>()
        let plugins: [any Plugin] = [Generic<Int>(calls: calls), Generic<String>(calls: calls)]
        let provider = Provider<TestTarget>(transport: Self.transport, plugins: plugins)
        for _ in 0..<2 { _ = try await provider.request(TestTarget(.example)) }
        #expect(calls.elements == ["Int", "String", "Int", "String"])
    }

    @Test("A call whose preparation fails leaves the later hooks of its plugins as they are")
    func failedFirst() async throws {
        let refusals = Recorder<Int>()
        let (first, later) = (
            RecordingPlugin(
                prepare: { request, _ in
                    refusals.append(1)
                    if refusals.count == 1 { throw URLError(.userAuthenticationRequired) }
                    return request
                }
            ), RecordingPlugin()
        )
        let provider = Provider<TestTarget>(transport: Self.transport, plugins: [first, Idle(), later])
        await #expect(throws: TargetKitError.self) { try await provider.request(TestTarget(.example)) }
        for _ in 0..<2 { _ = try await provider.request(TestTarget(.example)) }
        #expect(later.events.count { $0 == .prepare(attempt: 0) } == 2)
        #expect(later.events.count { $0 == .willSend(attempt: 0) } == 2)
    }
}
