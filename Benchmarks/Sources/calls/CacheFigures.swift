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
        let race = try await Race(rounds: 30, [run(none), run(memory), run(disk)])
        let call = race.best[1] / Double(Self.calls)
        table.add("a call with a cached response in memory, µs", timeText(call), figure: call * 1e6)
        addHit("a hit in memory, µs", race, 1, goal: .atMost(5), to: table)
        addHit("a hit on the disk, µs", race, 2, goal: .atMost(60), to: table)
        for page in 0..<Self.stored { keep(try await disk.request(Plain(baseURL: base, page: page))) }
        var (opening, counting): ([Double], [Double]) = ([], [])
        for _ in 0..<5 {
            let start = ContinuousClock.now
            let cache = ResponseCache(storedIn: folder, memoryLimit: 0, diskLimit: 1 << 30)
            let response = try await provider(cache).request(Plain(baseURL: base, page: 7))
            opening.append((ContinuousClock.now - start).inSeconds)
            precondition(response.origin != .network)
            // Until the files have been counted.
            keep(await cache.size)
            counting.append((ContinuousClock.now - start).inSeconds)
        }
        addTime("opening \(Self.stored) responses, with a hit, ms", opening, goal: .atMost(100), to: table)
        addTime("the same, with the files counted, ms", counting, to: table)
    }

    private func addTime(_ what: String, _ seconds: [Double], goal: Table.Goal = .none, to table: Table) {
        let times = Rounds(seconds.map { $0 * 1e3 })
        table.add(what, timeText(times.median / 1e3), rounds: times, goal: goal)
    }

    /// Adds what a hit takes longer than a call without a cache.
    private func addHit(_ what: String, _ race: Race, _ contender: Int, goal: Table.Goal, to table: Table) {
        let added = race.differences(contender, minus: 0, scale: 1e6 / Double(Self.calls))
        table.add(what, timeText(max(0, added.median / 1e6)), rounds: added, goal: goal)
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
