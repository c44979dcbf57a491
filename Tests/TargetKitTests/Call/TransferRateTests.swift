// SPDX-License-Identifier: MIT
import Foundation
import TargetKitTesting
import TestSupport
import Testing

@testable import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Progress: rates and completion", .throttled, .timeLimit(.minutes(2)))
struct TransferRateTests {
    private static let upload = TestTarget(.example).with {
        $0.method = .post
        $0.task = .data(Data("x".utf8))
    }

    @Test("A steady transfer has its rate after a quarter of a second")
    func steady() {
        var rate = TransferRate()
        #expect(rate.update(0, at: .zero) == nil)
        #expect(rate.update(10_000, at: .milliseconds(100)) == nil)
        #expect(rate.update(25_000, at: .milliseconds(250)) == 100_000)
        #expect(rate.update(1_000_000, at: .seconds(10)).map { abs($0 - 100_000) < 1 } == true)
    }

    @Test("A change of the rate shows gradually")
    func smoothed() {
        var rate = TransferRate()
        _ = rate.update(0, at: .zero)
        _ = rate.update(1_000, at: .seconds(1))
        let soon = rate.update(2_000 + 3_000, at: .seconds(2)) ?? 0
        #expect(soon > 1_500 && soon < 2_500)
        var count: Int64 = 5_000
        var last = soon
        for second in 3...20 {
            count += 4_000
            last = rate.update(count, at: .seconds(second)) ?? 0
        }
        #expect(abs(last - 4_000) < 40)
    }

    @Test("A transfer that begins again has no negative rate")
    func restart() {
        var rate = TransferRate()
        _ = rate.update(0, at: .zero)
        _ = rate.update(1_000, at: .seconds(1))
        #expect(rate.update(0, at: .seconds(2)) == 1_000)
        #expect(rate.update(1_000, at: .seconds(3)).map { abs($0 - 1_000) < 1 } == true)
    }

    @Test("The remaining time follows from total and rate")
    func remainingTime() {
        var progress = TransferProgress(completed: 250, total: 1_000, direction: .download)
        #expect(progress.remainingTime == nil)
        progress.bytesPerSecond = 0
        #expect(progress.remainingTime == nil)
        progress.bytesPerSecond = 375
        #expect(progress.remainingTime == .seconds(2))
        progress.bytesPerSecond = .leastNonzeroMagnitude
        #expect(progress.remainingTime == .seconds(1_000_000_000))
        progress.total = nil
        #expect(progress.remainingTime == nil)
    }

    @Test("Counts at the limits of their type are progress like any other")
    func extremes() {
        var progress = TransferProgress(completed: .min, total: .max, direction: .download)
        progress.bytesPerSecond = 1e300
        #expect(progress.remainingTime == .zero)
        progress.bytesPerSecond = .infinity
        #expect(progress.remainingTime == .zero)
        progress.bytesPerSecond = .nan
        #expect(progress.remainingTime == nil)
        var rate = TransferRate()
        _ = rate.update(.min, at: .zero)
        #expect(rate.update(.max, at: .seconds(1)) == Double(UInt64.max))
    }

    /// Reports a complete upload, and returns its response when the test lets it.
    private struct SlowServer: Transport {
        let reported = Expectation()
        let gate = Gate()

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            request.progress?(TransferProgress(completed: 50, total: 100, direction: .upload))
            request.progress?(TransferProgress(completed: 100, total: 100, direction: .upload))
            reported.fulfill()
            await gate.wait()
            return TransportResponse(head: ResponseHead(statusCode: 503), body: .data(Data()))
        }
    }

    @Test("A request is complete when its response begins, not before")
    func completion() async throws {
        let server = SlowServer()
        let steps = Recorder<TransferProgress>()
        let provider = Provider<TestTarget>(transport: server)
        let handle = provider.request(Self.upload, on: DispatchQueue(label: "test")) {
            steps.append($0)
        } completion: { _ in
        }
        await server.reported.wait()
        await steps.waitForCount(1)
        #expect(steps.elements.map(\.completed) == [50])
        server.gate.open()
        _ = try await handle.response()
        await steps.waitForCount(2)
        #expect(steps.elements.map(\.completed) == [50, 100])
    }

    @Test("A Progress shows the file of a call, and cancels it")
    func progressObject() async throws {
        let server = SlowServer()
        let (all, progress) = (Progress(totalUnitCount: 1), Progress(totalUnitCount: 0))
        all.addChild(progress, withPendingUnitCount: 1)
        let provider = Provider<TestTarget>(transport: server)
        let handle = provider.request(
            Self.upload,
            options: .setting(\.progress, progress),
            on: DispatchQueue(label: "test")
        ) { _ in
        }
        await server.reported.wait()
        #expect(progress.totalUnitCount == 100)
        #expect(progress.completedUnitCount == 50)
        #expect(all.fractionCompleted == 0.5)
        all.cancel()
        // Foundation calls the handler on a queue of its own.
        while !handle.isCancelled {
            try Task.checkCancellation()
            await Task.yield()
        }
        server.gate.open()
    }
}
