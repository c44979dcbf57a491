// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Provider", .throttled, .timeLimit(.minutes(2)))
struct ProviderTests {
    enum Music: TargetType {
        case track(Int)
        case login(password: String)

        var baseURL: URL { .example }
        var path: RequestPath {
            switch self {
            case .track(let id): "/tracks/\(id)"
            case .login: "/login"
            }
        }
        var sampleData: Data { Data(#"{"id":7}"#.utf8) }
    }

    struct Track: Codable, Sendable, Equatable { var id: Int }

    struct GetTrack: TypedTarget {
        typealias Output = Track
        var id: Int
        var baseURL: URL { .example }
        var path: RequestPath { "/tracks/\(id)" }
        var sampleData: Data { Data(#"{"id":\#(id)}"#.utf8) }
    }

    @Test("A stubbed call answers with the target's sample, at once or after a delay on the clock")
    func stubs() async throws {
        let clock = ManualClock()
        let immediate = Provider<Music>(stubClosure: { _ in .immediate })
        #expect(try await immediate.request(.track(7), as: Track.self) == Track(id: 7))
        let delayed = Provider<Music>(stubClosure: { _ in .delayed(.seconds(3)) }, clock: clock)
        async let track = delayed.request(.track(7), as: Track.self)
        try await clock.waitForSleepers(1)
        #expect(clock.remainingSleeps == [.seconds(3)])
        clock.advance(by: .seconds(3))
        #expect(try await track == Track(id: 7))
    }

    @Test("A sample that fails is a failure of the transport")
    func failingSample() async throws {
        let target = TestTarget(.example).with { $0.sampleResponse = .failure(URLError(.notConnectedToInternet)) }
        let error = try await #require(throws: TargetKitError.self) {
            try await Provider<TestTarget>(stubClosure: { _ in .immediate }).request(target)
        }
        #expect(error.stage == .transport)
        #expect(error.kind == .offline)
    }

    @Test("A stubbed call runs the same hooks as a real one")
    func stubRunsPlugins() async throws {
        let plugin = RecordingPlugin()
        _ = try await Provider<Music>(stubClosure: { _ in .immediate }, plugins: [plugin]).request(.track(1))
        #expect(
            plugin.events == [
                .prepare(attempt: 0), .willSend(attempt: 0), .didReceive(attempt: 0, .status(200)), .retry(attempt: 0),
                .process(.status(200)),
            ]
        )
    }

    @Test("Plugins, errors and closures of a multi-target provider see the target inside")
    func multiTarget() async throws {
        let seen = Recorder<any TargetType>()
        let plugin = RecordingPlugin(prepare: { request, context in
            seen.append(context.target)
            return request
        })
        let provider = Provider<MultiTarget>(stubClosure: { _ in .immediate }, plugins: [plugin])
        _ = try await provider.request(Music.track(1))
        _ = try await provider.request(MultiTarget(MultiTarget(Music.track(2))))
        #expect(seen.elements.count == 2)
        #expect(seen.elements.allSatisfy { $0 is Music })
        let bad = TestTarget(.example).with { $0.path = "/a/../b" }
        let error = try await #require(throws: TargetKitError.self) { try await provider.request(bad) }
        #expect(error.target is TestTarget)
    }

    @Test("A typed target brings its own type, from either kind of provider")
    func typedTarget() async throws {
        let typed = Provider<GetTrack>(stubClosure: { _ in .immediate })
        let track: Track = try await typed.request(GetTrack(id: 3))
        #expect(track == Track(id: 3))
        let multi = Provider<MultiTarget>(stubClosure: { _ in .immediate })
        let other: Track = try await multi.request(GetTrack(id: 4))
        #expect(other == Track(id: 4))
    }

    @Test("A provider that its owner lets go of finishes what it has started, plugins included")
    func letGo() async throws {
        let release = Gate()
        let arrived = Gate()
        let plugin = RecordingPlugin()
        let outcomes = Recorder<RecordingPlugin.Outcome>()
        weak var weakProvider: Provider<TestTarget>?
        do {
            let provider = Provider<TestTarget>(
                transport: StubTransport { _ in
                    arrived.open()
                    await release.wait()
                    return .response(status: 204, data: Data())
                },
                plugins: [plugin]
            )
            weakProvider = provider
            provider.request(TestTarget(.example), on: .global()) { outcomes.append(.init($0)) }
        }
        await arrived.wait()
        #expect(weakProvider != nil)
        release.open()
        #expect(await outcomes.waitForCount(1) == [.status(204)])
        #expect(plugin.events.last == .process(.status(204)))
    }

    /// What goes wrong before anything is sent.
    enum Mistake: String, CaseIterable, Sendable {
        case dotSegment, noHost, endpointClosure, requestClosure, prepare, bodyOnGet, unencodable, twoBodies, badMethod
        case badHeaderName, badHeaderValue, badHeaderFromPlugin, missingFile, emptyForm, zeroTimeout

        var stage: TargetKitError.Stage {
            switch self {
            case .dotSegment, .endpointClosure: .endpoint
            default: .request
            }
        }

        func apply(to target: inout TestTarget) {
            switch self {
            case .dotSegment: target.path = "/a/\("..")/b"
            case .noHost: target.baseURL = URL(filePath: "/tmp")
            case .bodyOnGet: target.task = .json(["a": 1])
            case .unencodable:
                target.method = .post
                target.task = .json(["a": Double.nan])
            case .twoBodies:
                target.method = .post
                target.task = .json(["a": 1]).data(Data("b".utf8))
            case .badMethod: target.method = "GET / HTTP/1.1\r\nX: y"
            case .badHeaderName: target.headers = ["X Y": "1"]
            case .badHeaderValue: target.headers = ["X-Y": "1\r\nInjected: 2"]
            case .missingFile:
                target.method = .post
                target.task = .upload(file: URL(filePath: "/nowhere/to/be/found"))
            case .emptyForm:
                target.method = .post
                target.task = .multipart(MultipartForm(parts: []))
            case .zeroTimeout: target.options.timeout = .exchange(.zero)
            case .endpointClosure, .requestClosure, .prepare, .badHeaderFromPlugin: break
            }
        }
    }

    @Test(
        "A mistake is an error that names its stage; nothing is sent, and process sees it once",
        arguments: Mistake.allCases
    )
    func mistakes(_ mistake: Mistake) async throws {
        let running = try RunningBackend(.stub)
        let plugin = RecordingPlugin(prepare: { request, _ in
            var request = request
            if mistake == .prepare { throw Boom() }
            if mistake == .badHeaderFromPlugin { request.allHTTPHeaderFields = ["A": "b\nC: d"] }
            return request
        })
        let provider = Provider<TestTarget>(
            endpointClosure: { target in
                if mistake == .endpointClosure { throw Boom() }
                return try Endpoint(target: target)
            },
            requestClosure: { endpoint in
                if mistake == .requestClosure { throw Boom() }
                return try endpoint.urlRequest()
            },
            transport: running.transport,
            plugins: [plugin]
        )
        var target = TestTarget(running.baseURL)
        mistake.apply(to: &target)
        let broken = target
        let error = try await #require(throws: TargetKitError.self) { try await provider.request(broken) }
        #expect(error.stage == mistake.stage)
        #expect(error.kind == (mistake == .missingFile ? .unreadableFile : .invalidRequest))
        #expect(error.target is TestTarget)
        #expect(error.underlying != nil)
        #expect(running.requests.isEmpty)
        #expect(!plugin.events.contains(.willSend(attempt: 0)))
        #expect(plugin.events.last == .process(.failure(mistake.stage)))
        #expect(plugin.events.count { if case .process = $0 { true } else { false } } == 1)
        #expect(!error.description.contains("\n"))
    }

    @Test("A plugin's own TargetKitError keeps its stage and learns the target")
    func pluginError() async throws {
        let plugin = RecordingPlugin(prepare: { _, _ in throw TargetKitError(stage: .envelope, underlying: Boom()) })
        let error = try await #require(throws: TargetKitError.self) {
            try await Provider<Music>(stubClosure: { _ in .immediate }, plugins: [plugin]).request(.track(1))
        }
        #expect(error.stage == .envelope)
        #expect(error.target is Music)
    }

    @Test("A target's timeout reaches the transport to the millisecond, and 60 seconds of URLRequest mean none")
    func timeouts() async throws {
        let seen = Recorder<Duration?>()
        let transport = StubTransport { request in
            seen.append(request.timeout)
            return .response(status: 200, data: Data())
        }
        let provider = Provider<TestTarget>(transport: transport)
        _ = try await provider.request(TestTarget(.example))
        _ = try await provider.request(
            TestTarget(.example).with { $0.options.timeout = .exchange(.milliseconds(1250)) }
        )
        _ = try await provider.request(TestTarget(.example).with { $0.options.timeout = .exchange(.seconds(60)) })
        #expect(seen.elements == [nil, .milliseconds(1250), .seconds(60)])
    }

    @Test("A step of progress that comes late is not told after the completion")
    func lateProgress() async throws {
        let report = Locked<(@Sendable (TransferProgress) -> Void)?>(nil)
        let provider = Provider<TestTarget>(
            transport: ClosureTransport { request in
                report.withLock { $0 = request.progress }
                return TransportResponse(head: ResponseHead(statusCode: 200), body: .data(Data()))
            }
        )
        let heard = Recorder<String>()
        let queue = DispatchQueue(label: "late progress")
        provider.request(TestTarget(.example), on: queue) { _ in
            heard.append("progress")
        } completion: { _ in
            heard.append("completion")
        }
        _ = await heard.waitForCount(1)
        report.withLock { $0 }?(TransferProgress(completed: 1, total: 1, direction: .download))
        await withCheckedContinuation { done in queue.async { done.resume() } }
        #expect(heard.elements == ["completion"])
    }

    @Test("On a concurrent queue, each step of progress comes before the completion, one at a time")
    func progressOnConcurrentQueue() async throws {
        let provider = Provider<TestTarget>(
            transport: ClosureTransport { request in
                for step in 1...20 {
                    request.progress?(TransferProgress(completed: Int64(step), total: 20, direction: .download))
                }
                return TransportResponse(head: ResponseHead(statusCode: 200), body: .data(Data()))
            }
        )
        let ended = Tally()
        let problems = Recorder<String>()
        for _ in 0..<50 {
            let state = Locked((isOver: false, last: Int64(0)))
            provider.request(TestTarget(.example), on: .global()) { step in
                state.withLock { state in
                    if state.isOver { problems.append("step \(step.completed) after the completion") }
                    if step.completed <= state.last { problems.append("step \(step.completed) after \(state.last)") }
                    state.last = step.completed
                }
            } completion: { _ in
                state.withLock { $0.isOver = true }
                ended.add()
            }
        }
        try await ended.wait(for: 50)
        #expect(problems.elements == [])
    }

    @Test("The completion and its handle outlive nothing: the scope is empty when the caller hears of the end")
    func scopeIsEmptyAtTheEnd() async throws {
        let provider = Provider<Music>(stubClosure: { _ in .immediate })
        let counts = Recorder<Int>()
        for id in 0..<50 {
            provider.request(.track(id), on: .global()) { _ in counts.append(1) }
        }
        _ = await counts.waitForCount(50)
        #expect(provider.scope.inFlightCount == 0)
    }
}

/// A transport that is what its closure does.
private struct ClosureTransport: Transport {
    let respond: @Sendable (TransportRequest) -> TransportResponse

    func send(_ request: TransportRequest) async throws -> TransportResponse { respond(request) }
}
