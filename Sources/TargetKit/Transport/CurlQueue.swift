// SPDX-License-Identifier: MIT
#if canImport(CTargetKitCurl)
import Foundation

/// The calls that wait for a connection, in order for each host, and the hosts in turn.
///
/// libcurl has a list of its own, whose length every round of the loop pays for. So libcurl gets no more transfers than it may
/// have connections, and the others wait here: adding, taking and cancelling one costs the same however many there are.
///
/// A host over HTTP/2 is limited by its streams instead: they share one connection, and count as one in all.
final class CurlQueue {
    /// How many transfers may run.
    struct Limits {
        /// How many streams there are at most, on one connection where the server allows as many.
        static let streams = 1000
        /// How many streams libcurl takes a server to allow until it has said so.
        static let streamsAtFirst = 100

        var connections: Int
        var connectionsPerHost: Int

        /// The limits of a configuration, where 0 means none.
        init(_ configuration: CurlTransport.Configuration) {
            connections = configuration.maxConnections > 0 ? configuration.maxConnections : .max
            connectionsPerHost = configuration.maxConnectionsPerHost > 0 ? configuration.maxConnectionsPerHost : .max
        }
    }

    /// The calls to one host that share connections.
    final class Host {
        /// What the connections of a host speak, as its last response said.
        enum Version {
            case unknown
            case http1
            case http2
        }

        /// What the connections of a host have in common.
        struct Key: Hashable {
            /// Scheme, name and port, or the proxy that is asked in its place.
            var origin: String
            /// Whether HTTP/2 may let its calls share a connection.
            var canShare: Bool
        }

        let key: Key
        fileprivate(set) var version: Version
        fileprivate var running = 0
        /// How many of them may still open a connection.
        fileprivate var unsent = 0
        /// Whether some calls to its origin go over HTTP/1.1.
        fileprivate var isMixed = false
        fileprivate var first = CurlCall.nowhere
        fileprivate var last = CurlCall.nowhere
        /// Whether the host is in the line of those whose turn comes.
        fileprivate var isInTurn = false
        fileprivate var nextInTurn: Host?

        fileprivate init(_ key: Key) {
            self.key = key
            version = key.canShare ? .unknown : .http1
        }

        fileprivate var isWaiting: Bool { first != CurlCall.nowhere }
        fileprivate var isUnused: Bool { running == 0 && !isWaiting }
    }

    private struct Entry {
        var start: CurlStart?
        var host: Host?
        var previous = CurlCall.nowhere
        var next = CurlCall.nowhere
    }

    /// More hosts than this are not remembered when nothing is asked of them.
    private static let hostLimit = 256

    private let limits: Limits
    private var hosts: [Host.Key: Host] = [:]
    private var entries: [Entry] = []
    /// The first unused entry; the others follow by `next`.
    private var unused = CurlCall.nowhere
    private var firstInTurn: Host?
    private var lastInTurn: Host?
    /// How many connections the running transfers may have taken.
    private var connections = 0
    /// How many calls wait.
    private(set) var count = 0

    init(_ limits: Limits) {
        self.limits = limits
    }

    /// How many hosts are remembered.
    var hostCount: Int { hosts.count }

    /// Adds a call behind those that wait for its host already.
    func add(_ start: consuming CurlStart, for key: Host.Key) {
        let call = start.call
        let host = host(key)
        let index = takeEntry()
        call.place.store(index, ordering: .relaxed)
        entries[index] = Entry(start: start, host: host, previous: host.last)
        if host.isWaiting { entries[host.last].next = index } else { host.first = index }
        host.last = index
        count += 1
        giveTurn(to: host)
    }

    /// Takes the next call for which there is room, and counts it as running; `nil`: there is none.
    func next() -> (start: CurlStart, host: Host)? {
        while let host = firstInTurn {
            // Another stream on the connection of a host takes none.
            guard connections < limits.connections || (host.version == .http2 && host.running > 0) else { return nil }
            dropTurn(of: host)
            guard hasRoom(host), let start = take(host.first) else { continue }
            connections -= taken(by: host)
            host.running += 1
            connections += taken(by: host)
            giveTurn(to: host)
            return (start, host)
        }
        return nil
    }

    /// A transfer that ``next()`` gave out has ended.
    func release(_ host: Host) {
        connections -= taken(by: host)
        host.running -= 1
        connections += taken(by: host)
        if host.isUnused, hosts.count > Self.hostLimit { hosts[host.key] = nil }
        giveTurn(to: host)
    }

    /// A transfer to the host may open a connection, over HTTP/2, from now on or no longer.
    func note(mayConnect: Bool, to host: Host) {
        host.unsent += mayConnect ? 1 : -1
        giveTurn(to: host)
    }

    /// Notes what a response of the host has shown.
    func note(isHTTP2: Bool, of host: Host) {
        let version: Host.Version = isHTTP2 ? .http2 : .http1
        guard host.version != version else { return }
        connections -= taken(by: host)
        host.version = version
        connections += taken(by: host)
        giveTurn(to: host)
    }

    /// Takes a waiting call out; `nil` when it does not wait.
    func remove(_ call: CurlCall) -> CurlStart? {
        let index = call.place.load(ordering: .relaxed)
        guard entries.indices.contains(index), entries[index].start?.call === call else { return nil }
        return take(index)
    }

    /// Takes out the calls whose time is up, and says when the next one's is.
    func removeOverdue(at now: UInt64) -> (overdue: [CurlStart], next: UInt64?) {
        var overdue: [CurlStart] = []
        var next: UInt64?
        for index in entries.indices {
            guard let deadline = entries[index].start?.deadline else { continue }
            if deadline > now {
                next = min(next ?? .max, deadline)
            } else if let start = take(index) {
                overdue.append(start)
            }
        }
        return (overdue, next)
    }

    /// Takes out all waiting calls.
    func removeAll() -> [CurlStart] {
        entries.indices.compactMap { take($0) }
    }
}

// MARK: - Room

extension CurlQueue {
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

    private func hasRoom(_ host: Host) -> Bool {
        switch host.version {
        // All of them wait for the one connection that is being made, until it is known what it speaks.
        case .unknown: host.running < min(limits.connectionsPerHost, Limits.streamsAtFirst)
        case .http1: host.running < limits.connectionsPerHost
        // libcurl does not say how many streams the server allows, and takes an answer over HTTP/1.1 for a sign that the host has
        // no HTTP/2. Each call without a stream would open a connection; one by one they find room on that of the one before.
        case .http2:
            host.running < Limits.streamsAtFirst && !(host.isMixed && CurlLibrary.tellsSendings)
                || CurlLibrary.tellsSendings && host.unsent == 0 && host.running < Limits.streams
        }
    }

    private func taken(by host: Host) -> Int {
        host.version == .http2 ? min(1, host.running) : host.running
    }

    private func giveTurn(to host: Host) {
        guard !host.isInTurn, host.isWaiting, hasRoom(host) else { return }
        host.isInTurn = true
        if let lastInTurn { lastInTurn.nextInTurn = host } else { firstInTurn = host }
        lastInTurn = host
    }

    /// Takes the first host out of the line.
    private func dropTurn(of host: Host) {
        host.isInTurn = false
        firstInTurn = host.nextInTurn
        if firstInTurn == nil { lastInTurn = nil }
        host.nextInTurn = nil
    }
}

// MARK: - The entries

extension CurlQueue {
    private func takeEntry() -> Int {
        guard unused != CurlCall.nowhere else {
            entries.append(Entry())
            return entries.count - 1
        }
        let index = unused
        unused = entries[index].next
        return index
    }

    /// Unlinks an entry, and gives out its call; `nil` when there is none.
    private func take(_ index: Int) -> CurlStart? {
        guard entries.indices.contains(index), let start = entries[index].start, let host = entries[index].host else {
            return nil
        }
        let (previous, next) = (entries[index].previous, entries[index].next)
        if previous == CurlCall.nowhere { host.first = next } else { entries[previous].next = next }
        if next == CurlCall.nowhere { host.last = previous } else { entries[next].previous = previous }
        entries[index] = Entry(next: unused)
        unused = index
        count -= 1
        start.call.place.store(CurlCall.nowhere, ordering: .relaxed)
        return start
    }
}
#endif
