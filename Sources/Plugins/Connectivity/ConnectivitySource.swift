// SPDX-License-Identifier: MIT
import TargetKit

/// Reports statuses to a ``Reachability``.
package protocol ConnectivitySource: Sendable {
    /// Starts to report the current status, before this method returns or soon after, and then every change. One source
    /// can be started several times; each start is independent.
    ///
    /// - Parameter report: Takes a status, on any thread, one call at a time; ``Reachability/Status/unknown`` if the
    ///   status can't be determined. The same status may be reported twice.
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
