// SPDX-License-Identifier: MIT

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
