// SPDX-License-Identifier: MIT
import Foundation
import Measuring
import TargetKit
import TargetKitPlugins
import TargetKitOffline

/// What a call costs that a cache answers, with a body of 1 KB, and how long a cache of 100,000 responses takes to
/// open.
struct CacheFigures {
    private struct Server: Transport {
        func send(_ request: TransportRequest) async throws -> TransportResponse {
            let fields: HTTPHeaders = [
                "Cache-Control": "max-age=3600", "ETag": "\"1\"", "Content-Type": "application/json",
                "Server": "benchmark",
            ]
            return TransportResponse(
                head: ResponseHead(statusCode: 200, headers: fields),
                body: .data(Data(repeating: 0x20, count: 1024))
            )
        }
    }

    private static let calls = 2000
    private static let stored = 100_000

    let base: URL

    func add(to table: Table) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "cache-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let none = Provider<Plain>(transport: Server())
        let memory = provider(ResponseCache())
        let disk = provider(ResponseCache(storedIn: folder, memoryLimit: 0, diskLimit: 1 << 30))
        let seconds = try await Race(rounds: 30, [run(none), run(memory), run(disk)]).best.map {
            $0 / Double(Self.calls)
        }
        add("a call with a cached response in memory, µs", seconds[1], to: table)
        add("a hit in memory, µs", seconds[1] - seconds[0], goal: .atMost(5), to: table)
        add("a hit on the disk, µs", seconds[2] - seconds[0], goal: .atMost(60), to: table)
        for page in 0..<Self.stored { keep(try await disk.request(Plain(baseURL: base, page: page))) }
        var opening: [Double] = []
        for _ in 0..<5 {
            let start = ContinuousClock.now
            let cache = ResponseCache(storedIn: folder, memoryLimit: 0, diskLimit: 1 << 30)
            let response = try await provider(cache).request(Plain(baseURL: base, page: 7))
            opening.append((ContinuousClock.now - start).inSeconds)
            precondition(response.origin != .network)
            // Until the files have been counted.
            keep(await cache.size)
            if opening.count == 1 {
                add("the same, with the files counted, ms", (ContinuousClock.now - start).inSeconds, to: table)
            }
        }
        add("opening \(Self.stored) responses, with a hit, ms", opening.min() ?? 0, goal: .atMost(100), to: table)
    }

    private func add(_ what: String, _ seconds: Double, goal: Table.Goal = .none, to table: Table) {
        let figure = seconds * (what.hasSuffix("ms") ? 1e3 : 1e6)
        table.add(what, timeText(max(0, seconds)), figure: figure, goal: goal)
    }

    private func provider(_ cache: ResponseCache) -> Provider<Plain> {
        Provider(transport: Server(), plugins: [ResponseCachePlugin(cache)])
    }

    private func run(_ provider: Provider<Plain>) -> @Sendable () async throws -> Void {
        { [base] in
            for page in 0..<Self.calls { keep(try await provider.request(Plain(baseURL: base, page: page % 100))) }
        }
    }
}
