// SPDX-License-Identifier: MIT
#if os(Linux)

/// Limits how many connections to a host are opened at a time; the calls for others wait here, first in, first out.
///
/// A client opens WebSockets to a host one after another (RFC 6455 §4.1), so that it doesn't flood the host. That would
/// take a thousand round trips for a thousand WebSockets, so this limit is larger.
struct CurlOpenings {
    /// The maximum number of connections to a host that are being opened.
    static let limit = 128

    private struct Host {
        var openingCount = 0
        var waiting: [CurlPendingCall] = []
    }

    private var hosts: [String: Host] = [:]

    /// Whether no connection is being opened, and no call waits.
    var isEmpty: Bool { hosts.isEmpty }

    /// Returns the call if its connection can be opened now. Otherwise, the call waits.
    mutating func admit(_ pending: consuming CurlPendingCall) -> CurlPendingCall? {
        let origin = pending.call.address.origin
        guard hosts[origin, default: Host()].openingCount < Self.limit else {
            hosts[origin]?.waiting.append(pending)
            return nil
        }
        hosts[origin, default: Host()].openingCount += 1
        return pending
    }

    /// Records that a connection is no longer being opened, and returns the next call for its host.
    mutating func next(after call: CurlCall) -> CurlPendingCall? {
        let origin = call.address.origin
        guard var host = hosts.removeValue(forKey: origin) else { return nil }
        let next = host.waiting.isEmpty ? nil : host.waiting.removeFirst()
        if next == nil { host.openingCount -= 1 }
        if host.openingCount > 0 { hosts[origin] = host }
        return next
    }

    /// Removes a waiting call.
    mutating func remove(_ call: CurlCall) -> CurlPendingCall? {
        let origin = call.address.origin
        guard let index = hosts[origin]?.waiting.firstIndex(where: { $0.call === call }) else { return nil }
        return hosts[origin]?.waiting.remove(at: index)
    }

    /// Removes the waiting calls whose deadline has passed, and returns the next deadline.
    mutating func removeOverdue(at now: UInt64) -> (overdue: [CurlPendingCall], next: UInt64?) {
        var overdue: [CurlPendingCall] = []
        var next: UInt64?
        for (origin, host) in hosts where !host.waiting.isEmpty {
            let isOverdue = { (pending: CurlPendingCall) in pending.deadline.map { $0 <= now } ?? false }
            overdue += host.waiting.filter(isOverdue)
            hosts[origin]?.waiting.removeAll(where: isOverdue)
            next = hosts[origin]?.waiting.compactMap(\.deadline).reduce(next) { min($0 ?? .max, $1) }
        }
        return (overdue, next)
    }

    /// Removes all waiting calls.
    mutating func removeAll() -> [CurlPendingCall] {
        let waiting = hosts.values.flatMap(\.waiting)
        for origin in hosts.keys { hosts[origin]?.waiting = [] }
        return waiting
    }
}
#endif
