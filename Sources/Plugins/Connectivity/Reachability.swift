// SPDX-License-Identifier: MIT
import TargetKit

/// Reports whether the device is connected to a network, and the kind of connection.
///
/// ```swift
/// let reachability = Reachability()
/// reachability.start()
/// for await status in reachability.statuses {
///     banner.isHidden = status.isReachable
/// }
/// ```
///
/// The status describes the device, not a server, and can change at any time. Show it, or wait for it
/// (``WaitsForConnectivityPlugin``), but don't reject calls because of it.
///
/// Statuses come from Network's path monitor on Apple platforms, and from rtnetlink on Linux. On watchOS and other
/// systems, the status is unknown. In tests and previews, set it with ``set(_:)``.
public final class Reachability: Sendable {
    fileprivate struct State: Sendable {
        var status = Status.unknown {
            didSet { if status != oldValue { changeCount += 1 } }
        }
        /// The number of changes, also of those that were over before a reader received them.
        var changeCount = 0
        var isRunning = false
        /// Counts starts and stops, so that late reports are ignored.
        var turn = 0
        var end: (@Sendable () -> Void)?
    }

    /// The shared reachability with the system's source. Start it with ``start()``, or use it in a
    /// ``WaitsForConnectivityPlugin``, which starts it.
    public static let shared = Reachability()

    private let source: any ConnectivitySource
    fileprivate let state = ObservedValue(State())

    /// Creates a reachability with the system's statuses. It isn't started.
    ///
    /// - Parameter requiresDefaultRoute: Whether Linux is online only with a default route, which leads to the
    ///   internet; default `true`. If `false`, an address with more than link scope is sufficient, for closed networks.
    ///   Other systems ignore this parameter.
    public convenience init(requiresDefaultRoute: Bool = true) {
        self.init(source: SystemConnectivity(requiresDefaultRoute: requiresDefaultRoute))
    }

    package init(source: any ConnectivitySource) {
        self.source = source
    }

    deinit {
        state.finish()
        state.value.end?()
    }

    /// The current status; ``Status/unknown`` until the object is started and the source reports a status.
    public var status: Status { state.value.status }

    /// Whether the device has a connection. It is `false` only for ``Status/offline``, because an unknown status
    /// doesn't delay calls.
    public var isOnline: Bool { status.isReachable }

    /// A sequence of the current status and all later ones. It continues after ``stop()``, with ``Status/unknown``, and
    /// after a later ``start()``.
    ///
    /// A slow reader receives only the latest status. The sequence ends when its task is cancelled, or when this object
    /// is released. Each reader needs a separate sequence, so read the property again.
    public var statuses: AsyncStream<Status> {
        state.latestValues(\.status)
    }

    /// Starts observing the network. Does nothing if it is already started. A single ``stop()`` stops it.
    ///
    /// On Linux, the status is known when this method returns; on Apple platforms, soon after.
    public func start() {
        let turn = state.update { state -> Int? in
            guard !state.isRunning else { return nil }
            state.isRunning = true
            state.turn += 1
            return state.turn
        }
        guard let turn else { return }
        // The source retains the state instead of this object, so that this object can be released while the source
        // runs.
        let end = source.start { [state] status in
            state.update { if $0.turn == turn { $0.status = status } }
        }
        let isStopped = state.update { state in
            if state.turn == turn { state.end = end }
            return state.turn != turn
        }
        if isStopped { end() }
    }

    /// Sets the status in a test, a preview or a debug menu. The network is then not observed, and ``start()`` has no
    /// effect, until ``stop()`` is called.
    public func set(_ status: Status) {
        let end = state.update { state -> (@Sendable () -> Void)? in
            defer { state.end = nil }
            state.isRunning = true
            state.turn += 1
            state.status = status
            return state.end
        }
        end?()
    }

    /// Stops observing the network. The status is then unknown. Does nothing if it isn't started.
    public func stop() {
        let end = state.update { state -> (@Sendable () -> Void)? in
            guard state.isRunning else { return nil }
            defer { state.end = nil }
            state.isRunning = false
            state.turn += 1
            state.status = .unknown
            return state.end
        }
        end?()
    }
}

extension Reachability {
    /// The status of the network connection.
    public enum Status: Sendable, Hashable {
        /// The status isn't known.
        case unknown
        /// There is no connection.
        case offline
        /// There is a connection.
        ///
        /// - `isExpensive`: Whether data costs money or counts toward a limit, as on a mobile network or a phone's
        ///   hotspot. On Linux, only mobile networks are reported as expensive.
        /// - `isConstrained`: Whether the user turned on Low Data Mode for the network; `false` on Linux.
        case online(Link, isExpensive: Bool, isConstrained: Bool = false)
    }

    /// The kind of the connection.
    public enum Link: Sendable, Hashable {
        /// A wireless local network.
        case wifi
        /// A cable, or the network of a virtual machine or a container.
        case ethernet
        /// A mobile network.
        case cellular
        /// Another kind, such as a tunnel.
        case other
    }
}

extension Reachability.Status {
    /// `false` only for ``offline``, because an unknown status doesn't delay calls.
    public var isReachable: Bool { self != .offline }

    /// The kind of the connection; `nil` if there is none, or the status is unknown.
    package var link: Reachability.Link? {
        if case .online(let link, _, _) = self { link } else { nil }
    }

    /// Whether there is a network that calls with the options may use; `true` for ``unknown``.
    package func serves(_ options: CallOptions) -> Bool {
        switch self {
        case .unknown: true
        case .offline: false
        case .online(let link, let isExpensive, let isConstrained):
            (link != .cellular || options.allowsCellular) && (!isExpensive || options.allowsExpensive)
                && (!isConstrained || options.allowsConstrained)
        }
    }
}

extension Reachability? {
    /// Whether there is a network that calls with the options may use; `true` without a `Reachability`.
    package func serves(_ options: CallOptions) -> Bool { self?.status.serves(options) ?? true }

    /// Starts observing, and calls a closure in a task, first for the current status and then after changes, until it
    /// returns `false`. Changes in short succession make one call, also if the status is then the same as before.
    ///
    /// - Parameter receive: Receives whether the status has changed since the start.
    package func observe(_ receive: @escaping @Sendable (_ isChange: Bool) -> Bool) -> Task<Void, Never>? {
        guard let self else { return nil }
        self.start()
        let first = self.state.value.changeCount
        return Task { [counts = self.state.latestValues(\.changeCount)] in
            for await count in counts { guard receive(count != first) else { return } }
        }
    }
}
