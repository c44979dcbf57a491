// SPDX-License-Identifier: MIT
import TargetKit

/// Reports statuses to a ``Reachability``.
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
    /// Starts to report the current status, before this method returns or soon after, and then every change. One source can be
    /// started several times; each start is independent.
    ///
    /// - Parameter report: Takes a status, on any thread, one call at a time; ``Reachability/Status/unknown`` if the status cannot be
    ///   determined. The same status may be reported twice.
    /// - Returns: A closure that stops the reports. It is called at most once, on any thread, and returns soon; later reports are
    ///   ignored. If it is released without being called, the source should stop too.
    func start(_ report: @escaping @Sendable (Reachability.Status) -> Void) -> @Sendable () -> Void
}

/// The statuses that the system reports: from Network's path monitor on Apple's systems, and from rtnetlink on Linux.
/// On watchOS and on other systems the status is unknown.
public struct SystemConnectivity: ConnectivitySource {
    private let requiresDefaultRoute: Bool

    /// The system's source.
    ///
    /// - Parameter requiresDefaultRoute: Whether Linux is online only with a default route, which leads to the internet; default
    ///   `true`. With `false` an address with more than link scope is enough: for a closed network. Other systems ignore it.
    public init(requiresDefaultRoute: Bool = true) {
        self.requiresDefaultRoute = requiresDefaultRoute
    }

    /// Starts to report.
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

/// Reports statuses that a test or a preview sets.
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

    /// A source with a status; by default it is unknown.
    public init(_ status: Reachability.Status = .unknown) {
        state = Locked(State(status: status))
    }

    /// The number of starts that have not been stopped.
    package var startCount: Int { state.withLock { $0.reports.count } }

    /// Sets the status: every ``Reachability`` that runs with this source has it when this method returns. Do not call it
    /// concurrently.
    public func set(_ status: Reachability.Status) {
        let reports = state.withLock { state in
            state.status = status
            return Array(state.reports.values)
        }
        for report in reports { report(status) }
    }

    /// Reports the status at once, then each change.
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
