// SPDX-License-Identifier: MIT
import Foundation
import Loopback
import Measuring
import Synchronization
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A thousand calls in flight to a server that never answers: how soon all have ended once they are cancelled, and how long
/// starting one more takes.
struct CancelFigures {
    /// A provider, and the calls of it that have ended.
    private final class Hanging: Sendable {
        let provider: Provider<Ping>
        private let ended = Atomic(0)
        private let server: URL

        init(_ transport: any Transport, server: URL) {
            provider = Provider(transport: transport)
            self.server = server
        }

        /// Starts a call; the time that took the caller, in seconds.
        func start() -> Double {
            let target = Ping(baseURL: server)
            let clock = ContinuousClock()
            let begin = clock.now
            provider.request(target, callbackQueue: .global()) { _ in
                self.ended.add(1, ordering: .relaxed)
            }
            return (clock.now - begin).inSeconds
        }

        /// Cancels all, and waits until all have ended; seconds.
        func cancel(_ calls: Int) async throws -> Double {
            let time = try await ContinuousClock().measure {
                provider.cancelAll()
                while ended.load(ordering: .relaxed) < calls { try await Task.sleep(for: .microseconds(50)) }
            }
            ended.store(0, ordering: .relaxed)
            return time.inSeconds
        }
    }

    private let server: URL

    init() throws {
        guard let server = URL(string: "http://127.0.0.1:\(loopback_start_silence())") else { throw URLError(.badURL) }
        self.server = server
    }

    func add(to table: Table) async throws {
        let curl = Hanging(CurlTransport(), server: server)
        let session = Hanging(URLSessionTransport(), server: server)
        try await addCancelling("1,000 cancelled", curl, session, to: table)

        // All of them on the wire, instead of waiting for one of the connections that the defaults allow.
        var wide = CurlTransport.Configuration()
        wide.maxConnections = 0
        wide.maxConnectionsPerHost = 0
        let sessionSettings = URLSessionConfiguration.ephemeral
        sessionSettings.httpMaximumConnectionsPerHost = 1000
        let wideCurl = Hanging(CurlTransport(configuration: wide), server: server)
        let wideSession = Hanging(URLSessionTransport(configuration: sessionSettings), server: server)
        try await addCancelling("1,000 connections cancelled", wideCurl, wideSession, to: table)
        try await addStarting(wideCurl, to: table)
    }

    private func addCancelling(_ title: String, _ ours: Hanging, _ theirs: Hanging, to table: Table) async throws {
        var best = [Double.infinity, .infinity]
        for _ in 0..<5 {
            for (index, hanging) in [ours, theirs].enumerated() {
                for _ in 0..<1000 { _ = hanging.start() }
                try await Task.sleep(for: .milliseconds(600))
                best[index] = min(best[index], try await hanging.cancel(1000))
            }
        }
        let figure = best[0] / best[1]
        table.add("\(title), by URLSession", timeText(best[0]), timeText(best[1]), figure: figure, goal: .atMost(0.25))
    }

    /// The 99th percentile of a thousand starts beside a thousand calls in flight; the median of several rounds.
    private func addStarting(_ hanging: Hanging, to table: Table) async throws {
        var rounds: [Double] = []
        var middles: [Double] = []
        for _ in 0..<9 {
            for _ in 0..<1000 { _ = hanging.start() }
            try await Task.sleep(for: .milliseconds(300))
            let times = (0..<1000).map { _ in hanging.start() }.sorted()
            rounds.append(times[989])
            middles.append(times[499])
            _ = try await hanging.cancel(2000)
        }
        let (high, middle) = (rounds.sorted()[4], middles.sorted()[4])
        table.add("starting a call beside 1,000, median", timeText(middle), figure: middle * 1e6)
        table.add("the same, 99th percentile, µs", timeText(high), figure: high * 1e6, goal: .atMost(100))
    }
}
