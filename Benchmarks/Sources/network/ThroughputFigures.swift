// SPDX-License-Identifier: MIT
import AsyncHTTPClient
import AsyncHTTPClientTransport
import Foundation
import Measuring

/// Requests per second and CPU per request, 64 in flight and one after another.
struct ThroughputFigures {
    /// What is compared.
    private enum Quantity {
        case rate, time, cpu
    }

    /// A line of the table: a contender, and what is wanted of it against another.
    private struct Comparison: Sendable {
        let quantity: Quantity
        let own: String
        let peer: String
        let goal: Table.Goal

        init(_ quantity: Quantity, _ own: String, by peer: String, goal: Table.Goal = .none) {
            self.quantity = quantity
            self.own = own
            self.peer = peer
            self.goal = goal
        }
    }

    /// What a contender did, round by round.
    private struct Measured {
        var perSecond: [Double] = []
        var cpuSeconds: [Double] = []

        mutating func add(calls: Int, seconds: Double, cpuSeconds cpu: Double) {
            perSecond.append(Double(calls) / seconds)
            cpuSeconds.append(cpu / Double(calls))
        }

        func values(_ quantity: Quantity) -> [Double] {
            switch quantity {
            case .rate: perSecond
            case .time: perSecond.map { 1 / $0 }
            case .cpu: cpuSeconds
            }
        }
    }

    private static let rounds = 32

    private static let together = [
        Comparison(.rate, "TargetKit", by: "URLSessionTransport", goal: .atLeast(10)),
        Comparison(.rate, "TargetKit", by: "async-http-client", goal: .atLeast(1.6)),
        Comparison(.rate, "TargetKit", by: "C on libcurl"),
        Comparison(.cpu, "TargetKit", by: "C on libcurl", goal: .atMost(1.4)),
        Comparison(.cpu, "TargetKit", by: "async-http-client"),
        Comparison(.rate, "four plugins", by: "async-http-client", goal: .atLeast(1.3)),
        Comparison(.cpu, "four plugins", by: "C on libcurl"),
        Comparison(.rate, "closure", by: "async-http-client"),
        Comparison(.time, "URLSessionTransport", by: "raw URLSession", goal: .atMost(1.05)),
        Comparison(.cpu, "URLSessionTransport", by: "raw URLSession", goal: .atMost(1.1)),
        Comparison(.rate, "TargetKit", by: "AsyncHTTPClientTransport"),
        Comparison(.rate, "AsyncHTTPClientTransport", by: "async-http-client"),
        Comparison(.cpu, "AsyncHTTPClientTransport", by: "async-http-client"),
    ]

    private static let apart = [
        Comparison(.cpu, "TargetKit", by: "C on libcurl", goal: .atMost(1.5)),
        Comparison(.cpu, "closure", by: "C on libcurl", goal: .atMost(1.8)),
        Comparison(.cpu, "four plugins", by: "C on libcurl", goal: .atMost(1.9)),
        Comparison(.rate, "TargetKit", by: "C on libcurl"),
        Comparison(.rate, "TargetKit", by: "async-http-client"),
        Comparison(.cpu, "TargetKit", by: "async-http-client"),
        Comparison(.time, "URLSessionTransport", by: "raw URLSession", goal: .atMost(1.05)),
        Comparison(.cpu, "URLSessionTransport", by: "raw URLSession", goal: .atMost(1.1)),
        Comparison(.rate, "TargetKit", by: "AsyncHTTPClientTransport"),
        Comparison(.rate, "AsyncHTTPClientTransport", by: "async-http-client"),
        Comparison(.cpu, "AsyncHTTPClientTransport", by: "async-http-client"),
    ]

    let server: URL

    func add(to table: Table) async throws {
        // The client's default of 8 connections would keep 56 of the 64 calls waiting.
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        configuration = AsyncHTTPClientTransport.configuration
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        let transportClient = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let contenders: [Contender] = [
            .targetKit(server), .closure(server), .fourPlugins(server), .libcurl(server),
            .asyncHTTPClient(server, client), .asyncHTTPClientTransport(server, transportClient),
            .urlSessionTransport(server), .rawSession(server),
        ]
        add(Self.together, "64 in flight", try await rounds(of: contenders, inFlight: 64), to: table)
        add(Self.apart, "one by one", try await rounds(of: contenders, inFlight: 1), to: table)
        try await client.shutdown()
        try await transportClient.shutdown()
    }

    private func add(_ comparisons: [Comparison], _ title: String, _ rounds: [String: Measured], to table: Table) {
        for comparison in comparisons {
            guard let own = rounds[comparison.own]?.values(comparison.quantity),
                let peer = rounds[comparison.peer]?.values(comparison.quantity)
            else { continue }
            table.add(
                "\(title): \(name(comparison.quantity)), \(comparison.own)",
                text(Rounds(own).median, comparison.quantity),
                "\(text(Rounds(peer).median, comparison.quantity)) \(comparison.peer)",
                rounds: Rounds(own, by: peer),
                goal: comparison.goal
            )
        }
    }

    private func name(_ quantity: Quantity) -> String {
        switch quantity {
        case .rate: "rate"
        case .time: "time"
        case .cpu: "CPU"
        }
    }

    private func text(_ value: Double, _ quantity: Quantity) -> String {
        quantity == .rate ? "\(Int(value))/s" : timeText(value)
    }

    /// Many short rounds: what else the machine does comes and goes in seconds, and those that are compared are to meet
    /// the same.
    private func rounds(of contenders: [Contender], inFlight: Int) async throws -> [String: Measured] {
        var rounds: [String: Measured] = [:]
        for contender in contenders { try await contender.run(inFlight, contender.calls / 2) }
        for _ in 0..<roundCount(Self.rounds) {
            for contender in contenders {
                let calls = inFlight == 1 ? contender.calls / 4 : contender.calls / inFlight * inFlight
                let cpu = ProcessFigures.cpuSeconds
                let time = try await ContinuousClock().measure { try await contender.run(inFlight, calls) }
                rounds[contender.name, default: Measured()]
                    .add(calls: calls, seconds: time.inSeconds, cpuSeconds: ProcessFigures.cpuSeconds - cpu)
            }
        }
        return rounds
    }
}
