// SPDX-License-Identifier: MIT
#if canImport(Network)
import Dispatch
// Some SDK versions don't declare the monitor as `Sendable`, although its documentation allows use on any thread.
@preconcurrency import Network

/// The statuses of Network's path monitor.
///
/// A path is online if it is satisfied, or requires a connection that a call establishes, such as a VPN on demand.
///
/// On watchOS, the status is always unknown, because for most apps the monitor remains unsatisfied although URLSession
/// can reach the network (Apple's TN3135).
struct PathMonitorConnectivity: ConnectivitySource {
    /// Starts reporting on a separate queue.
    func start(_ report: @escaping @Sendable (Reachability.Status) -> Void) -> @Sendable () -> Void {
        #if os(watchOS)
        report(.unknown)
        return {}
        #else
        let monitor = NWPathMonitor()
        monitor.pathUpdateHandler = { path in report(Self.status(of: path)) }
        monitor.start(queue: DispatchQueue(label: "TargetKit.PathMonitorConnectivity"))
        return { monitor.cancel() }
        #endif
    }

    private static func status(of path: NWPath) -> Reachability.Status {
        switch path.status {
        case .satisfied, .requiresConnection:
            .online(link(of: path), isExpensive: path.isExpensive, isConstrained: path.isConstrained)
        case .unsatisfied: .offline
        @unknown default: .unknown
        }
    }

    private static func link(of path: NWPath) -> Reachability.Link {
        if path.usesInterfaceType(.wifi) { return .wifi }
        if path.usesInterfaceType(.wiredEthernet) { return .ethernet }
        if path.usesInterfaceType(.cellular) { return .cellular }
        return .other
    }
}
#endif
