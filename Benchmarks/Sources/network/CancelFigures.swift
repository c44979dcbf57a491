// SPDX-License-Identifier: MIT
import AsyncHTTPClient
import Foundation
import Loopback
import Measuring
import Synchronization
import TargetKit
import Workloads

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Calls to a server that never answers.
private protocol Hanging: Sendable {
    /// Starts a call; the time that took the caller, in seconds.
    func start() -> Double
    /// Cancels all, and waits until so many have ended; seconds.
    func cancel(_ calls: Int) async throws -> Double
}

/// What TargetKit is compared with, and the highest ratios of the times and of the CPU.
private struct Peer {
    let name: String
    let calls: any Hanging
    let goal: Double
    let goalOfCPU: Table.Goal

    init(name: String, _ calls: any Hanging, goal: Double, goalOfCPU: Table.Goal = .none) {
        self.name = name
        self.calls = calls
        self.goal = goal
        self.goalOfCPU = goalOfCPU
    }
}

/// Counts endings.
private final class Endings: Sendable {
    private let count = Atomic(0)

    func add() { count.add(1, ordering: .relaxed) }

    func measure(_ calls: Int, _ cancel: () -> Void) async throws -> Double {
        let deadline = ContinuousClock.now + .seconds(10)
        let time = try await ContinuousClock().measure {
            cancel()
            while count.load(ordering: .relaxed) < calls, .now < deadline {
                try await Task.sleep(for: .microseconds(50))
            }
        }
        let missing = calls - count.load(ordering: .relaxed)
        if missing > 0 { print("\(missing) of \(calls) have not ended after 10 seconds") }
        count.store(0, ordering: .relaxed)
        return time.inSeconds
    }
}

/// A provider, and the calls of it that have ended.
private final class HangingProvider: Hanging {
    private let provider: Provider<Ping>
    private let ended = Endings()
    private let server: URL

    init(_ transport: any Transport, server: URL) {
        provider = Provider(transport: transport)
        self.server = server
    }

    func start() -> Double {
        let target = Ping(baseURL: server)
        let clock = ContinuousClock()
        let begin = clock.now
        provider.request(target, on: .global()) { _ in self.ended.add() }
        return (clock.now - begin).inSeconds
    }

    func cancel(_ calls: Int) async throws -> Double {
        try await ended.measure(calls) { provider.cancelAll() }
    }
}

/// Foundation's session by itself, with a delegate: what one would write without TargetKit.
private final class HangingSession: NSObject, Hanging, URLSessionDataDelegate {
    private let session = Mutex<URLSession?>(nil)
    private let tasks = Mutex<[URLSessionDataTask]>([])
    private let ended = Endings()
    private let server: URL

    init(server: URL) {
        self.server = server
        super.init()
        let configuration = URLSessionConfiguration.ephemeral
        // With a cache, a cancel that races a completion ends the process on Linux.
        configuration.urlCache = nil
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        self.session.withLock { $0 = session }
    }

    func start() -> Double {
        let clock = ContinuousClock()
        let begin = clock.now
        guard let task = session.withLock({ $0?.dataTask(with: URLRequest(url: server)) }) else { return 0 }
        task.resume()
        tasks.withLock { $0.append(task) }
        return (clock.now - begin).inSeconds
    }

    func cancel(_ calls: Int) async throws -> Double {
        let tasks = tasks.withLock { tasks in
            defer { tasks = [] }
            return tasks
        }
        return try await ended.measure(calls) { for task in tasks { task.cancel() } }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        ended.add()
    }
}

/// async-http-client, with a task for each call and a connection for each task.
private final class HangingClient: Hanging {
    private let client: HTTPClient
    private let tasks = Mutex<[Task<Void, Never>]>([])
    private let ended = Endings()
    private let server: URL

    init(_ client: HTTPClient, server: URL) {
        self.client = client
        self.server = server
    }

    func start() -> Double {
        let request = HTTPClientRequest(url: server.absoluteString + "/")
        let clock = ContinuousClock()
        let begin = clock.now
        let task = Task { [client, ended] in
            _ = try? await client.execute(request, timeout: .seconds(60))
            ended.add()
        }
        tasks.withLock { $0.append(task) }
        return (clock.now - begin).inSeconds
    }

    func cancel(_ calls: Int) async throws -> Double {
        let tasks = tasks.withLock { tasks in
            defer { tasks = [] }
            return tasks
        }
        return try await ended.measure(calls) { for task in tasks { task.cancel() } }
    }
}

/// A thousand calls in flight to a server that never answers: how soon all have ended once they are cancelled, and how
/// long starting one more takes.
struct CancelFigures {
    private let server: URL

    init() throws {
        guard let server = URL(string: "http://127.0.0.1:\(loopback_start_silence())") else { throw URLError(.badURL) }
        self.server = server
    }

    func add(to table: Table) async throws {
        let session = Peer(name: "URLSession", HangingSession(server: server), goal: 0.25)
        try await addCancelling("1,000 cancelled", CurlTransport(), session, to: table)
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1000
        let client = HTTPClient(configuration: configuration)
        let hanging = HangingClient(client, server: server)
        let peer = Peer(name: "async-http-client", hanging, goal: 1, goalOfCPU: .atMost(1.1))
        // All of them on the wire, instead of waiting for one of the connections that the defaults allow.
        let wide = CurlTransport(maxConnectionsPerHost: 0, maxConnections: 0)
        try await addCancelling("1,000 cancelled on 1,000 connections", wide, peer, to: table)
        try await client.shutdown()
        try await addStarting(HangingProvider(wide, server: server), to: table)
    }

    private func addCancelling(
        _ title: String,
        _ transport: CurlTransport,
        _ peer: Peer,
        to table: Table
    ) async throws {
        let contenders: [any Hanging] = [HangingProvider(transport, server: server), peer.calls]
        var seconds: [[Double]] = [[], []]
        var cpu = seconds
        for _ in 0..<roundCount(7) {
            for (index, hanging) in contenders.enumerated() {
                for _ in 0..<1000 { _ = hanging.start() }
                try await Task.sleep(for: .milliseconds(600))
                let before = ProcessFigures.cpuSeconds
                seconds[index].append(try await hanging.cancel(1000))
                // Until the connections are closed as well.
                try await Task.sleep(for: .milliseconds(100))
                cpu[index].append(ProcessFigures.cpuSeconds - before)
            }
        }
        table.add(
            "\(title), by \(peer.name)",
            timeText(Rounds(seconds[0]).median),
            timeText(Rounds(seconds[1]).median),
            rounds: Rounds(seconds[0], by: seconds[1]),
            goal: .atMost(peer.goal)
        )
        table.add(
            "the same: CPU",
            timeText(Rounds(cpu[0]).median),
            timeText(Rounds(cpu[1]).median),
            rounds: Rounds(cpu[0], by: cpu[1]),
            goal: peer.goalOfCPU
        )
    }

    /// The 99th percentile of a thousand starts beside a thousand calls in flight; the median of several rounds.
    private func addStarting(_ hanging: some Hanging, to table: Table) async throws {
        var highs: [Double] = []
        var middles: [Double] = []
        for _ in 0..<roundCount(9) {
            for _ in 0..<1000 { _ = hanging.start() }
            try await Task.sleep(for: .milliseconds(300))
            let times = (0..<1000).map { _ in hanging.start() }.sorted()
            highs.append(times[989])
            middles.append(times[499])
            _ = try await hanging.cancel(2000)
        }
        let (high, middle) = (Rounds(highs.map { $0 * 1e6 }), Rounds(middles).median)
        table.add("starting a call beside 1,000, median", timeText(middle), figure: middle * 1e6)
        table.add("the same, 99th percentile, µs", timeText(high.median / 1e6), rounds: high, goal: .atMost(100))
    }
}
