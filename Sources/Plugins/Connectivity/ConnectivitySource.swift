// SPDX-License-Identifier: MIT
import TargetKit

/// Reports statuses to a ``Reachability``.
package protocol ConnectivitySource: Sendable {
    /// Starts to report the current status, before this method returns or soon after, and then every change. One source
    /// can be started several times; each start is independent.
    ///
    /// - Parameter report: Takes a status, on any thread, one call at a time; ``Reachability/Status/unknown`` if the
    ///   status cannot be determined. The same status may be reported twice.
    /// - Returns: A closure that stops the reports. It is called at most once, on any thread, and returns soon; later
    ///   reports are ignored. If it is released without being called, the source should stop too.
    func start(_ report: @escaping @Sendable (Reachability.Status) -> Void) -> @Sendable () -> Void
}

/// The statuses that the system reports.
struct SystemConnectivity: ConnectivitySource {
    let requiresDefaultRoute: Bool

    /// Starts to report.
    func start(_ report: @escaping @Sendable (Reachability.Status) -> Void) -> @Sendable () -> Void {
        #if canImport(Network)
        return PathMonitorConnectivity().start(report)
        #elseif os(Linux)
        return NetlinkConnectivity(requirement: requiresDefaultRoute ? .defaultRoute : .address).start(report)
        #else
        report(.unknown)
        return {}
        #endif
    }
}

/// A source of statuses that a test, a preview or the app sets, for a ``Reachability``.
///
/// ```swift
/// let connectivity = ManualConnectivity(.offline)
/// let reachability = Reachability(connectivity)
/// reachability.start()
/// connectivity.set(.online(.wifi, isExpensive: false))
/// ```
public final class ManualConnectivity: ConnectivitySource {
    private typealias Report = @Sendable (Reachability.Status) -> Void

    private struct State: Sendable {
        var status: Reachability.Status
        var reports: [Int: Report] = [:]
        var lastReport = 0
    }

    private let state: Locked<State>

    /// Creates a source with an initial status; default: unknown.
    public init(_ status: Reachability.Status = .unknown) {
        state = Locked(State(status: status))
    }

    /// The number of starts that have not been stopped.
    package var startCount: Int { state.withLock { $0.reports.count } }

    /// Sets the status. Every started ``Reachability`` with this source has the new status when this method returns.
    ///
    /// Do not call this method concurrently.
    public func set(_ status: Reachability.Status) {
        let reports = state.withLock { state in
            state.status = status
            return Array(state.reports.values)
        }
        for report in reports { report(status) }
    }

    /// Reports the status immediately, then each change.
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
