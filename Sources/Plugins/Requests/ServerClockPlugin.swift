// SPDX-License-Identifier: MIT
import TargetKit

/// Estimates the server's time from the `Date` field of its responses (RFC 9110 §6.6.1), for signatures and tokens on a
/// device with a wrong clock.
///
/// ```swift
/// let clock = ServerClockPlugin()
/// let provider = Provider<Orders>(plugins: [clock])
/// let date = clock.now
/// ```
///
/// `Date` has whole seconds, and is written between sending and receiving. Each response therefore gives a range for
/// the difference between the clocks, which is as long as the exchange plus one second. Several responses narrow the
/// range, usually to a few tenths of a second.
///
/// Responses from a cache (`Age` above 0, RFC 9111 §5.1) and from another host after a redirect don't count. A single
/// response whose `Date` contradicts the others is ignored. If the next response agrees with it, one of the clocks was
/// set, and both count.
///
/// Use one plugin for each server, and share it between the providers of the server. Its properties can be read on any
/// thread.
public struct ServerClockPlugin: Plugin {
    private struct Sent: Sendable {
        let date: Date
        let host: String?
    }

    private let date: @Sendable () -> Date
    private let difference = Locked(ClockOffset())
    private let sent = PluginStorage<Sent>()

    /// `PluginPlace.observation`.
    public var place: PluginPlace { .observation }

    /// The hooks that the plugin implements.
    public var hooks: PluginHooks { [.willSend, .didReceive] }

    /// Creates a clock without samples.
    ///
    /// - Parameter date: The device's clock; default: the system's.
    public init(date: @escaping @Sendable () -> Date = { Date() }) {
        self.date = date
    }

    /// The server's time; before the first response, the device's time.
    public var now: Date { date() + (offset ?? 0) }

    /// The number of seconds by which the server's clock is ahead of the device's; `nil` before the first response.
    public var offset: TimeInterval? {
        difference.withLock { $0.range.map { ($0.lowest + $0.highest) / 2 } }
    }

    /// The maximum error of ``offset`` in seconds, if the server's clock is correct; `nil` before the first response.
    package var uncertainty: TimeInterval? {
        let date = date()
        return difference.withLock { $0.range?.widened(until: date) }.map { ($0.highest - $0.lowest) / 2 }
    }

    /// Notes the time when the request is sent.
    public func willSend(_ request: URLRequest, context: RequestContext) {
        context[sent] = Sent(date: date(), host: request.url?.host())
    }

    /// Reads the response's `Date`, regardless of its status.
    public func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        let received = date()
        guard let sent = context[sent] else { return }
        let response: Response? =
            switch result {
            case .success(let response): response
            case .failure(let error): error.response
            }
        guard let response, received >= sent.date,
            let server = Self.date(of: response, from: sent.host, now: received)
        else {
            return
        }
        // Between these two times, the server's clock showed `server`, or up to one second more.
        let range = ClockOffset.Range(
            lowest: server.timeIntervalSince(received),
            highest: server.timeIntervalSince(sent.date) + 1,
            date: received
        )
        difference.withLock { $0.add(range) }
    }

    /// The date at which a host created the response.
    private static func date(of response: Response, from host: String?, now: Date) -> Date? {
        if let url = response.request?.url, url.host() != host { return nil }
        let headers = response.headers
        if let age = headers["Age"], age.trimmingCharacters(in: .whitespaces) != "0" { return nil }
        return headers["Date"].flatMap { HTTPDate.parse($0, now: now) }
    }
}

/// The difference between two clocks, estimated from samples.
///
/// Each sample is a range that contains the difference, so the difference is in the intersection of all samples. A
/// sample that contradicts the others is ignored. If the next one agrees with it, these two replace all earlier
/// samples.
struct ClockOffset: Sendable {
    /// The maximum drift of two clocks, 100 ppm, which exceeds the drift of quartz clocks.
    private static let drift = 1e-4

    /// A range of seconds at a time of the local clock.
    struct Range: Sendable {
        var lowest: TimeInterval
        var highest: TimeInterval
        var date: Date

        /// The range at another time, widened by the drift.
        func widened(until later: Date) -> Range {
            let seconds = abs(later.timeIntervalSince(date)) * ClockOffset.drift
            return Range(lowest: lowest - seconds, highest: highest + seconds, date: later)
        }

        /// The intersection; `nil` if it is empty.
        fileprivate func common(with other: Range) -> Range? {
            let lowest = max(lowest, other.lowest)
            let highest = min(highest, other.highest)
            return lowest <= highest ? Range(lowest: lowest, highest: highest, date: other.date) : nil
        }
    }

    /// The intersection of the samples.
    private(set) var range: Range?
    /// The last sample, if it contradicts them.
    private var suspect: Range?

    mutating func add(_ sample: Range) {
        if let known = range?.widened(until: sample.date).common(with: sample) {
            range = known
            suspect = nil
        } else if range == nil {
            range = sample
        } else if let agreed = suspect?.widened(until: sample.date).common(with: sample) {
            range = agreed
            suspect = nil
        } else {
            suspect = sample
        }
    }
}
