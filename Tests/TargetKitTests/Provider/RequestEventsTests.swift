// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Events", .throttled, .timeLimit(.minutes(2)))
struct RequestEventsTests {
    @Test("Progress comes before the response, the last of each direction with all bytes")
    func order() async throws {
        var target = TestTarget(.example)
        target.method = .post
        target.task = .data(Data(repeating: 1, count: 300))
        target.sampleResponse = .response(status: 200, data: Data(repeating: 2, count: 500))
        let provider = Provider<TestTarget>(stubClosure: { _ in .immediate })
        var (up, down): (TransferProgress?, TransferProgress?)
        var response: Response?
        for try await event in provider.events(for: target) {
            #expect(response == nil)
            switch event {
            case .uploadProgress(let step): up = step
            case .downloadProgress(let step): down = step
            case .response(let value): response = value
            }
        }
        #expect(up == TransferProgress(completed: 300, total: 300, direction: .upload))
        #expect(down == TransferProgress(completed: 500, total: 500, direction: .download))
        #expect(response?.data.count == 500)
    }

    @Test("A failure is thrown")
    func failure() async throws {
        let target = TestTarget(.example).with { $0.sampleResponse = .failure(URLError(.notConnectedToInternet)) }
        let provider = Provider<TestTarget>(stubClosure: { _ in .immediate })
        let error = await #expect(throws: TargetKitError.self) {
            for try await _ in provider.events(for: target) {}
        }
        #expect(error?.kind == .offline)
    }

    @Test("Nothing is sent until the events are read, and each reading makes its own call")
    func cold() async throws {
        let sent = Recorder<Int>()
        let transport = StubTransport { _ in
            sent.append(1)
            return .response(status: 200, data: Data())
        }
        let events = Provider<TestTarget>(transport: transport).events(for: TestTarget(.example))
        #expect(sent.count == 0)
        for try await _ in events {}
        for try await _ in events {}
        #expect(sent.count == 2)
    }

    @Test("Leaving the loop cancels the call", arguments: [true, false])
    func leaving(byTask: Bool) async throws {
        let transport = HeldTransport()
        let scope = RequestScope()
        let provider = Provider<TestTarget>(transport: transport, scope: scope)
        let loop = Task {
            for try await _ in provider.events(for: TestTarget(.example)) {}
        }
        await transport.sent.waitForCount(1)
        if byTask {
            loop.cancel()
        } else {
            scope.cancelAll()
        }
        await transport.cancelled.wait()
        _ = await loop.result
        while !Task.isCancelled, scope.inFlightCount > 0 { await Task.yield() }
    }

    @Test("Each backend says how much has come of a length that is known", arguments: Backend.allCases)
    func fractions(backend: Backend) async throws {
        let running = try RunningBackend(backend) { _ in
            .response(status: 200, data: Data(repeating: 7, count: 100_000))
        }
        var last: TransferProgress?
        for try await event in Provider<TestTarget>(transport: running.transport).events(
            for: TestTarget(running.baseURL)
        ) {
            if case .downloadProgress(let step) = event { last = step }
            if case .response = event { #expect(last?.completed == 100_000) }
        }
        #expect(last?.fraction == 1)
    }
}
