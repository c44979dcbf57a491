// SPDX-License-Identifier: MIT
import TargetKit

/// Where a ``Reachability`` has its statuses from.
///
/// ```swift
/// struct AlwaysOnline: ConnectivitySource {
///     func start(_ report: @escaping @Sendable (Reachability.Status) -> Void) -> @Sendable () -> Void {
///         report(.online(.ethernet, isExpensive: false))
///         return {}
///     }
/// }
/// ```
public protocol ConnectivitySource: Sendable {
    /// Begins to report: the present status soon, or before this returns, and then every change. One source may be started
    /// several times; each start stands for itself.
    ///
    /// - Parameter report: Takes a status, on any thread, but one at a time; ``Reachability/Status/unknown`` where it cannot be
    ///   found out. The same status twice does no harm.
    /// - Returns: what ends it. It is called once at most, on any thread, and returns soon; a report that comes after it is
    ///   ignored. When it is let go of without a call, the source should end too.
    func start(_ report: @escaping @Sendable (Reachability.Status) -> Void) -> @Sendable () -> Void
}

/// The statuses that the system reports: from Network's path monitor on Apple's systems, and from rtnetlink on Linux.
/// On watchOS and on other systems the status is unknown.
public struct SystemConnectivity: ConnectivitySource {
    private let requiresDefaultRoute: Bool

    /// The system's source.
    ///
    /// - Parameter requiresDefaultRoute: Whether Linux counts as online only with a default route, which leads to the internet;
    ///   default `true`. With `false` an address that holds beyond its own link is enough: for a closed network. Other systems
    ///   ignore it.
    public init(requiresDefaultRoute: Bool = true) {
        self.requiresDefaultRoute = requiresDefaultRoute
    }

    /// Begins to report.
    public func start(_ report: @escaping @Sendable (Reachability.Status) -> Void) -> @Sendable () -> Void {
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

/// Statuses that a test or a preview sets.
///
/// ```swift
/// let connectivity = ManualConnectivity(.offline)
/// let reachability = Reachability(source: connectivity)
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

    /// A source with that status; nothing is known unless told.
    public init(_ status: Reachability.Status = .unknown) {
        state = Locked(State(status: status))
    }

    /// How many have started this source and not ended it.
    package var startCount: Int { state.withLock { $0.reports.count } }

    /// Sets the status: every ``Reachability`` that runs by this source has it when this returns. Set it from one place at a
    /// time.
    public func set(_ status: Reachability.Status) {
        let reports = state.withLock { state in
            state.status = status
            return Array(state.reports.values)
        }
        for report in reports { report(status) }
    }

    /// Reports the status at once.
    public func start(_ report: @escaping @Sendable (Reachability.Status) -> Void) -> @Sendable () -> Void {
        let (id, status) = state.withLock { state in
            state.lastReport += 1
            state.reports[state.lastReport] = report
            return (state.lastReport, state.status)
        }
        report(status)
        return { [self] in _ = state.withLock { $0.reports.removeValue(forKey: id) } }
    }
}
