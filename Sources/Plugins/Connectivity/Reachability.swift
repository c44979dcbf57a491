// SPDX-License-Identifier: MIT
import TargetKit

/// Whether the device has a way to the network, and which.
///
/// ```swift
/// let reachability = Reachability()
/// reachability.start()
/// for await status in reachability.statuses {
///     banner.isHidden = status.isReachable
/// }
/// ```
///
/// It looks at the device, not at a server: a way to the network may still lead to nobody, and a status is out of date as soon
/// as it is read. So show it, and wait for it (``WaitsForConnectivityPlugin``), but do not refuse a call because of it.
///
/// Where statuses come from is a ``ConnectivitySource``: Network's path monitor on Apple's systems, rtnetlink on Linux, or one of
/// the app's own; ``ManualConnectivity`` for tests and previews.
public final class Reachability: Sendable {
    private struct State: Sendable {
        var status = Status.unknown
        var isRunning = false
        /// Counts starts and stops, so that what a source says too late is told apart.
        var turn = 0
        var end: (@Sendable () -> Void)?
    }

    /// One for the whole process, with the system's source. Nobody has started it: call ``start()``, or give it to a
    /// ``WaitsForConnectivityPlugin``, which does.
    public static let shared = Reachability()

    private let source: any ConnectivitySource
    private let state = ObservedValue(State())

    /// Reachability by that source, not started.
    ///
    /// - Parameter source: Where the statuses come from; default: the system.
    public init(source: any ConnectivitySource = SystemConnectivity()) {
        self.source = source
    }

    deinit {
        state.finish()
        state.value.end?()
    }

    /// The newest status; ``Status/unknown`` while it is not started, and until the source has said something.
    public var status: Status { state.value.status }

    /// Whether there is a way to the network, as far as is known: `false` for ``Status/offline`` alone.
    package var isReachable: Bool { status.isReachable }

    /// The newest status first, then each change. The sequence goes on over ``stop()``, where it says ``Status/unknown``, and a
    /// later ``start()``.
    public var statuses: LatestValues<Status> {
        LatestValues(of: state, \.status)
    }

    /// Begins to look. Does nothing when it has begun already, however often it is called: one ``stop()`` ends it.
    ///
    /// On Linux the status is known when this returns; on Apple's systems soon after.
    public func start() {
        let turn = state.update { state -> Int? in
            guard !state.isRunning else { return nil }
            state.isRunning = true
            state.turn += 1
            return state.turn
        }
        guard let turn else { return }
        // The source holds the state, not this object, which thereby can be let go of while it runs.
        let end = source.start { [state] status in
            state.update { if $0.turn == turn { $0.status = status } }
        }
        let isStopped = state.update { state in
            if state.turn == turn { state.end = end }
            return state.turn != turn
        }
        if isStopped { end() }
    }

    /// Looks no more, and knows nothing from now on. Does nothing when it is not running.
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
    /// Whether there is a way to the network, and which.
    public enum Status: Sendable, Hashable {
        /// It is not known, or not known yet.
        case unknown
        /// There is none.
        case offline
        /// There is one.
        ///
        /// - `isExpensive`: whether bytes cost the person money or a share of a limit, as on a mobile network or a phone's
        ///   hotspot. What can wait should wait for one that is not. On Linux it is said of mobile networks alone.
        case online(Link, isExpensive: Bool)
    }

    /// What the way to the network begins with.
    public enum Link: Sendable, Hashable, CaseIterable {
        /// A wireless local network.
        case wifi
        /// A cable, or what looks like one to the system: a virtual machine's or a container's network.
        case ethernet
        /// A mobile network.
        case cellular
        /// Another one: a tunnel for one, of which it is not known what it runs over.
        case other
    }
}

extension Reachability.Status {
    /// Whether there is a way to the network, as far as is known: `false` for ``offline`` alone, so that nothing is kept back
    /// because of what is not known.
    public var isReachable: Bool { self != .offline }

    /// Whether bytes cost the person something: `true` for an expensive way only.
    public var isExpensive: Bool {
        if case .online(_, isExpensive: true) = self { true } else { false }
    }

    /// The link; `nil` when there is none, or it is not known.
    package var link: Reachability.Link? {
        if case .online(let link, _) = self { link } else { nil }
    }
}

extension Reachability.Status: CustomStringConvertible {
    /// A word or two for a log: `offline`, `wifi`, `cellular, expensive`.
    public var description: String {
        switch self {
        case .unknown: "unknown"
        case .offline: "offline"
        case .online(let link, let isExpensive): "\(link)" + (isExpensive ? ", expensive" : "")
        }
    }
}
