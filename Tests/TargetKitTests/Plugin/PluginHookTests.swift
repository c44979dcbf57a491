// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Plugins that call one another, and plugins without hooks of their own.
@Suite("Plugin hooks", .throttled, .timeLimit(.minutes(2)))
struct PluginHookTests {
    struct Idle: Plugin {}

    private enum NoteKey: RequestContextKey { typealias Value = String }

    @Test("What is stored in the context after the end of the call is not kept")
    func storageAfterTheEnd() async throws {
        let contexts = Recorder<RequestContext>()
        let plugin = RecordingPlugin(prepare: { request, context in
            context[NoteKey.self] = "during"
            contexts.append(context)
            return request
        })
        let provider = Provider<TestTarget>(stubClosure: { _ in .immediate }, plugins: [plugin])
        _ = try await provider.request(TestTarget(.example))
        let context = try #require(contexts.elements.first)
        #expect(context[NoteKey.self] == nil)
        context[NoteKey.self] = "afterwards"
        #expect(context[NoteKey.self] == nil)
    }

    /// Hands every hook on to another plugin.
    struct Wrapper: Plugin {
        let inner: any Plugin
        let seen: Recorder<String>

        func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
            seen.append("prepare")
            return try await inner.prepare(request, context: context)
        }

        func willSend(_ request: URLRequest, context: RequestContext) {
            seen.append("willSend")
            inner.willSend(request, context: context)
        }

        func exchange(
            _ request: TransportRequest,
            context: RequestContext,
            next: Exchange
        ) async throws -> TransportResponse {
            seen.append("exchange")
            return try await inner.exchange(request, context: context, next: next)
        }

        func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
            seen.append("didReceive")
            inner.didReceive(result, context: context)
        }

        func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
            seen.append("retry")
            return await inner.retry(result, context: context)
        }

        func process(
            _ result: Result<Response, TargetKitError>,
            context: RequestContext
        ) async -> Result<Response, TargetKitError> {
            seen.append("process")
            return await inner.process(result, context: context)
        }

        func didFinish(_ call: FinishedCall, context: RequestContext) {
            seen.append("didFinish")
            inner.didFinish(call, context: context)
        }
    }

    static let hooks = ["prepare", "willSend", "exchange", "didReceive", "retry", "process", "didFinish"]

    @Test("A plugin that hands its hooks on to an idle one keeps them, call after call")
    func wrapped() async throws {
        let (one, two) = (Recorder<String>(), Recorder<String>())
        let provider = Provider<TestTarget>(
            stubClosure: { _ in .immediate },
            plugins: [Idle(), Wrapper(inner: Wrapper(inner: Idle(), seen: two), seen: one), Idle()]
        )
        for _ in 0..<3 { _ = try await provider.request(TestTarget(.example)) }
        let expected = Self.hooks.filter { $0 != "exchange" }
        #expect(one.elements == expected + expected + expected)
        #expect(two.elements == one.elements)
    }

    /// Has one hook, and is called by another plugin at one that it has not.
    struct Watcher: Plugin {
        let seen: Recorder<String>

        func willSend(_ request: URLRequest, context: RequestContext) {
            seen.append("willSend")
        }
    }

    /// Tells another plugin of something that has not happened yet.
    struct Meddler: Plugin {
        let other: any Plugin

        func willSend(_ request: URLRequest, context: RequestContext) {
            other.didReceive(.success(Response(statusCode: 100)), context: context)
        }
    }

    @Test("A plugin whose other hook is called out of turn keeps the hook that it has")
    func meddling() async throws {
        let seen = Recorder<String>()
        let watcher = Watcher(seen: seen)
        let provider = Provider<TestTarget>(
            stubClosure: { _ in .immediate },
            plugins: [Meddler(other: watcher), watcher]
        )
        for _ in 0..<3 { _ = try await provider.request(TestTarget(.example)) }
        #expect(seen.count == 3)
    }

    @Test("A round that ends early leaves the hooks of later plugins as they are")
    func early() async throws {
        let refusals = Recorder<Int>()
        let later = RecordingPlugin()
        let first = RecordingPlugin(
            prepare: { request, _ in
                refusals.append(1)
                if refusals.count == 1 { throw Boom() }
                return request
            },
            retry: { _, context in refusals.count == 2 && context.attempt == 0 ? .retry(after: .zero) : .doNotRetry }
        )
        let provider = Provider<TestTarget>(stubClosure: { _ in .immediate }, plugins: [first, later])
        await #expect(throws: TargetKitError.self) { try await provider.request(TestTarget(.example)) }
        _ = try await provider.request(TestTarget(.example))
        _ = try await provider.request(TestTarget(.example))
        let events = later.events
        #expect(events.count { $0 == .prepare(attempt: 0) } == 2)
        #expect(events.count { $0 == .prepare(attempt: 1) } == 1)
        #expect(events.count { $0 == .retry(attempt: 1) } == 1)
        #expect(events.count { $0 == .process(.status(200)) } == 2)
    }
}
