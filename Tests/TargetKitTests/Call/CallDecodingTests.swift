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

/// Decoding belongs to the call: its plugins see what could not be decoded, and may repeat the call.
@Suite("Decoding inside a call", .throttled, .timeLimit(.minutes(3)))
struct CallDecodingTests {
    struct Tea: Decodable, Sendable, Equatable { var teaName: String }

    /// Counts how often it is decoded.
    struct Counted: Decodable, Sendable {
        @TaskLocal static var count = Tally()
        var value: Int

        init(from decoder: any Decoder) throws {
            Self.count.add()
            value = try decoder.singleValueContainer().decode(Int.self)
        }
    }

    private static let expired = SampleResponse.response(status: 200, data: Data(#"{"code":401,"message":"old"}"#.utf8))
    private static let fresh = SampleResponse.response(
        status: 200,
        data: Data(#"{"code":0,"data":{"teaName":"oolong"}}"#.utf8)
    )

    /// Sends a token, and gets a new one when the server's business code says that the token has expired.
    struct Refreshing: Plugin {
        let token = Locked("old")
        let seen = Recorder<TargetKitError>()

        var place: PluginPlace { .authentication }

        func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
            var request = request
            request.setValue(token.withLock { $0 }, forHTTPHeaderField: "X-Token")
            return request
        }

        func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
            guard case .failure(let error) = result else { return .doNotRetry }
            seen.append(error)
            let refusal = error.underlying as? ServerDefinedError
            guard refusal?.code == "401", context.attempt == 0 else { return .doNotRetry }
            token.withLock { $0 = "new" }
            return .retry(after: .zero)
        }
    }

    enum Form: CaseIterable, Sendable { case value, response, valueByClosure, responseByClosure, events }

    @Test("A business code can have a token refreshed and the call repeated", arguments: Form.allCases)
    func businessCode(form: Form) async throws {
        let running = try RunningBackend(.stub) { request in
            request.headers["X-Token"] == "new" ? Self.fresh : Self.expired
        }
        let plugin = Refreshing()
        let hooks = RecordingPlugin()
        let provider = Provider<TestTarget>(
            transport: running.transport,
            plugins: [hooks, plugin],
            options: .setting(\.envelope, CodeMessageData())
        )
        let (target, queue) = (TestTarget(running.baseURL), DispatchQueue(label: "test"))
        switch form {
        case .value: #expect(try await provider.request(target, as: Tea.self) == Tea(teaName: "oolong"))
        case .response: #expect(try await provider.request(target).json().code == 0)
        case .valueByClosure:
            let value = await withCheckedContinuation { done in
                provider.request(target, as: Tea.self, on: queue) { done.resume(returning: $0) }
            }
            #expect(try value.get() == Tea(teaName: "oolong"))
        case .responseByClosure:
            #expect(try await provider.request(target, on: queue) { _ in }.response().json().code == 0)
        case .events: for try await _ in provider.events(for: target) {}
        }
        #expect(running.requests.map { $0.headers["X-Token"] } == ["old", "new"])
        #expect(plugin.seen.elements.map(\.stage) == [.envelope])
        #expect(plugin.seen.elements.first?.target is TestTarget)
        #expect(
            hooks.events == [
                .prepare(attempt: 0), .willSend(attempt: 0), .didReceive(attempt: 0, .status(200)),
                .prepare(attempt: 1), .willSend(attempt: 1), .didReceive(attempt: 1, .status(200)), .retry(attempt: 1),
                .process(.status(200)),
            ]
        )
    }

    @Test("retry, process and didFinish see a failure of decoding, with its response")
    func undecodable() async throws {
        let seen = Recorder<(hook: String, error: TargetKitError?)>()
        let plugin = RecordingPlugin(
            retry: { result, _ in
                seen.append(("retry", result.failure))
                return .doNotRetry
            },
            process: { result, _ in
                seen.append(("process", result.failure))
                return result
            }
        )
        let provider = Provider<TestTarget>(stubClosure: { _ in .immediate }, plugins: [plugin])
        let error = try await #require(throws: TargetKitError.self) {
            try await provider.request(TestTarget(.example), as: [Int].self)
        }
        #expect(error.stage == .decoding)
        #expect(seen.elements.map(\.hook) == ["retry", "process"])
        for error in seen.elements.map(\.error) + [plugin.finishedCalls.first?.result.failure] {
            #expect(error?.stage == .decoding)
            #expect(error?.response?.statusCode == 200)
            #expect(error?.target is TestTarget)
            #expect(error?.request != nil)
        }
        #expect(plugin.events.contains(.didReceive(attempt: 0, .status(200))))
    }

    @Test("Status 404 of a call for a value is an error of its status, and nothing is decoded")
    func status() async throws {
        struct Default: TargetType {
            var baseURL: URL { .example }
            var path: RequestPath { "/" }
            var sampleResponse: SampleResponse { .response(status: 404, data: Data("1".utf8)) }
        }
        let provider = Provider<Default>(stubClosure: { _ in .immediate })
        try await Counted.$count.withValue(Tally()) {
            let error = try await #require(throws: TargetKitError.self) {
                try await provider.request(Default(), as: Counted.self)
            }
            #expect(error.stage == .status)
            #expect(error.kind == .notFound)
            #expect(error.response?.data == Data("1".utf8))
            #expect(Counted.count.value == 0)
        }
    }

    @Test("A refused status whose body says why has stage envelope for retry, process and didFinish")
    func refusedStatus() async throws {
        let plugin = Refreshing()
        let recorder = RecordingPlugin()
        let target = TestTarget(.example).with {
            $0.validation = .successCodes
            $0.sampleResponse = .response(status: 403, data: Data(#"{"code":7,"message":"no"}"#.utf8))
        }
        let provider = Provider<TestTarget>(
            stubClosure: { _ in .immediate },
            plugins: [plugin, recorder],
            options: .setting(\.envelope, CodeMessageData())
        )
        let error = try await #require(throws: TargetKitError.self) { try await provider.request(target, as: Tea.self) }
        #expect(error.stage == .envelope)
        #expect(plugin.seen.elements.map(\.stage) == [.envelope])
        #expect(recorder.events.contains(.didReceive(attempt: 0, .failure(.status))))
        #expect(recorder.events.contains(.process(.failure(.envelope))))
        #expect(recorder.finishedCalls.first?.result.failure?.stage == .envelope)
    }

    /// What a plugin's `process` does with a response.
    enum Change: CaseIterable, Sendable { case none, sameBytes, otherBytes, otherResponse, fromFailure }

    @Test(
        "A response that process replaces is decoded again; one that it does not is decoded once",
        arguments: Change.allCases
    )
    func replaced(change: Change) async throws {
        let plugin = RecordingPlugin(process: { result, _ in
            switch change {
            case .none: return result
            case .sameBytes, .otherBytes:
                return result.map { response in
                    var response = response
                    response.data = Data((change == .sameBytes ? "123456789012345678" : "2").utf8)
                    return response
                }
            case .otherResponse, .fromFailure: return .success(Response(statusCode: 200, data: Data("3".utf8)))
            }
        })
        let target = TestTarget(.example).with {
            let body = change == .fromFailure ? "[]" : "123456789012345678"
            $0.sampleResponse = .response(status: 200, data: Data(body.utf8))
        }
        let provider = Provider<TestTarget>(stubClosure: { _ in .immediate }, plugins: [plugin])
        try await Counted.$count.withValue(Tally()) {
            let value = try await provider.request(target, as: Counted.self).value
            let expected: [Change: (value: Int, count: Int)] = [
                .none: (123_456_789_012_345_678, 1), .sameBytes: (123_456_789_012_345_678, 1), .otherBytes: (2, 2),
                .otherResponse: (3, 2), .fromFailure: (3, 2),
            ]
            #expect(value == expected[change]?.value)
            #expect(Counted.count.value == expected[change]?.count)
        }
        #expect(plugin.finishedCalls.first?.result.failure == nil)
    }

    @Test("A response that a plugin makes is decoded by the call's decoder, and its errors name the target")
    func madeByPlugin() async throws {
        let body = Locked(#"{"tea_name":"oolong"}"#)
        let plugin = RecordingPlugin(process: { _, _ in
            .success(Response(statusCode: 200, data: Data(body.withLock { $0 }.utf8)))
        })
        let provider = Provider<TestTarget>(
            stubClosure: { _ in .immediate },
            plugins: [plugin],
            options: .setting(\.decoder, .snakeCase())
        )
        #expect(try await provider.request(TestTarget(.example), as: Tea.self) == Tea(teaName: "oolong"))
        #expect(try await provider.request(TestTarget(.example)).decode(Tea.self) == Tea(teaName: "oolong"))
        body.withLock { $0 = "[]" }
        let error = try await #require(throws: TargetKitError.self) {
            try await provider.request(TestTarget(.example), as: Tea.self)
        }
        #expect(error.stage == .decoding)
        #expect(error.target is TestTarget)
        #expect(plugin.finishedCalls.last?.result.failure?.stage == .decoding)
    }

    struct Strict: ErrorMappingTarget {
        enum Failure: Error, Equatable { case unreadable, lost }

        let baseURL: URL
        var path: RequestPath { "/strict" }

        func appError(for response: Response) -> (any Error)? {
            response.data.starts(with: Data("<".utf8)) ? Failure.unreadable : nil
        }

        func appError(for code: URLError.Code) -> (any Error)? {
            code == .networkConnectionLost ? Failure.lost : nil
        }
    }

    @Test("An ErrorMappingTarget is asked about a body that could not be decoded")
    func mapped() async throws {
        let plugin = RecordingPlugin()
        let transport = StubTransport(.response(status: 200, data: Data("<html>".utf8)))
        let provider = Provider<Strict>(transport: transport, plugins: [plugin])
        let error = try await #require(throws: TargetKitError.self) {
            try await provider.request(Strict(baseURL: .example), as: Tea.self)
        }
        #expect(error.stage == .decoding)
        #expect(error.appError as? Strict.Failure == .unreadable)
        #expect(plugin.finishedCalls.first?.result.failure?.appError as? Strict.Failure == .unreadable)
    }

    @Test("didFinish and an ErrorMappingTarget see the failure of a stream's body; retry and process see its head")
    func streamBody() async throws {
        struct Broken: Transport {
            func send(_ request: TransportRequest) async throws -> TransportResponse {
                let pieces = Locked([Data("tea".utf8), Data("leaf".utf8)])
                let body = ResponseBody {
                    let piece = pieces.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                    guard let piece else { throw URLError(.networkConnectionLost) }
                    return piece
                }
                return TransportResponse(head: ResponseHead(statusCode: 200), body: .stream(body))
            }
        }
        let plugin = RecordingPlugin()
        let provider = Provider<Strict>(transport: Broken(), plugins: [plugin])
        let stream = try await provider.stream(Strict(baseURL: .example))
        let error = try await #require(throws: TargetKitError.self) { for try await _ in stream {} }
        #expect(error.stage == .transport)
        #expect(error.appError as? Strict.Failure == .lost)
        #expect(plugin.events.suffix(2) == [.retry(attempt: 0), .process(.status(200))])
        let end = try #require(plugin.finishedCalls.first)
        #expect(end.result.failure?.kind == .connectionLost)
        #expect(end.result.failure?.appError as? Strict.Failure == .lost)
        #expect(end.streamedByteCount == 7)
        #expect(plugin.finishedCalls.count == 1)
    }
}
