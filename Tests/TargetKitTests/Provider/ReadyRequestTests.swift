// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Without a request closure and a plugin that prepares, TargetKit makes the request all by itself, and at one go.
@Suite("A request that nobody else has a say in", .throttled, .timeLimit(.minutes(2)))
struct ReadyRequestTests {
    /// Has one hook, and that is not `prepare`.
    struct Witness: Plugin {
        let sent: Tally

        func willSend(_ request: URLRequest, context: RequestContext) { sent.add() }
    }

    /// A transport that takes no notice of a cancel.
    struct DeafTransport: Transport {
        let sent = Tally()

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            sent.add()
            return TransportResponse(head: ResponseHead(statusCode: 200), body: .data(Data()))
        }
    }

    /// Puts the parameters into the body, and says what method that needs.
    struct Meddling: ParameterEncoding {
        let method: String

        func encode(_ parameters: [String: any Sendable], into request: URLRequest) throws -> URLRequest {
            var request = request
            request.httpMethod = method
            request.httpBody = Data("a=1".utf8)
            return request
        }
    }

    /// Does something in the midst of being encoded.
    struct Interrupting: Encodable, Sendable {
        let interrupt: @Sendable () -> Void

        func encode(to encoder: any Encoder) throws {
            interrupt()
            var container = encoder.singleValueContainer()
            try container.encode(1)
        }
    }

    /// Who ends the call.
    enum Means: String, CaseIterable, Sendable {
        case task, provider, scope
    }

    @Test("What is wrong with it is found all the same, and nothing is sent", arguments: ProviderTests.Mistake.allCases)
    func mistakes(_ mistake: ProviderTests.Mistake) async throws {
        var target = TestTarget(.example)
        mistake.apply(to: &target)
        let broken = target
        // Those are mistakes of closures and plugins.
        if [.endpointClosure, .requestClosure, .prepare, .badHeaderFromPlugin].contains(mistake) { return }
        let transport = DeafTransport()
        let error = try await #require(throws: TargetKitError.self) {
            try await Provider<TestTarget>(transport: transport).request(broken)
        }
        #expect(error.stage == mistake.stage)
        #expect(error.kind == (mistake == .missingFile ? .unreadableFile : .invalidRequest))
        #expect(transport.sent.value == 0)
    }

    @Test(
        "A method that an encoding has set is looked at too",
        arguments: ["GET", "get", "HEAD", "X\r\nInjected: 1", "two words"]
    )
    func methodOfEncoding(_ method: String) async throws {
        let transport = DeafTransport()
        let target = TestTarget(.example).with {
            $0.method = .post
            $0.task = .parameters(["a": 1], encoding: Meddling(method: method))
        }
        let error = try await #require(throws: TargetKitError.self) {
            try await Provider<TestTarget>(transport: transport).request(target)
        }
        #expect(error.stage == .request)
        #expect(error.underlying is InvalidRequest)
        #expect(transport.sent.value == 0)
    }

    @Test("A method that Foundation writes in capitals may have no body either", arguments: ["get", "Head", "gEt"])
    func lowerCase(_ method: String) async throws {
        let transport = DeafTransport()
        let target = TestTarget(.example).with {
            $0.method = HTTPMethod(rawValue: method)
            $0.task = .json(["a": 1])
        }
        let error = try await #require(throws: TargetKitError.self) {
            try await Provider<TestTarget>(transport: transport).request(target)
        }
        #expect(error.stage == .request)
        #expect(error.underlying is InvalidRequest)
        #expect(transport.sent.value == 0)
    }

    @Test("A call that is cancelled while its body is encoded is not sent", arguments: Means.allCases, [false, true])
    func cancelledWhileEncoded(_ means: Means, isShared: Bool) async throws {
        let (transport, witness) = (DeafTransport(), Tally())
        let scope = RequestScope()
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [Witness(sent: witness)],
            options: .setting(\.sharesInFlight, isShared),
            scope: scope
        )
        // The first call shows which hooks there are.
        _ = try await provider.request(TestTarget(.example))
        let body = Interrupting {
            switch means {
            case .task: withUnsafeCurrentTask { $0?.cancel() }
            case .provider: provider.cancelAll()
            case .scope: scope.cancelAll()
            }
        }
        let target = TestTarget(.example).with {
            $0.method = .post
            $0.task = .json(body)
        }
        let call = Task { try await provider.request(target) }
        let error = await #expect(throws: TargetKitError.self) { try await call.value }
        #expect(error?.stage == .cancelled)
        #expect(transport.sent.value == 1)
        #expect(witness.value == 1)
    }

    @Test("A delayed sample that is cancelled replaces no file, also when its clock does not hear of the cancel")
    func deafClock() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("kept", Data("kept".utf8))
        let clock = DeafClock()
        let transport = StubTransport(.response(status: 200, data: Data("new".utf8)), delay: .seconds(1), clock: clock)
        let request = TransportRequest(urlRequest: URLRequest(url: .example), destination: .file(file))
        let call = Task { try await transport.send(request) }
        await clock.gate.waitForArrivals(1)
        call.cancel()
        clock.gate.open()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(try Data(contentsOf: file) == Data("kept".utf8))
    }
}

/// A clock whose sleepers wake when its gate opens, and not before.
private struct DeafClock: Clock {
    let gate = Gate()
    let now = ContinuousClock.now
    let minimumResolution = Duration.zero

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        await gate.wait()
    }
}
