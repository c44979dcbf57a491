// SPDX-License-Identifier: MIT

/// The statuses that the system reports: from Network's path monitor on Apple's systems, and from rtnetlink on Linux.
/// On watchOS and on other systems the status is unknown.
public struct SystemConnectivity: ConnectivitySource {
    /// The system's source.
    public init() {}

    /// Begins to report.
    public func start(_ report: @escaping @Sendable (Reachability.Status) -> Void) -> @Sendable () -> Void {
        #if canImport(Network)
        return PathMonitorConnectivity().start(report)
        #elseif os(Linux)
        return NetlinkConnectivity().start(report)
        #else
        report(.unknown)
        return {}
        #endif
    }
}
