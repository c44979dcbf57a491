// SPDX-License-Identifier: MIT
import Foundation
import Measuring
import Synchronization
import TargetKit
import Workloads

/// What many calls leave behind: memory, file descriptors, completions that are missing or too many.
struct SoakFigures {
    let server: URL

    func add(to table: Table) async throws {
        try await addGrowth(to: table)
        try await addRaces(to: table)
    }

    /// 200,000 calls, 64 in flight; what is there after the first 20,000 is taken for needed.
    private func addGrowth(to table: Table) async throws {
        let provider = Provider<Ping>(transport: CurlTransport())
        let target = Ping(baseURL: server)
        // To look for the first time takes memory too.
        keep((ProcessFigures.residentBytes, ProcessFigures.openFiles))
        var memory = 0
        var files = 0
        for part in 0..<10 {
            try await makeCalls(20_000, inFlight: 64) { keep(try await provider.request(target)) }
            if part > 0 { continue }
            memory = ProcessFigures.residentBytes
            files = ProcessFigures.openFiles.count
        }
        let growth = Double(ProcessFigures.residentBytes - memory) / 1_048_576
        let opened = Double(ProcessFigures.openFiles.count - files)
        let text = String(format: "%.2f MiB", growth)
        table.add("200,000 calls: memory after the first 20,000, MiB", text, figure: growth, goal: .atMost(1))
        table.add("200,000 calls: open files more than then", "\(Int(opened))", figure: opened, goal: .atMost(0))
    }

    /// 100,000 calls, each cancelled at a time at which it may just be ending.
    private func addRaces(to table: Table) async throws {
        let calls = 100_000
        let races = CancelRaces(
            calls: calls,
            provider: Provider(transport: CurlTransport()),
            target: Ping(baseURL: server)
        )
        try await races.run(inFlight: 64)
        let outcome = races.outcome
        let measured = "\(outcome.once) once"
        let others = "\(outcome.cancelled) were cancelled"
        table.add(
            "100,000 races: not ended exactly once",
            measured,
            others,
            figure: Double(calls - outcome.once),
            goal: .atMost(0)
        )
        table.add(
            "100,000 races: failed otherwise",
            "\(outcome.failed)",
            figure: Double(outcome.failed),
            goal: .atMost(0)
        )
    }
}

/// Calls whose cancel races their completion.
private final class CancelRaces: Sendable {
    struct Outcome {
        var once = 0
        var cancelled = 0
        var failed = 0
    }

    private struct Counts {
        var completions: [UInt8]
        var cancelled = 0
        var failed = 0
    }

    private let provider: Provider<Ping>
    private let target: Ping
    private let calls: Int
    private let counts: Mutex<Counts>

    init(calls: Int, provider: Provider<Ping>, target: Ping) {
        self.calls = calls
        self.provider = provider
        self.target = target
        counts = Mutex(Counts(completions: [UInt8](repeating: 0, count: calls)))
    }

    var outcome: Outcome {
        counts.withLock { counts in
            let once = counts.completions.count { $0 == 1 }
            return Outcome(once: once, cancelled: counts.cancelled, failed: counts.failed)
        }
    }

    func run(inFlight: Int) async throws {
        let time = try await ContinuousClock().measure {
            try await makeCalls(4096, inFlight: inFlight) { keep(try await self.provider.request(self.target)) }
        }
        // Up to twice the time that a call takes, with as many beside it.
        let longest = UInt64(time.inSeconds / 4096 * Double(inFlight) * 2e9)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<inFlight {
                group.addTask {
                    for index in stride(from: worker, to: self.calls, by: inFlight) {
                        try await self.race(index, delay: .random(in: 0...longest))
                    }
                }
            }
            try await group.waitForAll()
        }
        // A second completion, if there were one, has this long to come.
        try await Task.sleep(for: .milliseconds(500))
    }

    private func race(_ index: Int, delay: UInt64) async throws {
        let ends = AsyncStream.makeStream(of: Void.self)
        let handle = provider.request(target, on: .global()) { result in
            self.count(result, of: index)
            ends.continuation.finish()
        }
        try await Task.sleep(nanoseconds: delay)
        handle.cancel()
        for await _ in ends.stream {}
    }

    private func count(_ result: Result<Response, TargetKitError>, of index: Int) {
        counts.withLock { counts in
            counts.completions[index] &+= 1
            guard case .failure(let error) = result else { return }
            if error.stage == .cancelled { counts.cancelled += 1 } else { counts.failed += 1 }
        }
    }
}
