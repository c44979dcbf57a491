// SPDX-License-Identifier: MIT
import Foundation
import Measuring
import TargetKit
import Workloads

/// Requests per second and memory when more calls are in flight than the maximum number of connections.
struct WaitingFigures {
    private static let counts = [100, 1000, 10_000]
    private static let rounds = 9

    let server: URL

    func add(to table: Table) async throws {
        let provider = Provider<Ping>(transport: CurlTransport())
        let target = Ping(baseURL: server)
        try await makeCalls(10_000, inFlight: 100) { keep(try await provider.request(target)) }
        let resident = ProcessFigures.residentBytes
        ProcessFigures.resetPeak()
        var perSecond = Self.counts.map { _ in [Double]() }
        for _ in 0..<roundCount(Self.rounds) {
            for (index, count) in Self.counts.enumerated() {
                let calls = max(20_000, 2 * count)
                let time = try await ContinuousClock().measure {
                    try await makeCalls(calls, inFlight: count) { keep(try await provider.request(target)) }
                }
                perSecond[index].append(Double(calls) / time.inSeconds)
            }
        }
        let memory = Double(ProcessFigures.peakBytes - resident) / 1_000_000
        for index in Self.counts.indices.dropFirst() {
            table.add(
                "\(Self.counts[index]) in flight: requests/s, by those with 100",
                "\(Int(Rounds(perSecond[index]).median))",
                "\(Int(Rounds(perSecond[0]).median))",
                rounds: Rounds(perSecond[index], by: perSecond[0]),
                goal: .atLeast(0.8)
            )
        }
        let text = String(format: "%.1f MB", memory)
        table.add("10,000 in flight: memory at the peak, MB", text, figure: memory, goal: .atMost(150))
    }
}
