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

    private static func key() throws -> SharedExchangeKey {
        let target = TestTarget(.example)
        let endpoint = try Endpoint(target: target)
        return try #require(
            SharedExchangeKey(
                TransportRequest(urlRequest: try endpoint.urlRequest()),
                to: ResolvedTarget(endpoint: endpoint, stub: .never, timeout: nil),
                RequestContext(target: target)
            )
        )
    }

    @Test("The progress of a call that joins a shared exchange is in order, and begins with the request's")
    func joining() async throws {
        let (exchanges, key, end) = (SharedExchanges(), try Self.key(), Gate())
        let report = Locked<(@Sendable (TransferProgress) -> Void)?>(nil)
        async let first = exchanges.result(
            for: key,
            id: RequestContext(target: TestTarget(.example)).id,
            deadline: nil,
            progress: nil
        ) { _, progress in
            report.withLock { $0 = progress }
            return {
                await end.wait()
                return .failure(TargetKitError(stage: .cancelled))
            }
        }
        await end.waitForArrivals()
        let send = try #require(report.withLock { $0 })
        send(Self.step(100, .upload))
        send(Self.step(50))
        let steps = Recorder<TransferProgress>()
        async let second = exchanges.result(
            for: key,
            id: RequestContext(target: TestTarget(.example)).id,
            deadline: nil,
            progress: { step in
                if step.completed == 50 {
                    // The transport reports while the step before is delivered.
                    let reported = DispatchSemaphore(value: 0)
                    Thread.detachNewThread {
                        send(Self.step(60))
                        reported.signal()
                    }
                    reported.wait()
                }
                steps.append(step)
            }
        ) { _, _ in { .failure(TargetKitError(stage: .cancelled)) } }
        let received = await steps.waitForCount(3)
        end.open()
        _ = await (first, second)
        #expect(received.map(\.completed) == [100, 50, 60])
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
