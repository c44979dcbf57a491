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

@Suite("Progress: shared exchanges and stalled downloads", .throttled, .timeLimit(.minutes(2)))
struct SharedProgressTests {
    private static func step(_ count: Int64, _ direction: TransferProgress.Direction = .download) -> TransferProgress {
        TransferProgress(completed: count, total: 100, direction: direction)
    }

    /// Reports two steps, and two more when the gate opens for the first time.
    private struct ReportingTransport: Transport {
        let joined: Gate
        let end: Gate

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            request.progress?(step(100, .upload))
            request.progress?(step(50))
            await joined.wait()
            request.progress?(step(60))
            request.progress?(step(70))
            await end.wait()
            return TransportResponse(head: ResponseHead(statusCode: 200), body: .data(Data()))
        }
    }

    @Test("The progress of a call that joins a shared exchange is in order, and begins with the next step")
    func joining() async throws {
        let transport = ReportingTransport(joined: Gate(), end: Gate())
        let provider = Provider<TestTarget>(transport: transport, options: .setting(\.sharesInFlight, true))
        let queue = DispatchQueue(label: "test")
        let first = provider.request(TestTarget(.example), on: queue) { _ in }
        await transport.joined.waitForArrivals()
        let steps = Recorder<Int64>()
        let progress = { @Sendable (step: TransferProgress) in steps.append(step.completed) }
        let second = provider.request(TestTarget(.example), on: queue, progress: progress) { _ in }
        while !Task.isCancelled, provider.configuration.sharedExchanges.waiterCount < 2 { await Task.yield() }
        transport.joined.open()
        let received = await steps.waitForCount(2)
        transport.end.open()
        _ = try await (first.response(), second.response())
        #expect(received == [60, 70])
    }

    @Test("A resumable download that stalls at once reports what has arrived", arguments: [1, 3])
    func stalled(pieces: Int) async throws {
        let gate = Gate()
        let content = ServedFile(size: 3000)
        let server = try TestServer { _ in
            let head = content.validators.merging(["Content-Length": "3000"])
            let bodies = (0..<pieces).map { TestServer.Step.body(content.data[($0 * 100)..<($0 * 100 + 100)]) }
            let rest = TestServer.Step.body(content.data.dropFirst(pieces * 100))
            return TestServer.Response(
                steps: [.head(status: 200, headers: head)] + bodies + [.pause(until: gate), rest]
            )
        }
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("file")
        let target = TestTarget(server.baseURL).with { $0.task = .download(to: .file(file).resumable) }
        let (steps, arrived, end) = (Recorder<Int64>(), Gate(), Gate())
        Provider<TestTarget>(transport: SystemTransport.patient).request(target, on: DispatchQueue(label: "test")) {
            steps.append($0.completed)
            if $0.completed == Int64(pieces * 100) { arrived.open() }
        } completion: { _ in
            end.open()
        }
        await arrived.wait()
        gate.open()
        await end.wait()
        #expect(steps.elements.last == 3000)
        #expect(steps.elements == steps.elements.sorted())
    }
}
