// SPDX-License-Identifier: MIT
#if os(Linux)

/// The calls that wait for a connection, first in, first out for each host and round-robin between hosts.
///
/// libcurl has its own queue, but each round of the loop takes time proportional to the queue's length. So libcurl gets
/// only as many transfers as it may have connections. The others wait here, where adding, taking and cancelling a call
/// takes constant time.
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
        /// The number of transfers to hosts whose names weren't found yet. libcurl looks up each of them on a thread of
        /// its own, with two descriptors.
        static let lookups = 64

        var connections: Int
        var connectionsPerHost: Int

        /// The limits of a configuration, where 0 means none.
        init(_ configuration: CurlTransport.Configuration) {
            connections = configuration.maxConnections > 0 ? configuration.maxConnections : .max
            connectionsPerHost = configuration.maxConnectionsPerHost > 0 ? configuration.maxConnectionsPerHost : .max
        }
    }

    private struct Entry {
        var pending: CurlPendingCall?
        var host: Host?
        var previous = CurlCall.noIndex
        var next = CurlCall.noIndex
    }

    /// The maximum number of idle hosts that are remembered.
    private static let hostLimit = 256
    /// The maximum number of entries that are retained while no call waits.
    private static let entryLimit = 1024

    private let limits: Limits
    private var hosts: [Host.Key: Host] = [:]
    /// The host of the most recent call.
    private var recent: Host?
    private var entries: [Entry] = []
    /// The index of the first unused entry; the others follow by `next`.
    private var unused = CurlCall.noIndex
    private var deadlines = CurlDeadlines()
    private var firstHost: Host?
    private var lastHost: Host?
    /// The number of connections that the running transfers can use.
    private var connections = 0
    /// The number of running transfers to hosts whose names weren't found yet.
    private var lookups = 0
    /// The number of waiting calls.
    private(set) var count = 0

    init(_ limits: Limits) {
        self.limits = limits
    }

    /// The sizes of the internal collections.
    var sizes: (hosts: Int, turns: Int, entries: Int, deadlines: Int) {
        var turns = 0
        var host = firstHost
        while let next = host { (turns, host) = (turns + 1, next.nextHost) }
        return (hosts.count, turns, entries.count, deadlines.count)
    }

    /// Adds a call after or before the calls that already wait for its host.
    func add(_ pending: consuming CurlPendingCall, for key: Host.Key, isFirst: Bool = false) {
        let call = pending.call
        let host = host(key)
        let index = takeEntry()
        call.queueIndex.store(index, ordering: .relaxed)
        if isFirst {
            entries[index] = Entry(pending: pending, host: host, next: host.first)
            if host.isWaiting { entries[host.first].previous = index } else { host.last = index }
            host.first = index
        } else {
            entries[index] = Entry(pending: pending, host: host, previous: host.last)
            if host.isWaiting { entries[host.last].next = index } else { host.first = index }
            host.last = index
        }
        if let deadline = pending.deadline { deadlines.add(deadline, of: index) }
        count += 1
        enqueue(to: host)
    }

    /// Counts a call as running if it doesn't have to wait; otherwise returns `nil`.
    func admit(_ key: Host.Key) -> Host? {
        // Waiting calls take precedence.
        guard count == 0 else { return nil }
        let host = host(key)
        guard hasConnection(for: host), mayLookUp(host), hasCapacity(host) else { return nil }
        start(at: host)
        return host
    }

    /// Removes the next call that can start, and counts it as running; returns `nil` if there is none.
    func next() -> (pending: CurlPendingCall, host: Host)? {
        var next = firstHost
        while let host = next {
            guard hasConnection(for: host) else { return nil }
            next = host.nextHost
            // It keeps its turn.
            guard mayLookUp(host) else { continue }
            dequeue(of: host)
            guard hasCapacity(host), let pending = take(host.first) else { continue }
            self.start(at: host)
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
        connections -= taken(by: host)
        host.running -= 1
        if !host.isFound { lookups -= 1 }
        connections += taken(by: host)
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

    /// Removes a waiting call; returns `nil` if it isn't waiting.
    func remove(_ call: CurlCall) -> CurlPendingCall? {
        let index = call.queueIndex.load(ordering: .relaxed)
        guard entries.indices.contains(index), entries[index].pending?.call === call else { return nil }
        return drop(index)
    }

    /// Removes the calls that timed out, and returns the next deadline.
    func removeOverdue(at now: UInt64) -> (overdue: [CurlPendingCall], next: UInt64?) {
        var overdue: [CurlPendingCall] = []
        while let first = deadlines.first {
            guard first.deadline <= now, let pending = drop(first.entry) else { return (overdue, first.deadline) }
            overdue.append(pending)
        }
        return (overdue, nil)
    }

    /// Removes all waiting calls.
    func removeAll() -> [CurlPendingCall] {
        entries.indices.compactMap { drop($0) }
    }
}

// MARK: - Room

extension CurlConnectionQueue {
    private func host(_ key: Host.Key) -> Host {
        // Most apps call mainly one host.
        if let recent, recent.key == key { return recent }
        if let host = hosts[key] {
            recent = host
            return host
        }
        let host = Host(key)
        hosts[key] = host
        recent = host
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

    private func start(at host: Host) {
        connections -= taken(by: host)
        host.running += 1
        if !host.isFound { lookups += 1 }
        connections += taken(by: host)
    }

    /// Whether a transfer to the host can start, even if it has to look up the host's name.
    private func mayLookUp(_ host: Host) -> Bool { host.isFound || lookups < Limits.lookups }

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
        guard !host.isEnqueued, host.isWaiting, hasCapacity(host) else { return }
        host.isEnqueued = true
        if let lastHost {
            lastHost.nextHost = host
            host.previousHost = lastHost
        } else {
            firstHost = host
        }
        lastHost = host
    }

    /// Removes a host from the round-robin list.
    private func dequeue(of host: Host) {
        guard host.isEnqueued else { return }
        host.isEnqueued = false
        let (previous, next) = (host.previousHost, host.nextHost)
        if let previous { previous.nextHost = next } else { firstHost = next }
        if let next { next.previousHost = previous } else { lastHost = previous }
        host.previousHost = nil
        host.nextHost = nil
    }

    /// Forgets a host without calls if many are remembered.
    private func forget(_ host: Host) {
        guard host.isUnused, hosts.count > Self.hostLimit else { return }
        hosts[host.key] = nil
        if recent === host { recent = nil }
    }
}

// MARK: - The entries

extension CurlConnectionQueue {
    private func takeEntry() -> Int {
        guard unused != CurlCall.noIndex else {
            entries.append(Entry())
            return entries.count - 1
        }
        let index = unused
        unused = entries[index].next
        return index
    }

    /// Removes a call that won't be sent, and its host if the host has no other calls.
    private func drop(_ index: Int) -> CurlPendingCall? {
        guard entries.indices.contains(index), let host = entries[index].host, let pending = take(index) else {
            return nil
        }
        if !host.isWaiting { dequeue(of: host) }
        forget(host)
        return pending
    }

    /// Unlinks an entry and returns its call; `nil` if there is none.
    private func take(_ index: Int) -> CurlPendingCall? {
        guard entries.indices.contains(index), let pending = entries[index].pending, let host = entries[index].host
        else {
            return nil
        }
        let (previous, next) = (entries[index].previous, entries[index].next)
        if previous == CurlCall.noIndex { host.first = next } else { entries[previous].next = next }
        if next == CurlCall.noIndex { host.last = previous } else { entries[next].previous = previous }
        entries[index] = Entry(next: unused)
        unused = index
        deadlines.remove(index)
        count -= 1
        if count == 0, entries.count > Self.entryLimit {
            (entries, unused, deadlines) = ([], CurlCall.noIndex, CurlDeadlines())
        }
        pending.call.queueIndex.store(CurlCall.noIndex, ordering: .relaxed)
        return pending
    }
}
#endif
