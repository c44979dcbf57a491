// SPDX-License-Identifier: MIT
import TargetKit

/// Reports statuses to a ``Reachability``.
package protocol ConnectivitySource: Sendable {
    /// Reports the current status, before this method returns or soon after, and then every change. A source can be
    /// started several times. Each start is independent.
    ///
    /// - Parameter report: Receives each status on any thread, one call at a time; ``Reachability/Status/unknown`` if
    ///   the status can't be determined. A status may be reported twice.
    /// - Returns: A closure that stops the reports. It is called at most once, on any thread, and must return quickly.
    ///   Later reports are ignored. The source should also stop if the closure is released without a call.
    func start(_ report: @escaping @Sendable (Reachability.Status) -> Void) -> @Sendable () -> Void
}

/// The statuses that the system reports.
struct SystemConnectivity: ConnectivitySource {
    let requiresDefaultRoute: Bool

    /// Starts reporting.
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
