// SPDX-License-Identifier: MIT
import TargetKit

/// Whether the device has a connection to a network, and of which kind.
///
/// ```swift
/// let reachability = Reachability()
/// reachability.start()
/// for await status in reachability.statuses {
///     banner.isHidden = status.isReachable
/// }
/// ```
///
/// The status is that of the device, not of a server, and may change at any time. Show it and wait for it
/// (``WaitsForConnectivityPlugin``), but don't refuse a call because of it.
///
/// Statuses come from the system: from Network's path monitor on Apple platforms, and from rtnetlink on Linux. On
/// watchOS and on other systems the status is unknown. In tests and previews, ``set(_:)`` sets it.
public final class Reachability: Sendable {
    private struct State: Sendable {
        var status = Status.unknown
        var isRunning = false
        /// Counts starts and stops, so that late reports are ignored.
        var turn = 0
        var end: (@Sendable () -> Void)?
    }

    /// The reachability of the process, with the system's source. It isn't started: call ``start()``, or use it in a
    /// ``WaitsForConnectivityPlugin``, which starts it.
    public static let shared = Reachability()

    private let source: any ConnectivitySource
    private let state = ObservedValue(State())

    /// Creates a reachability with the system's statuses. It isn't started.
    ///
    /// - Parameter requiresDefaultRoute: Whether Linux is online only with a default route, which leads to the
    ///   internet; default `true`. With `false` an address with more than link scope is enough: for a closed network.
    ///   Other systems ignore it.
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

    /// The current status; ``Status/unknown`` before it is started, and until the source reports one.
    public var status: Status { state.value.status }

    /// Whether the device has a connection: `false` only for ``Status/offline``. An unknown status is `true`, because it
    /// doesn't delay calls.
    public var isOnline: Bool { status.isReachable }

    /// The current status, then each change. The sequence continues after ``stop()``, with ``Status/unknown``, and
    /// after a later ``start()``.
    ///
    /// A slow reader gets only the latest status. The sequence ends when its task is cancelled, or when this object is
    /// released. Each reader needs a sequence of its own: read the property again.
    public var statuses: AsyncStream<Status> {
        state.latestValues(\.status)
    }

    /// Starts to observe the network. Does nothing if it is started already; one ``stop()`` stops it.
    ///
    /// On Linux the status is known when this method returns, on Apple platforms soon after.
    public func start() {
        let turn = state.update { state -> Int? in
            guard !state.isRunning else { return nil }
            state.isRunning = true
            state.turn += 1
            return state.turn
        }
        guard let turn else { return }
        // The source retains the state, not this object, so that this object can be released while it runs.
        let end = source.start { [state] status in
            state.update { if $0.turn == turn { $0.status = status } }
        }
        let isStopped = state.update { state in
            if state.turn == turn { state.end = end }
            return state.turn != turn
        }
        if isStopped { end() }
    }

    /// Sets the status in a test, a preview or the app's own debug menu. The network is no longer observed, and
    /// ``start()`` has no effect, until ``stop()`` is called.
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

    /// Stops observing the network; the status is then unknown. Does nothing if it isn't started.
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
    /// Whether there is a connection to a network, and of which kind.
    public enum Status: Sendable, Hashable {
        /// The status isn't known, or not known yet.
        case unknown
        /// There is no connection.
        case offline
        /// There is a connection.
        ///
        /// - `isExpensive`: Whether data costs money or counts towards a limit, as on a mobile network or a phone's
        ///   hotspot. On Linux only mobile networks are reported as expensive.
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
    /// `false` only for ``offline``: an unknown status doesn't delay calls.
    public var isReachable: Bool { self != .offline }

    /// The kind of the connection; `nil` if there is none, or the status is unknown.
    package var link: Reachability.Link? {
        if case .online(let link, _, _) = self { link } else { nil }
    }

    /// Whether calls that refuse some networks can be made; `true` for ``unknown``.
    package func serves(_ refused: RefusedNetworks) -> Bool {
        switch self {
        case .unknown: true
        case .offline: false
        case .online(let link, let isExpensive, let isConstrained):
            !(link == .cellular && refused.contains(.cellular) || isExpensive && refused.contains(.expensive)
                || isConstrained && refused.contains(.constrained))
        }
    }
}

extension Reachability? {
    /// Whether there is a network that calls with the options may use; without a `Reachability`, one is assumed.
    package func serves(_ options: CallOptions) -> Bool { self?.status.serves(options.refusedNetworks) ?? true }

    /// Starts, and calls a closure with each status in a task, until the closure returns `false`.
    ///
    /// - Parameter receive: Receives whether the status is a change: the first one isn't.
    package func observe(_ receive: @escaping @Sendable (_ isChange: Bool) -> Bool) -> Task<Void, Never>? {
        guard let self else { return nil }
        self.start()
        return Task { [statuses = self.statuses] in
            var isChange = false
            for await _ in statuses {
                guard receive(isChange) else { return }
                isChange = true
            }
        }
    }
}
