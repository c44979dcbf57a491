// SPDX-License-Identifier: MIT
import Allocations
import Workloads
import Foundation
import Measuring
import TargetKit

/// Time and allocations of a stubbed call: awaited, by closure, and with plugins.
struct StubbedFigures {
    /// A plugin that has no hook of its own.
    private struct IdlePlugin: Plugin {
        let hooks: PluginHooks = []
    }

    /// One way to make calls, one after another.
    private enum Contender: Int, CaseIterable {
        case byHand, awaited, plain, request
        case onQueue, onMainActor, taskAndQueue
        case threePlugins, fourPlugins
        case oneIdle, elevenIdle
        case moya
    }

    /// What one call of a contender costs.
    private struct Cost {
        /// In each round.
        let rounds: [Double]
        let allocations: Double

        /// In the best round.
        var seconds: Double { rounds.min() ?? .infinity }

        /// What this takes longer in each round, in nanoseconds, by a number of parts.
        func nanoseconds(minus other: Cost, by count: Int = 1) -> Rounds {
            Rounds(zip(rounds, other.rounds).map { ($0 - $1) * 1e9 / Double(count) })
        }
    }

    /// The number of calls that a round of a contender makes.
    private static let calls = 2000
    private static let idleCount = 10

    private typealias Completion = @Sendable (Result<Response, TargetKitError>) -> Void

    let base: URL

    func add(to table: Table) async throws {
        let costs = try await costs()
        addCalls(costs, to: table)
        addClosures(costs, to: table)
        addPlugins(costs, to: table)
        addMoya(costs, to: table)
    }

    private func addCalls(_ costs: [Contender: Cost], to table: Table) {
        add("5 URL parameters, 2 header fields, by hand", .awaited, costs, goal: .atMost(1.25), to: table)
        addAllocations("the same: allocations", .awaited, costs, goal: .atMost(60), to: table)
        addTime("of this for target → URLRequest", .request, costs, to: table)
        addAllocations("of these for target → URLRequest", .request, costs, to: table)
        addTime("plain target", .plain, costs, to: table)
        addAllocations("plain target: allocations", .plain, costs, to: table)
    }

    private func addClosures(_ costs: [Contender: Cost], to table: Table) {
        addTime("by closure on a queue, µs", .onQueue, costs, goal: .atMost(20.5), to: table)
        addAllocations("by closure on a queue: allocations", .onQueue, costs, goal: .atMost(34), to: table)
        addTime("by closure on the main actor, µs", .onMainActor, costs, to: table)
        addAllocations("by closure on the main actor: allocations", .onMainActor, costs, to: table)
        addTime("a bare Task and queue.async, µs", .taskAndQueue, costs, to: table)
        addAllocations("a bare Task and queue.async: allocations", .taskAndQueue, costs, to: table)
    }

    private func addPlugins(_ costs: [Contender: Cost], to table: Table) {
        add("3 plugins, by hand without any", .threePlugins, costs, goal: .atMost(1.6), to: table)
        addAllocations("3 plugins: allocations", .threePlugins, costs, to: table)
        add("4 plugins with the logger, by hand without any", .fourPlugins, costs, goal: .atMost(2.5), to: table)
        addAllocations("4 plugins with the logger: allocations", .fourPlugins, costs, to: table)
        guard let none = costs[.awaited], let one = costs[.oneIdle], let eleven = costs[.elevenIdle] else { return }
        let first = one.nanoseconds(minus: none)
        let further = eleven.nanoseconds(minus: one, by: Self.idleCount)
        table.add("the first idle plugin, ns", "", rounds: first, goal: .atMost(300))
        let added = one.allocations - none.allocations
        table.add("the first idle plugin: allocations", "", figure: added, goal: .atMost(0))
        table.add("each further idle plugin, ns", "", rounds: further, goal: .atMost(100))
        let each = (eleven.allocations - one.allocations) / Double(Self.idleCount)
        table.add("each further idle plugin: allocations", "", figure: each)
    }

    private func addMoya(_ costs: [Contender: Cost], to table: Table) {
        guard let moya = costs[.moya], let native = costs[.awaited] else { return }
        let (time, peer) = (timeText(moya.seconds), timeText(native.seconds))
        let ratios = Rounds(moya.rounds, by: native.rounds)
        table.add("through MoyaProvider, a native call", time, peer, rounds: ratios, goal: .atMost(2))
        addAllocations("through MoyaProvider: allocations", .moya, costs, to: table)
    }

    /// Adds a contender's time as a ratio to the floor's.
    private func add(
        _ what: String,
        _ contender: Contender,
        _ costs: [Contender: Cost],
        goal: Table.Goal,
        to table: Table
    ) {
        guard let cost = costs[contender], let floor = costs[.byHand] else { return }
        let (time, peer) = (timeText(cost.seconds), timeText(floor.seconds))
        table.add(what, time, peer, rounds: Rounds(cost.rounds, by: floor.rounds), goal: goal)
    }

    private func addTime(
        _ what: String,
        _ contender: Contender,
        _ costs: [Contender: Cost],
        goal: Table.Goal = .none,
        to table: Table
    ) {
        guard let cost = costs[contender] else { return }
        table.add(what, timeText(cost.seconds), rounds: Rounds(cost.rounds.map { $0 * 1e6 }), goal: goal)
    }

    private func addAllocations(
        _ what: String,
        _ contender: Contender,
        _ costs: [Contender: Cost],
        goal: Table.Goal = .none,
        to table: Table
    ) {
        guard let cost = costs[contender] else { return }
        table.add(what, "\(cost.allocations)", figure: cost.allocations, goal: goal)
    }

    private func costs() async throws -> [Contender: Cost] {
        let runs = Contender.allCases.map(run)
        var allocations: [Double] = []
        for run in runs {
            try await run()
            let before = allocations_count()
            try await run()
            allocations.append(Double(allocations_count() - before) / Double(Self.calls))
        }
        let race = try await Race(rounds: 40, runs)
        let costs = Contender.allCases.map { contender in
            let rounds = race.seconds[contender.rawValue].map { $0 / Double(Self.calls) }
            return (contender, Cost(rounds: rounds, allocations: allocations[contender.rawValue]))
        }
        return Dictionary(uniqueKeysWithValues: costs)
    }

    /// The round of a contender.
    private func run(of contender: Contender) -> @Sendable () async throws -> Void {
        let base = base
        let queue = DispatchQueue(label: "calls")
        switch contender {
        case .byHand:
            return { for page in 0..<Self.calls { keep(try await SearchByHand.data(base, page: page)) } }
        case .awaited: return awaited([])
        case .threePlugins: return awaited(PluginSet.withoutLogger)
        case .fourPlugins: return awaited(PluginSet.withLogger)
        case .oneIdle: return awaited([IdlePlugin()])
        case .elevenIdle: return awaited(Array(repeating: IdlePlugin(), count: 1 + Self.idleCount))
        case .plain:
            let provider = Provider<Plain>(stubClosure: { _ in .immediate })
            return {
                for page in 0..<Self.calls { keep(try await provider.request(Plain(baseURL: base, page: page))) }
            }
        case .request:
            return {
                for page in 0..<Self.calls {
                    keep(try Endpoint(target: Search(baseURL: base, page: page)).urlRequest())
                }
            }
        case .onQueue:
            let provider = Provider<Search>(stubClosure: { _ in .immediate })
            return {
                await Self.chain { page, completion in
                    provider.request(Search(baseURL: base, page: page), on: queue, completion: completion)
                }
            }
        case .onMainActor:
            let provider = Provider<Search>(stubClosure: { _ in .immediate })
            return {
                await Self.chain { page, completion in
                    provider.request(Search(baseURL: base, page: page), completion: completion)
                }
            }
        case .moya:
            let calls = MoyaCalls(base: base)
            return { calls.run(Self.calls) }
        case .taskAndQueue:
            let result = Result<Response, TargetKitError>.failure(TargetKitError(stage: .cancelled))
            return { await Self.chain { _, completion in Task { queue.async { completion(result) } } } }
        }
    }

    private func awaited(_ plugins: [any Plugin]) -> @Sendable () async throws -> Void {
        let provider = Provider<Search>(stubClosure: { _ in .immediate }, plugins: plugins)
        let base = base
        return {
            for page in 0..<Self.calls { keep(try await provider.request(Search(baseURL: base, page: page))) }
        }
    }

    /// Starts each call from the completion of the one before. The completion itself goes to the call: one more closure
    /// around it would count as an allocation of the call.
    private static func chain(
        _ start: @escaping @Sendable (_ page: Int, _ completion: @escaping Completion) -> Void
    ) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            @Sendable func call(_ page: Int) {
                guard page < calls else { return continuation.resume() }
                start(page) { _ in call(page + 1) }
            }
            call(0)
        }
    }
}
