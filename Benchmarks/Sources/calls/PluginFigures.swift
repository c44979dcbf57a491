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
        let race = try await Race(rounds: 30, contenders)
        for (index, plugin) in plugins.enumerated() {
            let added = race.differences(index + 1, minus: 0, scale: 1e9 / Double(Self.calls))
            let goal: Table.Goal = plugin.doesMore ? .none : .atMost(1000)
            table.add("\(plugin.name), ns", timeText(max(0, added.median / 1e9)), rounds: added, goal: goal)
        }
    }

    private func run(_ plugins: [any Plugin]) -> @Sendable () async throws -> Void {
        let provider = Provider<Plain>(stubClosure: { _ in .immediate }, plugins: plugins)
        return { [base] in
            for page in 0..<Self.calls { keep(try await provider.request(Plain(baseURL: base, page: page))) }
        }
    }
}
