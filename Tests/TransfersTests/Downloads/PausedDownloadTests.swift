// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitTransfers
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Downloads: pausing", .throttled, .timeLimit(.minutes(2)))
struct PausedDownloadTests {
    private static let size = 300_000
    private static let half = 150_000

    private let content: ServedFile
    private let folder: TemporaryFolder
    private let server: TestServer
    private let results = Recorder<Result<Response, TargetKitError>>()
    private let steps = Recorder<Int64>()

    private var file: URL { folder.url.appendingPathComponent("file") }

    init() throws {
        let content = ServedFile(size: Self.size)
        self.content = content
        folder = try TemporaryFolder()
        // Each response stops after the half of the file that is missing, except the last one.
        server = try TestServer { request in
            guard request.headers["range"] == nil else { return content.response(to: request) }
            let head = content.validators.merging(["Content-Length": "\(Self.size)"])
            return [.head(status: 200, headers: head), .body(content.data.prefix(Self.half)), .hang]
        }
    }

    private func start(
        _ destination: DownloadDestination,
        clock: any Clock<Duration> = ContinuousClock(),
        plugins: [any Plugin] = [],
        options: CallOptions = CallOptions()
    ) -> RequestHandle {
        let target = TestTarget(server.baseURL).with { $0.task = .download(to: destination) }
        let provider = Provider<TestTarget>(transport: SystemTransport.patient, plugins: plugins, clock: clock)
        return provider.request(target, options: options, on: DispatchQueue(label: "test")) { [steps] step in
            steps.append(step.completed)
        } completion: { [results] result in
            results.append(result)
        }
    }

    /// Waits until half of the file is stored, or all of it: a pause may have ended the first request earlier.
    private func waitForHalf() async {
        while (folder.names.first { $0.hasSuffix(".download") }).flatMap({ size(of: $0) }) != Self.half,
            results.count == 0, !Task.isCancelled
        {
            await Task.yield()
        }
    }

    private func size(of name: String) -> Int? {
        try? Data(contentsOf: folder.url.appendingPathComponent(name)).count
    }

    @Test("A paused download sends nothing until it is resumed, and is sent and received in pairs")
    func resumed() async throws {
        struct Pairs: Plugin {
            let events = Recorder<String>()
            func willSend(_ request: URLRequest, context: RequestContext) { events.append("sent") }
            func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
                events.append("received")
            }
            func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
                events.append("asked")
                return .doNotRetry
            }
        }
        let pairs = Pairs()
        let handle = start(.file(file).resumable, plugins: [pairs])
        await waitForHalf()
        handle.pause()
        handle.pause()
        await server.waitForConnections(closed: 1)
        #expect(server.requestCount == 1)
        #expect(results.count == 0)
        handle.resume()
        handle.resume()
        let response = try await results.element(0).get()
        #expect(response.file == file)
        #expect(try Data(contentsOf: file).whole == content.data.whole)
        #expect(server.requests.map { $0.headers["Range"] } == [nil, "bytes=\(Self.half)-"])
        #expect(pairs.events.elements == ["sent", "received", "sent", "received", "asked"])
        #expect(results.count == 1)
        handle.pause()
        #expect(try await handle.response().file == file)
    }

    @Test("A call that is paused before it begins waits, and a pause that is over at once loses nothing")
    func early() async throws {
        let handle = start(.file(file).resumable)
        handle.pause()
        handle.resume()
        await waitForHalf()
        handle.pause()
        handle.resume()
        #expect(try await results.element(0).get().file == file)
        #expect(try Data(contentsOf: file).whole == content.data.whole)
    }

    @Test("A paused call can be cancelled, and keeps what has arrived")
    func cancelled() async throws {
        let handle = start(.file(file).resumable)
        await waitForHalf()
        handle.pause()
        handle.cancel()
        handle.resume()
        let error = await #expect(throws: TargetKitError.self) { try await handle.response() }
        #expect(error?.stage == .cancelled)
        #expect(folder.names.count == 2)
    }

    @Test("The limit of the whole call does not expire while it is paused")
    func deadline() async throws {
        let clock = ManualClock()
        let handle = start(
            .file(file).resumable,
            clock: clock,
            options: .setting(\.timeout, .wholeCall(.seconds(60)))
        )
        await waitForHalf()
        clock.advance(by: .seconds(20))
        handle.pause()
        clock.advance(by: .seconds(1000))
        handle.resume()
        #expect(try await results.element(0).get().file == file)
    }

    @Test("A Progress pauses and resumes its download, and says that it can while the download can be continued")
    func progressObject() async throws {
        let progress = Progress(totalUnitCount: 0)
        let handle = start(.file(file).resumable, options: .setting(\.progress, progress))
        await waitForHalf()
        #expect(progress.isPausable)
        progress.pause()
        await server.waitForConnections(closed: 1)
        #expect(results.count == 0)
        progress.resume()
        #expect(try await handle.response().file == file)
        #expect(!progress.isPausable)
        #expect(server.requests.map { $0.headers["Range"] } == [nil, "bytes=\(Self.half)-"])
    }

    /// Starts a call that may take a minute, and waits until the server has its request.
    private func startLimited(
        _ target: TestTarget,
        _ server: TestServer,
        _ clock: ManualClock
    ) async throws -> RequestHandle {
        let provider = Provider<TestTarget>(transport: SystemTransport.patient, clock: clock)
        let handle = provider.request(
            target,
            options: .setting(\.timeout, .wholeCall(.seconds(60))),
            on: DispatchQueue(label: "test")
        ) { [results] in results.append($0) }
        await server.waitForHeads(1)
        try await clock.waitForSleepers()
        return handle
    }

    @Test("The time before and after a pause counts")
    func expired() async throws {
        let clock = ManualClock()
        let server = try TestServer { _ in .hang }
        let target = TestTarget(server.baseURL).with { $0.task = .download(to: .file(file).resumable) }
        let handle = try await startLimited(target, server, clock)
        clock.advance(by: .seconds(20))
        handle.pause()
        clock.advance(by: .seconds(100))
        handle.resume()
        await server.waitForHeads(2)
        // Of the 60 seconds, 40 are left.
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(39))
        #expect(results.count == 0)
        clock.advance(by: .seconds(1))
        let error = await #expect(throws: TargetKitError.self) { try await handle.response() }
        #expect(error?.kind == .timedOut)
    }

    @Test(
        "Pausing has no effect on a call that cannot be continued, and its limit still expires",
        arguments: Call.allCases
    )
    func ineffective(_ call: Call) async throws {
        let clock = ManualClock()
        let server = try TestServer { _ in .hang }
        let target = TestTarget(server.baseURL).with { target in
            switch call {
            case .plain: break
            case .file: target.task = .download(to: file)
            case .post:
                target.method = .post
                target.task = .download(to: .file(file).resumable)
            }
        }
        let handle = try await startLimited(target, server, clock)
        handle.pause()
        #expect(server.openConnectionCount == 1)
        await server.waitForRequests(1)
        clock.advance(by: .seconds(60))
        let error = await #expect(throws: TargetKitError.self) { try await handle.response() }
        #expect(error?.kind == .timedOut)
        #expect(server.requestCount == 1)
    }

    enum Call: CaseIterable, Sendable {
        case plain, file, post
    }

    @Test("A paused call ends with its scope, also when its handle was released", arguments: [true, false])
    func scope(isShutDown: Bool) async throws {
        let scope = RequestScope()
        let target = TestTarget(server.baseURL).with { $0.task = .download(to: .file(file).resumable) }
        let provider = Provider<TestTarget>(transport: SystemTransport.patient, scope: scope)
        weak var released: RequestHandle?
        do {
            let handle = provider.request(target, on: DispatchQueue(label: "test")) { [results] in results.append($0) }
            released = handle
            await waitForHalf()
            handle.pause()
        }
        await server.waitForConnections(closed: 1)
        #expect(results.count == 0)
        if isShutDown { await scope.shutdown(grace: .zero) } else { provider.cancelAll() }
        let result = try await results.element(0)
        #expect(throws: TargetKitError.self) { try result.get() }
        while released != nil { await Task.yield() }
        #expect(folder.names.count == 2)
    }

    @Test("Pausing and resuming at any moment ends with a whole file or a cancelled call", arguments: 0..<40)
    func races(number: Int) async throws {
        let content = content
        let server = try TestServer { content.response(to: $0) }
        let target = TestTarget(server.baseURL).with { $0.task = .download(to: .file(file).resumable) }
        let handle = Provider<TestTarget>(transport: SystemTransport.patient)
            .request(target, on: DispatchQueue(label: "test")) { [results] in results.append($0) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for _ in 0..<(number * 5) {
                    handle.pause()
                    await Task.yield()
                    handle.resume()
                }
            }
            group.addTask {
                for _ in 0..<(number * 7) { await Task.yield() }
                if number % 4 == 0 { handle.cancel() }
            }
        }
        handle.resume()
        switch try await results.element(0) {
        case .success: #expect(try Data(contentsOf: file).whole == content.data.whole)
        case .failure(let error): #expect(error.stage == .cancelled && number % 4 == 0)
        }
        #expect(results.count == 1)
    }
}
