// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

/// Random interleavings of all that can be done with calls, held against a model of what may come of it.
///
/// `TARGETKIT_MODEL` is the number of calls without a network, `TARGETKIT_MODEL_SEED` the seed of a run that failed.
@Suite(.throttled, .serialized, .timeLimit(.minutes(30)))
struct LifecycleModelTests {
    @Test("Whatever is done with calls in whatever order, each ends once, as it may, and leaves nothing behind")
    func callsWithoutNetwork() async throws {
        let count = Self.number("TARGETKIT_MODEL") ?? 4_000
        let base = try #require(URL(string: "http://model.example"))
        try await run(rounds: max(1, count / 2_000), callsOfEach: 250) { holds in
            .init(baseURL: base, transport: LifecycleStub(holds: holds), holds: holds)
        }
    }

    @Test("Over a network with faults too, each call ends once, as it may, and leaves nothing behind")
    func callsOverNetwork() async throws {
        let count = Self.number("TARGETKIT_MODEL_NETWORK") ?? 800
        let servers = Locked<[TestServer]>([])
        try await run(rounds: max(1, count / 400), callsOfEach: 50) { holds in
            let server = try TestServer(holds: holds)
            servers.withLock { $0.append(server) }
            return .init(baseURL: server.baseURL, transport: SystemTransport.another(), holds: holds)
        }
        for server in servers.withLock({ $0 }) { server.stop() }
    }

    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap(Int.init)
    }

    private func run(
        rounds: Int,
        callsOfEach: Int,
        network: (LifecycleHolds) throws -> LifecycleRound.Network
    ) async throws {
        let fixed = Self.number("TARGETKIT_MODEL_SEED").map(UInt64.init)
        var report = LifecycleReport()
        for number in 0..<rounds {
            let seed = fixed ?? UInt64.random(in: 0...999_999_999)
            let round = LifecycleRound(try network(LifecycleHolds()))
            let watchdog = Task {
                try await Task.sleep(for: .seconds(600))
                Issue.record("seed \(seed), round \(number): \(round.giveUp())")
            }
            let problems = try await round.run(seed: seed, threads: 8, callsOfEach: callsOfEach)
            watchdog.cancel()
            report.add(round.ledger.entries)
            try #require(problems.count == 0, "seed \(seed), round \(number): \(problems.prefix(5))")
        }
        report.check()
        print("lifecycle model: \(report)")
    }
}

/// What the rounds have seen: a model that never gets to a corner proves nothing about it.
struct LifecycleReport: CustomStringConvertible {
    private var calls = 0
    private var sends = 0
    private var endings: [String: Int] = [:]

    mutating func add(_ entries: [LifecycleLedger.Entry]) {
        calls += entries.count
        for entry in entries {
            sends += entry.sends
            guard let ending = entry.endings.first else { continue }
            if entry.sends == 0, case .body = ending { endings["joined", default: 0] += 1 }
            let name =
                switch ending {
                case .body: "response"
                case .failure(let stage, let isTimeout, _, _): isTimeout ? "timeout" : "\(stage)"
                case .left: "left"
                case .nothing: "nothing"
                }
            endings[name, default: 0] += 1
        }
    }

    func check() {
        for name in ["response", "joined", "transport", "status", "cancelled", "timeout", "left", "shutDown"] {
            #expect(endings[name, default: 0] > 0, "no call has ended with \(name)")
        }
    }

    var description: String {
        "\(calls) calls, \(sends) sent, "
            + endings.sorted { $0.value > $1.value }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }
}
