// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitResilience
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The specification of a failover; times in seconds.
private struct HostModel {
    struct Call {
        var host = 0
        /// The number of moves when the call took its current host; `nil` for a call that went to another host.
        var seen: Int?
        var failed: Set<Int> = []
        var isSafe = true
    }

    let count: Int
    var current = 0
    var moves = 0
    var firstFailedAt = 0
    var prober: Int?
    var calls: [Int: Call] = [:]

    mutating func begin(_ number: Int, isSafe: Bool, at now: Int) -> Int {
        var call = Call(host: current, seen: moves, isSafe: isSafe)
        if current != 0, prober == nil, isSafe, now - firstFailedAt >= 60 {
            prober = number
            (call.host, call.seen) = (0, nil)
        }
        calls[number] = call
        return call.host
    }

    /// Ends an attempt; returns the host of the next one.
    mutating func end(_ number: Int, _ answer: HostAnswer, at now: Int) -> Int? {
        guard var call = calls[number] else { return nil }
        if answer.isFailure {
            call.failed.insert(call.host)
            if call.host == 0 { firstFailedAt = now }
            if call.seen == moves { use((current + 1) % count) }
        }
        if prober == number {
            prober = nil
            if answer == .works { use(0) }
        }
        calls[number] = nil
        guard answer.isFailure, call.isSafe || answer == .refuses else { return nil }
        let order = (current..<count).map { $0 } + (0..<current).map { $0 }
        guard let next = order.first(where: { !call.failed.contains($0) }) else { return nil }
        (call.host, call.seen) = (next, next == current ? moves : nil)
        calls[number] = call
        return next
    }

    private mutating func use(_ host: Int) {
        guard host != current else { return }
        current = host
        moves += 1
    }
}

/// The answer of a host.
private enum HostAnswer: CaseIterable {
    case works, says503, refuses, loses, isCancelled

    var isFailure: Bool { self == .says503 || self == .refuses || self == .loses }

    func result(for request: URLRequest) -> Result<Response, TargetKitError> {
        switch self {
        case .works: .success(Response(statusCode: 200, request: request))
        case .says503: .success(Response(statusCode: 503, request: request))
        case .refuses: failure(.cannotConnectToHost, request)
        case .loses: failure(.networkConnectionLost, request)
        case .isCancelled:
            .failure(TargetKitError(stage: .cancelled, request: request, underlying: CancellationError()))
        }
    }

    private func failure(_ code: URLError.Code, _ request: URLRequest) -> Result<Response, TargetKitError> {
        .failure(TargetKitError(stage: .transport, request: request, underlying: URLError(code)))
    }
}

@Suite("Host failover against a model", .throttled, .timeLimit(.minutes(3)))
struct HostModelTests {
    private struct Running {
        let number: Int
        let context: RequestContext
        let request: URLRequest
    }

    private let clock = ManualClock()

    /// Prepares an attempt of a call; returns its host.
    private func attempt(
        _ plugin: HostFailoverPlugin,
        _ context: RequestContext,
        _ names: String
    ) async throws -> (request: URLRequest, host: Int) {
        var request = URLRequest(url: .shop)
        request.httpMethod = context.target.method.rawValue
        let prepared = try await plugin.prepare(request, context: context)
        _ = try await plugin.exchange(
            TransportRequest(urlRequest: prepared),
            context: context,
            next: Exchange { _ in TransportResponse(head: ResponseHead(statusCode: 200), body: .data(Data())) }
        )
        let name = prepared.url?.host()?.first ?? "?"
        return (prepared, Array(names).firstIndex(of: name) ?? -1)
    }

    @Test(
        "Each attempt uses the host of the model",
        arguments: [1, 2, 3, 4] as [UInt64],
        ["a", "ab", "abcd"]
    )
    func random(_ seed: UInt64, _ names: String) async throws {
        let moves = Recorder<URL>()
        let plugin = HostFailoverPlugin(hosts: HostSet.urls(names), clock: clock) { moves.append($0) }
        var generator = SeededGenerator(seed: seed)
        var (model, now, number) = (HostModel(count: names.count), 0, 0)
        var running: [Running] = []
        for step in 0..<2000 {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<4 where running.count < 6:
                number += 1
                let isSafe = Int.random(in: 0..<3, using: &generator) > 0
                let context = RequestContext(target: SturdyTarget(method: isSafe ? .get : .post), attempt: 0)
                let attempt = try await attempt(plugin, context, names)
                try #require(attempt.host == model.begin(number, isSafe: isSafe, at: now), "step \(step)")
                running.append(Running(number: number, context: context, request: attempt.request))
            case 0..<9 where !running.isEmpty:
                let call = running.remove(at: Int.random(in: 0..<running.count, using: &generator))
                // Three of five attempts fail, so that the host changes often.
                let answer = HostAnswer.allCases.randomElement(using: &generator) ?? .works
                let result = answer.result(for: call.request)
                plugin.didReceive(result, context: call.context)
                let next = model.end(call.number, answer, at: now)
                let decision: RetryDecision =
                    answer == .isCancelled ? .doNotRetry : await plugin.retry(result, context: call.context)
                guard case .retry(after: .zero) = decision else {
                    try #require(next == nil, "step \(step)")
                    plugin.didFinish(FinishedCall(result: result), context: call.context)
                    break
                }
                let attempt = try await attempt(plugin, call.context, names)
                try #require(attempt.host == next, "step \(step)")
                running.append(Running(number: call.number, context: call.context, request: attempt.request))
            default:
                let time = Int.random(in: 0..<40, using: &generator)
                now += time
                clock.advance(by: .seconds(time))
            }
            try #require(plugin.currentHost == HostSet.urls(names)[model.current], "step \(step)")
        }
        #expect(moves.count == model.moves)
        #expect(names.count == 1 || model.moves > 50)
    }
}
