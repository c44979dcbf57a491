// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// Limits the rate of requests to a server, and follows the limits that the server announces.
///
/// ```swift
/// let provider = Provider<Search>(plugins: [RateLimitPlugin(10, per: .seconds(1))])
/// ```
///
/// A token bucket limits the requests. Up to `burst` requests are sent immediately, and the others at equal intervals,
/// in order of arrival. Each request counts, including redirects; cached responses don't.
///
/// The plugin also uses the server's limits. After `Retry-After` with status 429 or 503 (RFC 9110 §10.2.3), or when
/// `RateLimit`, `RateLimit-Remaining` or `X-RateLimit-Remaining` reports that no requests are left, the next request is
/// sent when the server allows it, after at most an hour. If some are left, at most this number is sent immediately
/// (draft-ietf-httpapi-ratelimit-headers).
///
/// A call that would have to wait longer than `maximumWait`, or than the remaining time of its `CallTimeout.wholeCall`,
/// fails immediately with ``RateLimitError``, stage `.request` and kind `.rateLimited`, as does a waiting call when the
/// server requires a longer wait. A waiting call can be cancelled.
///
/// Several providers can use the same plugin. Copies share the limits.
public struct RateLimitPlugin: Plugin {
    private let key: @Sendable (URLRequest, any TargetType) -> String?
    private let maximumWait: Duration
    private let now: @Sendable () -> Date
    private let limits: RateLimits
    private let keys = PluginStorage<String>()

    /// Creates a plugin.
    ///
    /// - Parameters:
    ///   - requests: The maximum number of requests with the same key in the period, at least 1; default: any number,
    ///     so that only the server's limits apply.
    ///   - period: The period; default: one second.
    ///   - burst: The number of requests that are sent immediately after a pause; default `nil`: `requests`.
    ///   - maximumWait: The maximum wait of a call; default: one minute.
    ///   - clock: Measures the times; default: the continuous clock.
    ///   - now: Returns the current date, for dates in a response without a `Date`.
    ///   - key: Returns the key by which requests are limited; `nil` for requests without a limit. Default: the
    ///     server's scheme, host and port.
    public init(
        _ requests: Int = .max,
        per period: Duration = .seconds(1),
        burst: Int? = nil,
        maximumWait: Duration = .seconds(60),
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() },
        key: (@Sendable (URLRequest, any TargetType) -> String?)? = nil
    ) {
        self.key = key ?? { request, _ in request.url.flatMap(ServerOrigin.init)?.description }
        self.maximumWait = maximumWait
        self.now = now
        limits = RateLimits(TokenBucket(requests, per: period, burst: burst ?? requests), clock: clock)
    }

    /// The place just after `PluginPlace.admission`.
    public var place: PluginPlace { .rateLimit }

    /// The hooks that the plugin implements.
    public var hooks: PluginHooks { [.exchange, .didReceive] }

    /// The number of stored keys, and the number of waiting calls.
    package var counts: (keys: Int, waiting: Int) { limits.counts }

    /// Waits until the request may be sent.
    ///
    /// - Throws: `TargetKitError` with ``RateLimitError``; `CancellationError`.
    public func exchange(
        _ request: TransportRequest,
        context: RequestContext,
        next: Exchange
    ) async throws -> TransportResponse {
        let key = key(request.urlRequest, context.target)
        context[keys] = key
        guard let key else { return try await next(request) }
        do {
            try await limits.wait(for: key, atMost: min(maximumWait, context.remainingTime ?? maximumWait))
        } catch let error as RateLimitError {
            throw TargetKitError(stage: .request, request: request.urlRequest, underlying: error)
        }
        return try await next(request)
    }

    /// Records the server's limits.
    public func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        // The limit of another server doesn't apply to this key.
        guard let response = result.parts.response, !response.isCrossOrigin,
            let key = context[keys], let limit = ServerRateLimit(response, now: now)
        else { return }
        limits.learn(limit, of: key)
    }
}

/// The `underlying` error of a call that a ``RateLimitPlugin`` rejects because it would have to wait too long. The
/// stage is `.request`, and the kind `.rateLimited`.
public struct RateLimitError: Error, Sendable, Hashable {
    /// The server, for example `https://shop.example`, or the result of the plugin's key closure.
    public let key: String
    /// The time for which the call would have to wait.
    public let remaining: Duration

    package init(key: String, remaining: Duration) {
        self.key = key
        self.remaining = remaining
    }
}

extension RateLimitError: DescribedError, ErrorWithKind {
    /// The problem in one line, for the developer.
    package var redactedDescription: String {
        "the limit of requests to \(key) is reached; the call would be sent in \(remaining.wholeSeconds) s"
    }

    /// Too many requests.
    package var kind: TargetKitError.Kind? { .rateLimited }

    /// Too Many Requests (RFC 6585 §4).
    package var statusCode: Int? { 429 }
}

/// The requests and the waiting calls of each key.
private final class RateLimits: Sendable {
    private struct Entry: Sendable {
        var bucket: TokenBucket
        var waiting = WaitingCalls()
        /// Whether a task sends the waiting calls when they are due.
        var isServed = false
    }

    /// The number of keys above which unused ones are removed when a new one is needed.
    private static let highCount = 64
    private let bucket: TokenBucket
    private let clock: any Clock<Duration>
    private let elapsedTime: ElapsedTime
    private let entries = Locked<[String: Entry]>([:])

    init(_ bucket: TokenBucket, clock: any Clock<Duration>) {
        self.bucket = bucket
        self.clock = clock
        elapsedTime = ElapsedTime(clock)
    }

    var counts: (keys: Int, waiting: Int) {
        entries.withLock { entries in (entries.count, entries.values.reduce(0) { $0 + $1.waiting.count }) }
    }

    /// The decision whether a call is sent immediately or waits.
    private enum Decision: Sendable {
        case send
        case wait(WaitingCalls.ID, isFirst: Bool)
    }

    func wait(for key: String, atMost limit: Duration) async throws {
        let time = elapsedTime.current
        let decision = try entries.withLock { entries throws(RateLimitError) -> Decision in
            var entry = entries[key] ?? newEntry(&entries, at: time)
            defer { entries[key] = entry }
            if entry.waiting.isEmpty, entry.bucket.take(at: time) { return .send }
            let remaining = entry.bucket.delay(after: entry.waiting.count, at: time)
            guard remaining < limit else { throw RateLimitError(key: key, remaining: remaining) }
            defer { entry.isServed = true }
            let end = time + LongestWait.limited(limit)
            return .wait(entry.waiting.add(.medium, until: end), isFirst: !entry.isServed)
        }
        guard case .wait(let id, let isFirst) = decision else { return }
        if isFirst { Task { await serve(key) } }
        try await WaitingCalls.wait { continuation in
            entries.withLock { $0[key, default: Entry(bucket: bucket)].waiting.suspend(id, continuation: continuation) }
        } cancel: { [entries] in
            entries.withLock { $0[key]?.waiting.cancel(id) }
        }
    }

    /// Applies the server's limit. Calls that would now wait too long fail.
    func learn(_ limit: ServerRateLimit, of key: String) {
        let time = elapsedTime.current
        let refused = entries.withLock { entries in
            var entry = entries[key] ?? newEntry(&entries, at: time)
            defer { entries[key] = entry }
            entry.bucket.learn(limit, at: time)
            let bucket = entry.bucket
            return entry.waiting.fail { others, end in
                let remaining = bucket.delay(after: others, at: time)
                return time + remaining < end ? nil : RateLimitError(key: key, remaining: remaining)
            }
        }
        for call in refused { call.begin() }
    }

    /// Sends the waiting calls when they are due, until none is left.
    private func serve(_ key: String) async {
        while let delay = delay(key) {
            // The task is never cancelled. Other errors of the clock are ignored, so that the calls are still served.
            if delay > .zero { try? await clock.wait(for: delay) }
        }
    }

    /// Sends the calls that are due, and returns the wait of the next one; `nil` if there is none.
    private func delay(_ key: String) -> Duration? {
        let time = elapsedTime.current
        let (turns, delay) = entries.withLock { entries -> ([WaitingCalls.Turn], Duration?) in
            guard var entry = entries[key] else { return ([], nil) }
            var turns: [WaitingCalls.Turn] = []
            while !entry.waiting.isEmpty, entry.bucket.take(at: time), let turn = entry.waiting.next() {
                turns.append(turn)
            }
            let delay = entry.waiting.isEmpty ? nil : entry.bucket.delay(after: 0, at: time)
            if delay == nil { entry.isServed = false }
            entries[key] = entry
            return (turns, delay)
        }
        for turn in turns { turn.begin() }
        return delay
    }

    private func newEntry(_ entries: inout [String: Entry], at now: Duration) -> Entry {
        if entries.count >= Self.highCount {
            entries = entries.filter {
                !$0.value.bucket.isFull(at: now) || !$0.value.waiting.isIdle || $0.value.isServed
            }
        }
        return Entry(bucket: bucket)
    }
}
