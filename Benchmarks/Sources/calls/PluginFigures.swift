// SPDX-License-Identifier: MIT
import Foundation
import Measuring
import Workloads
import TargetKit

/// What each plugin adds to a stubbed call.
struct PluginFigures {
    /// The number of calls that a round makes.
    private static let calls = 1000

    let base: URL

    func add(to table: Table) async throws {
        let plugins = PluginSet.each
        let contenders = [run([])] + plugins.map { run([$0.plugin]) }
        let best = try await Race(rounds: 30, contenders).best
        for (index, plugin) in plugins.enumerated() {
            let added = (best[index + 1] - best[0]) / Double(Self.calls)
            let goal: Table.Goal = plugin.doesMore ? .none : .atMost(1000)
            table.add("\(plugin.name), ns", timeText(max(0, added)), figure: added * 1e9, goal: goal)
        }
    }

    private func run(_ plugins: [any Plugin]) -> @Sendable () async throws -> Void {
        let provider = Provider<Plain>(stubClosure: { _ in .immediate }, plugins: plugins)
        return { [base] in
            for page in 0..<Self.calls { keep(try await provider.request(Plain(baseURL: base, page: page))) }
        }
    }
}
