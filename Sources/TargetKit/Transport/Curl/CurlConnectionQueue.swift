// SPDX-License-Identifier: MIT
#if os(Linux)

/// The calls that wait for a connection, first in, first out for each host and round-robin between hosts.
///
/// libcurl has its own queue, but each round of the loop takes time proportional to the queue's length. So libcurl gets
/// only as many transfers as it may have connections. The others wait here. Adding, taking and cancelling a call doesn't
/// take longer if more calls wait; only a timeout looks at all of them.
///
/// A host over HTTP/2 is limited by its number of streams, which share one connection and count as one toward the
/// total.
final class CurlConnectionQueue {
    /// The maximum numbers of concurrent transfers.
    struct Limits {
        /// The maximum number of streams for a host, on one connection if the server allows that many.
        static let streams = 1000
        /// The number of streams that libcurl assumes before it receives the server's settings.
        static let streamsAtFirst = 100

        var connections = Int.max
        var connectionsPerHost = Int.max
        /// The number of transfers to hosts whose names weren't found yet. libcurl looks up each of them on a thread of
        /// its own, with two descriptors.
        var lookups = 64
    }

    /// The calls to one host that share connections.
    final class Host {
        /// The HTTP version of the host's last response.
        enum Version {
            case unknown
            case http1
            case http2
        }

        /// The properties that the connections of a host share.
        struct Key: Hashable {
            /// The scheme, name and port of the host or the proxy.
            var origin: String
            /// Whether its calls can share a connection over HTTP/2.
            var canShare: Bool

            /// Whether the host is an IP address, which isn't looked up.
            fileprivate var isAddress: Bool {
                let host = origin.utf8.drop { $0 != UInt8(ascii: ":") }.dropFirst(3)
                return host.first == UInt8(ascii: "[")
                    || host.contains(UInt8(ascii: "."))
                        && host.allSatisfy { $0.isDigit || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ":") }
            }
        }

        let key: Key
        var version: Version
        var running = 0
        /// Whether the host responded over HTTP.
        var hasResponded = false
        /// Whether the name of the host was found, isn't looked up, or it responded over a persistent connection.
        var isFound: Bool
        /// The number of responses so far.
        var responseCount = 0
        /// The number of running transfers that may still open a connection.
        var unsent = 0
        /// Whether some calls to the same origin use HTTP/1.1.
        var isMixed = false
        /// The waiting calls in their order, each at its ``CurlCall/place``; `nil` is a free place.
        fileprivate var calls: [CurlPendingCall?] = []
        /// The places before this one are free.
        fileprivate var firstPlace = 0
        fileprivate var waitingCount = 0
        /// Whether the host has a turn.
        fileprivate var isEnqueued = false

        init(_ key: Key) {
            self.key = key
            version = key.canShare ? .unknown : .http1
            isFound = key.isAddress
        }
    }

    /// The maximum number of idle hosts that are remembered.
    private static let hostLimit = 256

    private let limits: Limits
    private var hosts: [Host.Key: Host] = [:]
    /// The number of waiting calls.
    private(set) var count = 0
    /// No deadline of a waiting call is earlier.
    private var firstDeadline = UInt64.max
    /// The hosts that can start a call, in the order of their turns.
    private var turns: [Host] = []
    /// The number of connections that the running transfers can use.
    private var connections = 0
    /// The number of running transfers to hosts whose names weren't found yet.
    private var lookups = 0

    init(_ limits: Limits) {
        self.limits = limits
    }

    /// The sizes of the internal collections.
    var sizes: (hosts: Int, turns: Int, places: Int) {
        (hosts.count, turns.count, hosts.values.reduce(0) { $0 + $1.calls.count })
    }

    /// Adds a call after or before the calls that already wait for its host.
    func add(_ pending: CurlPendingCall, for key: Host.Key, isFirst: Bool = false) {
        let host = host(key)
        count += 1
        firstDeadline = min(firstDeadline, pending.deadline ?? .max)
        host.add(pending, isFirst: isFirst)
        enqueue(to: host)
    }

    /// Removes the next call that can start, and counts it as running; returns `nil` if there is none.
    func next() -> (pending: CurlPendingCall, host: Host)? {
        var turn = 0
        while turn < turns.count, hasConnection(for: turns[turn]) {
            let host = turns[turn]
            if !mayLookUp(host) {
                // It keeps its turn.
                turn += 1
                continue
            }
            turns.remove(at: turn)
            host.isEnqueued = false
            guard hasCapacity(host), let pending = host.takeFirst() else { continue }
            noteTaken()
            count(1, at: host)
            enqueue(to: host)
            return (pending, host)
        }
        return nil
    }

    /// Records that the name of the host was found.
    func noteFound(_ host: Host) {
        guard !host.isFound else { return }
        host.isFound = true
        lookups -= host.running
    }

    /// Stops counting a transfer to the host as running.
    func release(_ host: Host) {
        count(-1, at: host)
        forget(host)
        enqueue(to: host)
    }

    /// Records whether a transfer to the host may open a connection over HTTP/2.
    func note(mayConnect: Bool, to host: Host) {
        host.unsent += mayConnect ? 1 : -1
        enqueue(to: host)
    }

    /// Records a response of the host, and its HTTP version.
    func note(isHTTP2: Bool, of host: Host) {
        host.responseCount += 1
        let version: Host.Version = isHTTP2 ? .http2 : .http1
        guard host.version != version else { return }
        connections -= taken(by: host)
        host.version = version
        connections += taken(by: host)
        enqueue(to: host)
    }

    /// Removes a call that waits for its host; returns `nil` if it isn't waiting.
    func remove(_ call: CurlCall, of key: Host.Key) -> CurlPendingCall? {
        guard let host = hosts[key], let pending = host.take(call) else { return nil }
        noteTaken()
        if host.waitingCount == 0, host.isEnqueued {
            host.isEnqueued = false
            turns.removeAll { $0 === host }
        }
        forget(host)
        return pending
    }

    /// Removes the calls that timed out, and returns the next deadline.
    func removeOverdue(at now: UInt64) -> (overdue: [CurlPendingCall], next: UInt64?) {
        let overdue = firstDeadline <= now ? removeAll { $0.deadline.map { $0 <= now } ?? false } : []
        return (overdue.ordered { $0.deadline ?? 0 < $1.deadline ?? 0 }, firstDeadline == .max ? nil : firstDeadline)
    }

    /// Removes the waiting calls for which the closure returns `true`, by default all.
    func removeAll(where isRemoved: (CurlPendingCall) -> Bool = { _ in true }) -> [CurlPendingCall] {
        var removed: [CurlPendingCall] = []
        firstDeadline = .max
        for host in hosts.values {
            for case let pending? in host.calls {
                if isRemoved(pending) {
                    if let pending = remove(pending.call, of: host.key) { removed.append(pending) }
                } else {
                    firstDeadline = min(firstDeadline, pending.deadline ?? .max)
                }
            }
        }
        return removed
    }
}

extension CurlConnectionQueue.Limits {
    /// The limits of a configuration, where 0 means none.
    init(_ configuration: CurlTransport.Configuration) {
        if configuration.maxConnections > 0 { connections = configuration.maxConnections }
        if configuration.maxConnectionsPerHost > 0 { connectionsPerHost = configuration.maxConnectionsPerHost }
    }
}

// MARK: - Room

extension CurlConnectionQueue {
    private func host(_ key: Host.Key) -> Host {
        if let host = hosts[key] { return host }
        let host = Host(key)
        hosts[key] = host
        if let other = hosts[Host.Key(origin: key.origin, canShare: !key.canShare)] {
            host.isMixed = true
            other.isMixed = true
        }
        return host
    }

    private func hasConnection(for host: Host) -> Bool {
        // Another stream on a host's connection needs no additional connection.
        connections < limits.connections || (host.version == .http2 && host.running > 0)
    }

    /// Counts a transfer to the host as running, or no longer.
    private func count(_ change: Int, at host: Host) {
        connections -= taken(by: host)
        host.running += change
        if !host.isFound { lookups += change }
        connections += taken(by: host)
    }

    /// Whether a transfer to the host can start, even if it has to look up the host's name.
    private func mayLookUp(_ host: Host) -> Bool { host.isFound || lookups < limits.lookups }

    private func hasCapacity(_ host: Host) -> Bool {
        switch host.version {
        // All calls wait until the HTTP version of the new connection is known.
        case .unknown: host.running < min(limits.connectionsPerHost, Limits.streamsAtFirst)
        case .http1: host.running < limits.connectionsPerHost
        // libcurl doesn't report how many streams the server allows, and assumes after an HTTP/1.1 response that the
        // host doesn't support HTTP/2. Each call without a stream would open a connection. Started one by one, each
        // call can share the previous connection.
        case .http2:
            host.running < Limits.streamsAtFirst && !(host.isMixed && CurlLibrary.reportsSending)
                || CurlLibrary.reportsSending && host.unsent == 0 && host.running < Limits.streams
        }
    }

    private func taken(by host: Host) -> Int {
        host.version == .http2 ? min(1, host.running) : host.running
    }

    private func enqueue(to host: Host) {
        guard !host.isEnqueued, host.waitingCount > 0, hasCapacity(host) else { return }
        host.isEnqueued = true
        turns.append(host)
    }

    /// Forgets a host without calls if many are remembered.
    private func forget(_ host: Host) {
        if host.running == 0, host.waitingCount == 0, hosts.count > Self.hostLimit { hosts[host.key] = nil }
    }

    /// Counts a call as no longer waiting.
    private func noteTaken() {
        count -= 1
        if count == 0 { firstDeadline = .max }
    }
}

// MARK: - Places

extension CurlConnectionQueue.Host {
    fileprivate func add(_ pending: CurlPendingCall, isFirst: Bool) {
        if isFirst, firstPlace == 0 { arrange(freePlaces: 64) }
        waitingCount += 1
        if isFirst {
            firstPlace -= 1
            calls[firstPlace] = pending
        } else {
            calls.append(pending)
        }
        pending.call.place.store(isFirst ? firstPlace : calls.count - 1, ordering: .relaxed)
    }

    fileprivate func takeFirst() -> CurlPendingCall? {
        while firstPlace < calls.count {
            firstPlace += 1
            if let pending = take(at: firstPlace - 1) { return pending }
        }
        return nil
    }

    fileprivate func take(_ call: CurlCall) -> CurlPendingCall? {
        let place = call.place.load(ordering: .relaxed)
        guard calls.indices.contains(place), calls[place]?.call === call else { return nil }
        return take(at: place)
    }

    private func take(at place: Int) -> CurlPendingCall? {
        guard let pending = calls[place].take() else { return nil }
        waitingCount -= 1
        if waitingCount == 0 {
            calls.removeAll(keepingCapacity: calls.count <= 64)
            firstPlace = 0
        } else if calls.count > 2 * waitingCount + 64 {
            arrange()
        }
        return pending
    }

    /// Moves the calls together, after free places.
    private func arrange(freePlaces: Int = 0) {
        calls = Array(repeating: nil, count: freePlaces) + calls.filter { $0 != nil }
        firstPlace = freePlaces
        for (place, pending) in calls.enumerated() { pending?.call.place.store(place, ordering: .relaxed) }
    }
}
#endif
