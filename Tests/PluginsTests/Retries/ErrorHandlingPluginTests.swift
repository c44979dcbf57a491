// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
@testable import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("ErrorHandlingPlugin", .throttled, .timeLimit(.minutes(3)))
struct ErrorHandlingPluginTests {
    /// Which handler was asked, at which attempt.
    struct Asked: Sendable, Equatable {
        var name: String
        var attempt: Int
        var stage: TargetKitError.Stage

        init(_ name: String, _ attempt: Int, _ stage: TargetKitError.Stage = .status) {
            (self.name, self.attempt, self.stage) = (name, attempt, stage)
        }
    }

    private let asked = Recorder<Asked>()

    private func handler(
        _ name: String,
        _ body: @escaping @Sendable (TargetKitError, RequestContext) -> RetryDecision = { _, _ in .doNotRetry }
    ) -> @Sendable (TargetKitError, RequestContext) async -> RetryDecision {
        { [asked] error, context in
            asked.append(Asked(name, context.attempt, error.stage))
            return body(error, context)
        }
    }

    /// A target that does not accept its responses.
    private static let refused = PluginTarget().with {
        $0.validation = .successCodes
        $0.sampleResponse = .response(status: 503, data: Data())
    }

    private static let other = TargetKitError(stage: .shutDown)

    @Test("Handlers are asked in order; if none decides, the failure is not changed")
    func inOrder() async {
        let provider = Provider<PluginTarget>.stubbed(ErrorHandlingPlugin(handler("a"), handler("b")))
        #expect(await provider.result(Self.refused).failure?.stage == .status)
        #expect(asked.elements == [Asked("a", 0), Asked("b", 0)])
    }

    @Test("After a handler that fails the call no other is asked")
    func failNow() async {
        let plugin = ErrorHandlingPlugin(handler("a") { _, _ in .fail(Self.other) }, handler("b"))
        #expect(await Provider<PluginTarget>.stubbed(plugin).result(Self.refused).failure?.stage == .shutDown)
        #expect(asked.elements == [Asked("a", 0)])
    }

    @Test("A handler that retries is asked again at the next attempt")
    func retry() async throws {
        let answers = Tally()
        let transport = StubTransport { _ in
            answers.add()
            return .response(status: answers.value < 3 ? 503 : 200, data: Data())
        }
        let plugin = ErrorHandlingPlugin(
            handler("a"),
            handler("b") { _, _ in .retry(after: .zero) },
            handler("c")
        )
        let provider = Provider<PluginTarget>(transport: transport, plugins: [plugin])
        #expect(try await provider.request(Self.refused).statusCode == 200)
        #expect(asked.elements == [Asked("a", 0), Asked("b", 0), Asked("a", 1), Asked("b", 1)])
    }

    @Test("The delay before a retry is measured by the provider's clock")
    func delay() async throws {
        let clock = ManualClock()
        let plugin = ErrorHandlingPlugin(
            handler("a") { _, context in context.attempt == 0 ? .retry(after: .seconds(3)) : .doNotRetry }
        )
        let provider = Provider<PluginTarget>(stubClosure: { _ in .immediate }, plugins: [plugin], clock: clock)
        async let result = provider.result(Self.refused)
        try await clock.waitForSleepers(1)
        #expect(clock.remainingSleeps == [.seconds(3)])
        clock.advance(by: .seconds(3))
        #expect(await result.failure?.stage == .status)
        #expect(asked.elements == [Asked("a", 0), Asked("a", 1)])
    }

    struct Failing: Plugin {
        var attempt: Int

        func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
            if context.attempt == attempt { throw Boom() }
            return request
        }
    }

    @Test("Handlers are asked once about a failure before the request is sent, which cannot be repeated")
    func beforeTheSend() async {
        for attempt in [0, 1] {
            let asked = Recorder<Asked>()
            let plugin = ErrorHandlingPlugin { error, context in
                asked.append(Asked("a", context.attempt, error.stage))
                return .retry(after: .zero)
            }
            let provider = Provider<PluginTarget>.stubbed(Failing(attempt: attempt), plugin)
            #expect(await provider.result(Self.refused).failure?.underlying is Boom)
            #expect(asked.elements == (attempt == 0 ? [] : [Asked("a", 0)]) + [Asked("a", attempt, .request)])
        }
    }

    @Test("A failure that another plugin makes of a response can be replaced")
    func madeInProcess() async {
        let first = RecordingPlugin(process: { _, _ in .failure(TargetKitError(stage: .envelope)) })
        let plugin = ErrorHandlingPlugin(handler("a") { _, _ in .fail(Self.other) })
        let provider = Provider<PluginTarget>.stubbed(first, plugin)
        #expect(await provider.result(PluginTarget()).failure?.stage == .shutDown)
        #expect(asked.elements == [Asked("a", 0, .envelope)])
    }

    @Test("Handlers are asked about a response that could not be decoded, and can repeat the call")
    func decoding() async throws {
        let answers = Tally()
        let transport = StubTransport { _ in
            answers.add()
            return .response(status: 200, data: Data((answers.value == 1 ? "[" : "[1]").utf8))
        }
        let plugin = ErrorHandlingPlugin(handler("a") { _, _ in .retry(after: .zero) })
        let provider = Provider<PluginTarget>(transport: transport, plugins: [plugin])
        #expect(try await provider.request(PluginTarget(), as: [Int].self) == [1])
        #expect(asked.elements == [Asked("a", 0, .decoding)])
    }

    @Test("Handlers are asked about a shared exchange, and about each of its calls at its end")
    func shared() async {
        let held = HeldTransport(.response(status: 503, data: Data()))
        let plugin = ErrorHandlingPlugin(
            handler("a") { _, context in context.attempt == 0 ? .retry(after: .zero) : .doNotRetry }
        )
        let provider = Provider<PluginTarget>(
            transport: held.transport,
            plugins: [plugin],
            options: .setting(\.sharesInFlight, true)
        )
        let calls = (0..<2).map { _ in Task { await provider.result(Self.refused) } }
        while !Task.isCancelled, provider.configuration.sharedExchanges.waiterCount < 2 { await Task.yield() }
        held.gate.open()
        for call in calls { #expect(await call.value.failure?.stage == .status) }
        #expect(held.requests.count == 2)
        // The exchange at both attempts, then the calls, whose own attempt is the first.
        #expect(asked.elements == [Asked("a", 0), Asked("a", 1), Asked("a", 0), Asked("a", 0)])
    }

    @Test(
        "A handler cannot repeat a call that is not safe to repeat",
        arguments: [(.get, nil, 2), (.put, nil, 2), (.post, nil, 1), (.post, "7", 2), (.post, "", 1)]
            as [(HTTPMethod, String?, Int)]
    )
    func unsafeCalls(_ method: HTTPMethod, _ key: String?, _ count: Int) async {
        let script = ScriptedTransport(.status(503))
        let plugin = ErrorHandlingPlugin(
            handler("a") { _, context in context.attempt == 0 ? .retry(after: .zero) : .doNotRetry }
        )
        let provider = Provider<PluginTarget>(transport: script.transport, plugins: [plugin])
        let target = Self.refused.with {
            $0.method = method
            $0.headers = key.map { ["Idempotency-Key": $0] } ?? [:]
        }
        #expect(await provider.result(target).failure?.stage == .status)
        #expect(script.requests.count == count)
    }

    @Test("The result of a handler is not passed to other handlers", arguments: [false, true])
    func handledOnce(isShared: Bool) async {
        let script = ScriptedTransport(.status(503))
        let provider = Provider<PluginTarget>(
            transport: script.transport,
            plugins: [
                ErrorHandlingPlugin(handler("a") { _, _ in .fail(Self.other) }), ErrorHandlingPlugin(handler("b")),
            ],
            options: .setting(\.sharesInFlight, isShared)
        )
        #expect(await provider.result(Self.refused).failure?.stage == .shutDown)
        #expect(asked.elements == [Asked("a", 0)])
    }

    @Test("A chain of handlers decides by the code in the body, whether the call decodes a value or not")
    func businessCode() async throws {
        struct Rejected: Error { let code: String }
        let plugin = ErrorHandlingPlugin(
            handler("other stage") { error, _ in error.stage == .status ? .fail(Self.other) : .doNotRetry },
            handler("busy") { error, context in
                (error.underlying as? ServerDefinedError)?.code == "7" && context.attempt == 0
                    ? .retry(after: .zero) : .doNotRetry
            },
            handler("rejected") { error, _ in
                guard let code = (error.underlying as? ServerDefinedError)?.code else { return .doNotRetry }
                return .fail(TargetKitError(stage: .envelope, underlying: Rejected(code: code)))
            }
        )
        for decodes in [false, true] {
            let script = ScriptedTransport { _, _ in
                .response(status: 200, data: Data(#"{"code": 7, "message": "busy"}"#.utf8))
            }
            let provider = Provider<PluginTarget>(
                transport: script.transport,
                plugins: [plugin],
                options: .setting(\.envelope, CodeEnvelope())
            )
            let failure = await Result { () async throws(TargetKitError) in
                if decodes { _ = try await provider.request(PluginTarget(), as: Int.self) }
                _ = try await provider.request(PluginTarget()) as Response
            }
            .failure
            #expect((failure?.underlying as? Rejected)?.code == "7")
            #expect(script.requests.count == 2)
        }
    }

    @Test("What the handlers make of an error is seen by observers, and not by plugins that react to the original one")
    func order() async {
        let observer = RecordingPlugin(place: .observation)
        let other = RecordingPlugin(process: { _, _ in .failure(TargetKitError(stage: .envelope)) })
        let plugins: [any Plugin] = [
            ErrorHandlingPlugin(handler("a") { _, _ in .fail(Self.other) }),
            observer, other,
        ]
        for plugins in [plugins, plugins.reversed()] {
            let provider = Provider<PluginTarget>(stubClosure: { _ in .immediate }, plugins: plugins)
            #expect(await provider.result(PluginTarget()).failure?.stage == .shutDown)
        }
        #expect(other.events.contains(.process(.status(200))))
        #expect(observer.events.filter { $0 == .process(.failure(.shutDown)) }.count == 2)
    }

    @Test("Handlers are not asked about successful or cancelled calls")
    func notAsked() async throws {
        let provider = Provider<PluginTarget>.stubbed(ErrorHandlingPlugin(handler("a")))
        _ = try await provider.request(PluginTarget())
        let result = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await provider.result(Self.refused)
        }
        .value
        #expect(result.failure?.stage == .cancelled)
        #expect(asked.elements.isEmpty)
    }
}

/// `{"code": 7, "message": "busy"}`, in which only 0 is a success.
private struct CodeEnvelope: ResponseEnvelope {
    private struct Body: Decodable {
        var code: Int
        var message: String
    }

    func payload(of response: Response) throws -> Data? {
        let body = try response.decode(Body.self)
        guard body.code == 0 else { throw ServerDefinedError(code: "\(body.code)", message: body.message) }
        return response.data
    }
}
