// SPDX-License-Identifier: MIT

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
    public var link: Reachability.Link? {
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
