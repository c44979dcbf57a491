// SPDX-License-Identifier: MIT
import Foundation
import TargetKitTesting
import TestSupport
import Testing

@testable import TargetKit
import TargetKitTransfers

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A call whose file is in place has succeeded, and one that is cancelled has changed no file.
@Suite("Downloads: cancelling at the end", .throttled, .timeLimit(.minutes(2)))
struct CompletedDownloadTests {
    /// What cancels the call.
    enum Means: CaseIterable, Sendable {
        case task, scope, timeout
    }

    /// How the call downloads.
    enum Kind: CaseIterable, Sendable {
        case whole, resumable, shared, withClock
    }

    private let folder: TemporaryFolder
    private let file: URL
    private let server: TestServer

    init() throws {
        folder = try TemporaryFolder()
        file = try folder.file("file", Data("old".utf8))
        server = try TestServer { _ in
            TestServer.Response(headers: ["ETag": "\"1\""], body: Data("new".utf8))
        }
    }

    /// Runs a closure in a hook.
    private struct Hook: Plugin {
        var isLate = false
        let run: @Sendable (RequestContext) -> Void

        func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
            if !isLate { run(context) }
        }

        func process(
            _ result: Result<Response, TargetKitError>,
            context: RequestContext
        ) async -> Result<Response, TargetKitError> {
            if isLate { run(context) }
            return result
        }
    }

    private func target(_ kind: Kind, _ destination: DownloadDestination) -> TestTarget {
        TestTarget(server.baseURL).with {
            $0.task = .download(to: kind == .resumable ? destination.resumable : destination)
            $0.validation = .successCodes
            if kind == .shared { $0.options.sharesInFlight = true }
        }
    }

    private func provider(_ kind: Kind, _ plugins: [any Plugin] = []) -> Provider<TestTarget> {
        let clock: any Clock<Duration> = kind == .withClock ? ManualClock() : ContinuousClock()
        return Provider(transport: SystemTransport.patient, plugins: plugins, clock: clock)
    }

    /// The call, and what cancels it.
    private final class Running: Sendable {
        private let task = Locked<Task<Response, any Error>?>(nil)
        private let hasBegun = Gate()

        func begin(_ work: @escaping @Sendable () async throws -> Response) async throws -> Response {
            let new = Task {
                await hasBegun.wait()
                return try await work()
            }
            task.withLock { $0 = new }
            hasBegun.open()
            return try await new.value
        }

        func cancel(_ context: RequestContext, _ means: Means) {
            switch means {
            case .task: task.withLock { $0 }?.cancel()
            case .scope: context.scope.cancelAll()
            case .timeout: context.handle.interrupt(.timedOut)
            }
        }
    }

    @Test(
        "A call that is cancelled when its file is in place succeeds",
        arguments: Means.allCases,
        Kind.allCases
    )
    func late(means: Means, kind: Kind) async throws {
        for isLate in [false, true] {
            try Data("old".utf8).write(to: file)
            let running = Running()
            let provider = provider(kind, [Hook(isLate: isLate) { running.cancel($0, means) }])
            let response = try await running.begin { [target = target(kind, .file(file))] in
                try await provider.request(target)
            }
            #expect(response.file == file)
            #expect(try Data(contentsOf: file) == Data("new".utf8))
            #expect(folder.names == ["file"])
        }
    }

    @Test(
        "A call that is cancelled before its file is in place leaves the old one",
        arguments: [Kind.whole, .resumable, .withClock]
    )
    func early(kind: Kind) async throws {
        let running = Running()
        let provider = provider(kind)
        let destination = DownloadDestination.choose { [file] _, _ in
            provider.cancelAll()
            return file
        }
        let error = try await #require(throws: TargetKitError.self) {
            try await running.begin { [target = target(kind, destination)] in try await provider.request(target) }
        }
        #expect(error.stage == .cancelled)
        #expect(try Data(contentsOf: file) == Data("old".utf8))
    }

    @Test("Of a cancel and a file at the same moment, one wins", arguments: Means.allCases, [Kind.whole, .resumable])
    func race(means: Means, kind: Kind) async throws {
        for round in 0..<30 {
            try Data("old".utf8).write(to: file)
            let running = Running()
            let contexts = Recorder<RequestContext>()
            let provider = provider(kind, [Sent(contexts: contexts)])
            let destination = DownloadDestination.choose { [file] _, _ in
                Thread.detachNewThread {
                    for _ in 0..<round * 20 { sched_yield() }
                    running.cancel(contexts.elements[0], means)
                }
                return file
            }
            let result = await Task { [target = target(kind, destination)] in
                try await running.begin { try await provider.request(target) }
            }.result
            let isNew = try Data(contentsOf: file) == Data("new".utf8)
            if case .success = result { #expect(isNew) } else { #expect(!isNew) }
        }
    }

    private struct Sent: Plugin {
        let contexts: Recorder<RequestContext>
        func willSend(_ request: URLRequest, context: RequestContext) { contexts.append(context) }
    }

    @Test(
        "A time limit that ends when the file appears either fails the call or has no effect",
        arguments: [true, false]
    )
    func timeLimit(isResumable: Bool) async throws {
        for round in 0..<30 {
            try Data("old".utf8).write(to: file)
            let clock = ManualClock()
            let provider = Provider<TestTarget>(transport: SystemTransport.patient, clock: clock)
            let destination = DownloadDestination.choose { [file] _, _ in
                Thread.detachNewThread {
                    for _ in 0..<round * 20 { sched_yield() }
                    clock.advance(by: .seconds(10))
                }
                return file
            }
            let target = target(isResumable ? .resumable : .whole, destination)
            let result = await Task {
                try await provider.request(target, options: .setting(\.timeout, .exchange(.seconds(5))))
            }.result
            let isNew = try Data(contentsOf: file) == Data("new".utf8)
            if case .success = result { #expect(isNew) } else { #expect(!isNew) }
        }
    }

    @Test("A call that a plugin repeats after a success can be cancelled again")
    func repeated() async throws {
        struct Again: Plugin {
            func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
                guard case .success = result else { return .doNotRetry }
                context.scope.cancelAll()
                return .retry(after: .zero)
            }
        }
        let error = try await #require(throws: TargetKitError.self) {
            try await provider(.whole, [Again()]).request(target(.whole, .file(file)))
        }
        #expect(error.stage == .cancelled)
    }
}
