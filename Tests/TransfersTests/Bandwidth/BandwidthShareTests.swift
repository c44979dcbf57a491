// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTransfers
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Shares of a limit of bandwidth", .throttled, .timeLimit(.minutes(2)))
struct BandwidthShareTests {
    /// Responds with a number of pieces of a size.
    private struct Pieces {
        let pieceSize: Int
        var count = Int.max

        /// Performs an exchange with a plugin.
        func response(to request: TransportRequest, _ limit: BandwidthLimit) async throws -> TransportResponse {
            let context = RequestContext(target: URLTarget(request.urlRequest.url ?? .shop))
            return try await BandwidthLimitPlugin(limit).exchange(
                request,
                context: context,
                next: Exchange { _ in response }
            )
        }

        private var response: TransportResponse {
            let piece = Data(count: pieceSize)
            let left = Locked(count)
            let body = ResponseBody {
                left.withLock { left in
                    defer { left -= 1 }
                    return left > 0 ? piece : nil
                }
            }
            return TransportResponse(head: ResponseHead(statusCode: 200), body: .stream(body))
        }
    }

    private let clock = ManualClock()

    /// Reads bodies until the task is cancelled.
    private func read(_ limit: BandwidthLimit, pieceSize: Int) async throws -> Int {
        let pieces = Pieces(pieceSize: pieceSize)
        let url = try #require(URL(string: "https://example.org"))
        var request = TransportRequest(urlRequest: URLRequest(url: url))
        request.destination = .stream(buffer: 64 << 10)
        guard case .stream(let body) = try await pieces.response(to: request, limit).body else { return 0 }
        var count = 0
        do {
            for try await piece in body { count += piece.count }
        } catch is CancellationError {}
        return count
    }

    @Test(
        "Calls reach the limit together although their timers are late, and have equal shares of it",
        arguments: [4_000_000, 100_000_000],
        [[16 << 10], [16 << 10, 16 << 10, 16 << 10], [16 << 10, 64 << 10, 1 << 20, 5_000]]
    )
    func shares(bytesPerSecond: Int, pieceSizes: [Int]) async throws {
        let limit = BandwidthLimit(bytesPerSecond: bytesPerSecond, clock: clock)
        let start = clock.now
        let calls = pieceSizes.map { size in Task { try await read(limit, pieceSize: size) } }
        for _ in 0..<150 {
            try await clock.waitForSleepers(pieceSizes.count, within: .seconds(60))
            clock.advance(by: .milliseconds(23))
        }
        try await clock.waitForSleepers(pieceSizes.count, within: .seconds(60))
        let time = start.duration(to: clock.now) / .seconds(1)
        calls.forEach { $0.cancel() }
        var counts: [Double] = []
        for call in calls { counts.append(Double(try await call.value)) }
        let rate = counts.reduce(0, +) / time
        #expect(rate >= 0.97 * Double(bytesPerSecond) && rate <= 1.02 * Double(bytesPerSecond), "\(rate)")
        for count in counts {
            let share = count * Double(counts.count) / (rate * time)
            #expect(share >= 0.9 && share <= 1.1, "\(counts)")
        }
    }

    @Test("The time in which no call uses the limit is not made up for")
    func idle() async throws {
        let limit = BandwidthLimit(bytesPerSecond: 1_000_000, clock: clock)
        clock.advance(by: .seconds(60))
        let start = clock.now
        let call = Task { try await read(limit, pieceSize: 1_000) }
        for _ in 0..<20 {
            try await clock.waitForSleepers()
            _ = clock.advanceToNextDeadline()
        }
        let time = start.duration(to: clock.now)
        call.cancel()
        let count = try await call.value
        #expect(Double(count) <= 1_000_000 * (time / .seconds(1) + 0.15), "\(count)")
    }

    @Test("What was reserved at a high rate does not hold up others after the rate is lowered")
    func lowered() async throws {
        let limit = BandwidthLimit(bytesPerSecond: 100_000_000, clock: clock)
        let calls = (0..<3).map { _ in Task { try await read(limit, pieceSize: 16 << 10) } }
        for _ in 0..<20 {
            try await clock.waitForSleepers(3, within: .seconds(60))
            clock.advance(by: .milliseconds(23))
        }
        try await clock.waitForSleepers(3, within: .seconds(60))
        limit.bytesPerSecond = 100_000
        let other = Task { try await read(limit, pieceSize: 1_000) }
        for _ in 0..<200 {
            try await clock.waitForSleepers(4, within: .seconds(60))
            clock.advance(by: .milliseconds(23))
        }
        try await clock.waitForSleepers(4, within: .seconds(60))
        calls.forEach { $0.cancel() }
        other.cancel()
        for call in calls { _ = try await call.value }
        // 4.6 seconds at a quarter of the rate.
        let count = try await other.value
        #expect(count >= 90_000 && count <= 130_000, "\(count)")
    }

    @Test("Small bodies use no more of the limit than their size")
    func small() async throws {
        let limit = BandwidthLimit(bytesPerSecond: 1_000_000, clock: clock)
        let url = try #require(URL(string: "https://example.org"))
        let start = clock.now
        let calls = Task {
            for _ in 0..<1_000 {
                let pieces = Pieces(pieceSize: 1_000, count: 1)
                _ = try await pieces.response(to: TransportRequest(urlRequest: URLRequest(url: url)), limit)
            }
        }
        let isDone = Locked(false)
        let ticking = Task {
            while !isDone.withLock({ $0 }) {
                try? await clock.waitForSleepers(within: .seconds(600))
                _ = clock.advanceToNextDeadline()
            }
        }
        try await calls.value
        isDone.withLock { $0 = true }
        let time = start.duration(to: clock.now)
        async let last: Void? = try? clock.sleep(for: .milliseconds(1))
        await ticking.value
        clock.advance(by: .seconds(1))
        _ = await last
        #expect(time >= .milliseconds(850) && time <= .milliseconds(1_030), "\(time)")
    }
}
