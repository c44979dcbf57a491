// SPDX-License-Identifier: MIT
import AsyncHTTPClient
import CurlMulti
import Foundation
import Measuring
import TargetKit

/// Requests per second and CPU per request, 64 in flight and one after another.
struct ThroughputFigures {
    /// One way to send requests.
    private struct Contender {
        let name: String
        /// Requests of a round, 64 in flight; a quarter of it one after another.
        let calls: Int
        let run: (_ inFlight: Int, _ calls: Int) async throws -> Void
    }

    /// What a contender did, round by round.
    private struct Rounds {
        var perSecond: [Double] = []
        var cpuMicroseconds: [Double] = []

        mutating func add(calls: Int, seconds: Double, cpuSeconds: Double) {
            perSecond.append(Double(calls) / seconds)
            cpuMicroseconds.append(cpuSeconds / Double(calls) * 1e6)
        }
    }

    let server: URL

    func add(to table: Table) async throws {
        var configuration = HTTPClient.Configuration()
        // The default of 8 would keep 56 of the 64 waiting.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let contenders = contenders(client)
        let together = try await rounds(of: contenders, inFlight: 64)
        let apart = try await rounds(of: contenders, inFlight: 1)
        try await client.shutdown()

        let goals = Goals(
            perSecond: [.none, .atLeast(10), .atLeast(1.15), .none],
            cpu: [.none, .none, .none, .atMost(1.6)]
        )
        add(together, of: contenders, "64 in flight", goals, to: table)
        add(apart, of: contenders, "one by one", Goals(perSecond: Array(repeating: .none, count: 4)), to: table)
    }

    /// What is wanted against each contender.
    private struct Goals {
        var perSecond: [Table.Goal]
        var cpu: [Table.Goal] = Array(repeating: .none, count: 4)
    }

    private func add(
        _ rounds: [Rounds],
        of contenders: [Contender],
        _ title: String,
        _ goals: Goals,
        to table: Table
    ) {
        for peer in 1..<contenders.count {
            table.add(
                "\(title): requests/s, by \(contenders[peer].name)",
                "\(Int(median(rounds[0].perSecond)))",
                "\(Int(median(rounds[peer].perSecond)))",
                figure: medianRatio(rounds[0].perSecond, rounds[peer].perSecond),
                goal: goals.perSecond[peer]
            )
        }
        for peer in 1..<contenders.count {
            table.add(
                "\(title): CPU each, by \(contenders[peer].name)",
                timeText(median(rounds[0].cpuMicroseconds) / 1e6),
                timeText(median(rounds[peer].cpuMicroseconds) / 1e6),
                figure: medianRatio(rounds[0].cpuMicroseconds, rounds[peer].cpuMicroseconds),
                goal: goals.cpu[peer]
            )
        }
    }

    private func contenders(_ client: HTTPClient) -> [Contender] {
        let text = server.absoluteString + (server.path.isEmpty ? "/" : "")
        let target = Ping(baseURL: server)
        let curl = Provider<Ping>(transport: CurlTransport())
        let session = Provider<Ping>(transport: URLSessionTransport())
        return [
            Contender(name: "TargetKit", calls: 10_000) { inFlight, calls in
                try await send(calls, inFlight) { keep(try await curl.request(target).data.count) }
            },
            Contender(name: "URLSession", calls: 1000) { inFlight, calls in
                try await send(calls, inFlight) { keep(try await session.request(target).data.count) }
            },
            Contender(name: "async-http-client", calls: 10_000) { inFlight, calls in
                try await send(calls, inFlight) {
                    let response = try await client.execute(HTTPClientRequest(url: text), timeout: .seconds(60))
                    guard response.status == .ok else { throw URLError(.badServerResponse) }
                    keep(try await response.body.collect(upTo: 1 << 20))
                }
            },
            Contender(name: "C on libcurl", calls: 10_000) { inFlight, calls in
                guard curl_multi_gets(text, Int32(inFlight), calls) == 0 else { throw URLError(.badServerResponse) }
            },
        ]
    }

    /// Many short rounds: what else the machine does comes and goes in seconds, and those that are compared are to meet the same.
    private func rounds(of contenders: [Contender], inFlight: Int) async throws -> [Rounds] {
        var rounds = [Rounds](repeating: Rounds(), count: contenders.count)
        for contender in contenders { try await contender.run(inFlight, contender.calls / 2) }
        for _ in 0..<32 {
            for (index, contender) in contenders.enumerated() {
                let calls = inFlight == 1 ? contender.calls / 4 : contender.calls
                let cpu = ProcessFigures.cpuSeconds
                let time = try await ContinuousClock().measure { try await contender.run(inFlight, calls) }
                rounds[index].add(calls: calls, seconds: time.inSeconds, cpuSeconds: ProcessFigures.cpuSeconds - cpu)
            }
        }
        return rounds
    }
}

/// The middle one.
func median(_ values: [Double]) -> Double {
    values.sorted()[values.count / 2]
}

/// The middle one of the rounds' ratios.
func medianRatio(_ values: [Double], _ peers: [Double]) -> Double {
    median(zip(values, peers).map(/))
}

/// Makes so many calls, so many at a time.
func send(_ calls: Int, _ inFlight: Int, _ call: @escaping @Sendable () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for worker in 0..<inFlight {
            group.addTask {
                for _ in stride(from: worker, to: calls, by: inFlight) { try await call() }
            }
        }
        try await group.waitForAll()
    }
}
