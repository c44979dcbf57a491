// SPDX-License-Identifier: MIT
import TargetKit

extension HAREntry {
    private enum Key: String, CodingKey {
        case startedDateTime, time, request, response, cache, timings, serverIPAddress, comment
        case id = "_id"
        case call = "_call"
        case attempt = "_attempt"
        case hop = "_hop"
        case target = "_target"
        case scope = "_scope"
        case provider = "_provider"
        case source = "_source"
        case origin = "_origin"
        case failure = "_failure"
        case message = "_message"
        case waits = "_waits"
        case isRefresh = "_isRefresh"
        case isBackground = "_isBackground"
        case isOpen = "_isOpen"
        // Chrome's fields for cache hits.
        case fromCache = "_fromCache"
        case resourceType = "_resourceType"
    }

    private enum WaitKey: String, CodingKey {
        case plugins, retry
    }

    private enum NoKey: CodingKey {}

    /// Encodes the entry as an element of `log.entries` (HAR 1.2), with secrets redacted.
    public func encode(to encoder: any Encoder) throws {
        let timings = HARTimings(of: self)
        var values = encoder.container(keyedBy: Key.self)
        let date = startedDate.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        try values.encode(date, forKey: .startedDateTime)
        try values.encode(timings.total, forKey: .time)
        try values.encode(HARRequestPart(content, httpVersion: response?.httpVersion), forKey: .request)
        try values.encode(HARResponsePart(response, content), forKey: .response)
        _ = values.nestedContainer(keyedBy: NoKey.self, forKey: .cache)
        try values.encode(timings, forKey: .timings)
        try values.encodeIfPresent(response?.metrics?.remoteAddress, forKey: .serverIPAddress)
        try encodeOwn(to: &values)
    }

    private func encodeOwn(to values: inout KeyedEncodingContainer<Key>) throws {
        let target = names.target
        try values.encode(id, forKey: .id)
        try values.encode(call.description, forKey: .call)
        try values.encode(attempt, forKey: .attempt)
        try values.encode(hop, forKey: .hop)
        try values.encode(target.name, forKey: .target)
        try values.encode(names.scope, forKey: .scope)
        try values.encode(names.provider ?? String(describing: type(of: target)), forKey: .provider)
        try values.encode(source.rawValue, forKey: .source)
        if let origin = response?.origin, origin != .network { try values.encode("\(origin)", forKey: .origin) }
        try values.encodeIfPresent(failure.map { "\($0)" }, forKey: .failure)
        try values.encodeIfPresent(message, forKey: .message)
        var waits = values.nestedContainer(keyedBy: WaitKey.self, forKey: .waits)
        try waits.encode(wait.milliseconds, forKey: .plugins)
        try waits.encodeIfPresent(retryWait?.milliseconds, forKey: .retry)
        try values.encode(isRefresh, forKey: .isRefresh)
        try values.encode("fetch", forKey: .resourceType)
        if source == .cache { try values.encode("memory", forKey: .fromCache) }
        if isBackground { try values.encode(true, forKey: .isBackground) }
        if isOpen { try values.encode(true, forKey: .isOpen) }
    }
}

/// The durations of an entry, in milliseconds; -1 if unknown (HAR 1.2, `timings`).
struct HARTimings: Encodable, Equatable {
    var blocked = -1.0
    var dns = -1.0
    var connect = -1.0
    var ssl = -1.0
    // The format requires these three.
    var send = 0.0
    var wait = 0.0
    var receive = 0.0

    init(of entry: HAREntry) {
        guard let metrics = entry.response?.metrics else {
            if entry.wait > .zero { blocked = entry.wait.milliseconds }
            receive = entry.receiving.milliseconds
            wait = max(0, (entry.duration - entry.wait - entry.receiving).milliseconds)
            return
        }
        // The transport doesn't measure the time before it, in plugins and the connection queue.
        let unmeasured = entry.duration - metrics.total
        if unmeasured > .zero { blocked = unmeasured.milliseconds }
        var last = Duration.zero
        func step(to end: Duration?) -> Double {
            guard let end, end >= last else { return -1 }
            defer { last = end }
            return (end - last).milliseconds
        }
        if !metrics.reusedConnection {
            dns = step(to: metrics.nameLookup)
            connect = step(to: metrics.connect)
            ssl = step(to: metrics.secureConnect)
            // HAR includes the TLS handshake in `connect`.
            if ssl >= 0 { connect = max(0, connect) + ssl }
        }
        let first = min(max(metrics.firstByte ?? metrics.total, last), metrics.total)
        wait = max(0, step(to: first))
        receive = max(0, step(to: metrics.total))
    }

    /// The time of the whole entry, which is the sum of the known durations (HAR 1.2, `entries`).
    var total: Double {
        let sum = [blocked, dns, connect, send, wait, receive].filter { $0 > 0 }.reduce(0, +)
        return (sum * 1000).rounded() / 1000
    }
}

extension Duration {
    /// The duration in milliseconds, rounded to microseconds.
    var milliseconds: Double {
        let (seconds, attoseconds) = components
        return (Double(seconds) * 1e6 + (Double(attoseconds) / 1e12).rounded()) / 1e3
    }
}
