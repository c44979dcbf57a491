// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// A source of statuses that a test sets, for one or more instances of `Reachability`.
package final class ManualConnectivity: ConnectivitySource {
    private typealias Report = @Sendable (Reachability.Status) -> Void

    private struct State: Sendable {
        var status: Reachability.Status
        var reports: [Int: Report] = [:]
        var lastReport = 0
    }

    private let state: Locked<State>

    package init(_ status: Reachability.Status) {
        state = Locked(State(status: status))
    }

    /// The number of starts that have not been stopped.
    package var startCount: Int { state.withLock { $0.reports.count } }

    /// Sets the status. Every started `Reachability` with this source has it when this method returns.
    package func set(_ status: Reachability.Status) {
        let reports = state.withLock { state in
            state.status = status
            return Array(state.reports.values)
        }
        for report in reports { report(status) }
    }

    package func start(_ report: @escaping @Sendable (Reachability.Status) -> Void) -> @Sendable () -> Void {
        let (id, status) = state.withLock { state in
            state.lastReport += 1
            state.reports[state.lastReport] = report
            return (state.lastReport, state.status)
        }
        report(status)
        return { [self] in _ = state.withLock { $0.reports.removeValue(forKey: id) } }
    }
}

extension Reachability {
    package convenience init(_ connectivity: ManualConnectivity) {
        self.init(source: connectivity)
    }
}
