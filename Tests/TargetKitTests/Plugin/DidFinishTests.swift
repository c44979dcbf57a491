// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitJSON
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("didFinish", .throttled, .timeLimit(.minutes(3)))
struct DidFinishTests {
    /// How a call ends.
    enum Ending: String, CaseIterable, Sendable {
        case success, endpoint, requestClosure, prepare, transport, status, decoding, envelope, cancelled, timedOut,
            shutDown
        case retried, processed

        var outcome: RecordingPlugin.Outcome {
            switch self {
            case .success, .retried: .status(200)
            case .endpoint: .failure(.endpoint)
            case .requestClosure, .prepare: .failure(.request)
            case .transport, .timedOut: .failure(.transport)
            case .status: .failure(.status)
            case .decoding: .failure(.decoding)
            case .envelope, .processed: .failure(.envelope)
            case .cancelled: .failure(.cancelled)
            case .shutDown: .failure(.shutDown)
            }
        }
    }

    enum Form: CaseIterable, Sendable { case value, response, closure, events, stream }

    private static func body(_ ending: Ending) -> Data {
        switch ending {
        case .decoding: Data("[]".utf8)
        case .envelope: Data(#"{"code":9}"#.utf8)
        default: Data(#"{"code":0,"data":7}"#.utf8)
        }
    }

    @Test(
        "It is called once for each call, after all other hooks, with the result that the caller gets",
        arguments: Ending.allCases,
        Form.allCases
    )
    func once(ending: Ending, form: Form) async throws {
        // A stream's body is not decoded.
        if form == .stream, ending == .decoding || ending == .envelope { return }
        let (hooks, scope) = (HookRecorder(), RequestScope())
        let plugin = RecordingPlugin(
            prepare: { request, _ in
                if ending == .prepare { throw Boom() }
                return request
            },
            retry: { _, context in
                ending == .retried && context.attempt < 2 ? .retry(after: .zero) : .doNotRetry
            },
            process: { result, _ in
                ending == .processed ? .failure(TargetKitError(stage: .envelope, underlying: Boom())) : result
            }
        )
        let provider = Provider<TestTarget>(
            endpointClosure: { target in
                if ending == .endpoint { throw Boom() }
                return try Endpoint(target: target)
            },
            requestClosure: { endpoint in
                if ending == .requestClosure { throw Boom() }
                return try endpoint.urlRequest()
            },
            transport: StubTransport { _ in
                if ending == .cancelled { scope.cancelAll() }
                if ending == .cancelled || ending == .timedOut { try await Gate().waitUnlessCancelled() }
                if ending == .transport { throw URLError(.networkConnectionLost) }
                return .response(status: ending == .status ? 500 : 200, data: Self.body(ending))
            },
            plugins: [hooks, plugin],
            options: .setting(\.timeout, ending == .timedOut ? .wholeCall(.milliseconds(30)) : .none),
            scope: scope
        )
        if ending == .shutDown { await scope.shutdown(grace: .zero) }
        let target = TestTarget(.example).with { $0.validation = .successCodes }
        try await perform(target, form, by: provider, isSuccess: ending.outcome == .status(200))
        let end = try #require(plugin.finishedCalls.first)
        #expect(plugin.finishedCalls.count == 1)
        #expect(RecordingPlugin.Outcome(end.result) == ending.outcome)
        #expect(hooks.hooks.count { $0 == "didFinish" } == 1)
        #expect(hooks.hooks.last == "didFinish")
        #expect(hooks.hooksOfContexts.count == 1)
        #expect(end.duration > .zero)
        #expect(hooks.entries.elements.last?.context.attempt == (ending == .retried ? 2 : 0))
        let isStream = form == .stream
        let count = isStream ? ending.outcome == .status(200) ? Int64(Self.body(ending).count) : 0 : nil
        #expect(end.streamedByteCount == count)
        #expect(scope.inFlightCount == 0)
    }

    private func perform(
        _ target: TestTarget,
        _ form: Form,
        by provider: Provider<TestTarget>,
        isSuccess: Bool
    ) async throws {
        let options = CallOptions.setting(\.envelope, CodeMessageData())
        let result = await Result<Void, any Error> {
            switch form {
            case .value: _ = try await provider.request(target, as: Int.self, options: options)
            case .response:
                let response = try await provider.request(target, options: options)
                // Only an envelope's absence makes a response unreadable.
                _ = response.data
            case .closure:
                let queue = DispatchQueue(label: "test")
                _ = try await provider.request(target, options: options, on: queue, completion: { _ in }).response()
            case .events: for try await _ in provider.events(for: target, options: options) {}
            case .stream: for try await _ in try await provider.stream(target, options: options) {}
            }
        }
        #expect((result.failure == nil) == isSuccess)
    }

    @Test("It is called before the completion, while the scope still counts the call")
    func beforeCompletion() async throws {
        struct Counting: Plugin {
            let seen: Recorder<String>

            func didFinish(_ call: FinishedCall, context: RequestContext) {
                seen.append("didFinish, \(context.scope.inFlightCount) in flight")
            }
        }
        let seen = Recorder<String>()
        let provider = Provider<TestTarget>(stubClosure: { _ in .immediate }, plugins: [Counting(seen: seen)])
        let scope = provider.scope
        provider.request(TestTarget(.example), on: DispatchQueue(label: "test")) { _ in
            seen.append("completion, \(scope.inFlightCount) in flight")
        }
        #expect(await seen.waitForCount(2) == ["didFinish, 1 in flight", "completion, 0 in flight"])
    }

    private enum NoteKey: RequestContextKey { typealias Value = Int }

    @Test("What plugins store in the context is there for it, and is released after it")
    func storage() async throws {
        struct Notes: Plugin {
            let seen: Recorder<Int?>
            let contexts: Recorder<RequestContext>

            func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
                seen.append(context[NoteKey.self])
                context[NoteKey.self] = 7 + context.attempt
                contexts.append(context)
                return request
            }

            func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
                context.attempt == 0 ? .retry(after: .zero) : .doNotRetry
            }

            func didFinish(_ call: FinishedCall, context: RequestContext) {
                seen.append(context[NoteKey.self])
                context[NoteKey.self] = nil
                seen.append(context[NoteKey.self])
                context[NoteKey.self] = 1
            }
        }
        let notes = Notes(seen: Recorder(), contexts: Recorder())
        let provider = Provider<TestTarget>(stubClosure: { _ in .immediate }, plugins: [notes])
        _ = try await provider.request(TestTarget(.example))
        #expect(notes.seen.elements == [nil, 7, 8, nil])
        #expect(notes.contexts.elements.allSatisfy { $0[NoteKey.self] == nil })
        _ = try await provider.request(TestTarget(.example))
        #expect(notes.seen.elements.suffix(4) == [nil, 7, 8, nil])
    }

    /// How a stream ends that has begun.
    enum StreamEnd: CaseIterable, Sendable { case read, cancelled, released, timedOut }

    @Test(
        "For a stream it is called at the end of the body, with the bytes that were read",
        arguments: StreamEnd.allCases
    )
    func stream(end: StreamEnd) async throws {
        let (hooks, recorder, clock) = (HookRecorder(), RecordingPlugin(), ManualClock())
        let rest = Gate()
        struct Slow: Transport {
            let rest: Gate

            func send(_ request: TransportRequest) async throws -> TransportResponse {
                let pieces = Locked(["tea ", "leaf"].map { Data($0.utf8) })
                let body = ResponseBody {
                    let (piece, isLast) = pieces.withLock { pieces in
                        (pieces.isEmpty ? nil : pieces.removeFirst(), pieces.isEmpty)
                    }
                    if piece != nil, isLast { try await rest.waitUnlessCancelled() }
                    return piece
                }
                return TransportResponse(head: ResponseHead(statusCode: 200), body: .stream(body))
            }
        }
        let provider = Provider<TestTarget>(
            transport: Slow(rest: rest),
            plugins: [hooks, recorder],
            options: .setting(\.timeout, .wholeCall(.seconds(30))),
            clock: clock
        )
        var stream: ResponseStream? = try await provider.stream(TestTarget(.example))
        var pieces = stream?.makeAsyncIterator()
        #expect(try await pieces?.next() == Data("tea ".utf8))
        #expect(recorder.finishedCalls.isEmpty)
        #expect(hooks.hooks.last == "process")
        try await clock.waitForSleepers(1)
        #expect(clock.sleeperCount == 1)
        switch end {
        case .read:
            rest.open()
            #expect(try await pieces?.next() == Data("leaf".utf8))
            #expect(try await pieces?.next() == nil)
        case .cancelled:
            provider.cancelAll()
            await #expect(throws: TargetKitError.self) { try await pieces?.next() }
        case .released:
            pieces = nil
            stream = nil
        case .timedOut:
            clock.advance(by: .seconds(30))
            await #expect(throws: TargetKitError.self) { try await pieces?.next() }
        }
        _ = (pieces, stream)
        await provider.scope.shutdown(grace: .seconds(600))
        #expect(hooks.hooks.last == "didFinish")
        #expect(recorder.finishedCalls.count == 1)
        let finished = try #require(recorder.finishedCalls.first)
        #expect(finished.streamedByteCount == (end == .read ? 8 : 4))
        let kinds: [StreamEnd: TargetKitError.Kind] = [
            .cancelled: .cancelled, .released: .cancelled, .timedOut: .timedOut,
        ]
        #expect(finished.result.failure?.kind == kinds[end])
        #expect((try? finished.result.get().statusCode) == (end == .read ? 200 : nil))
    }
}
