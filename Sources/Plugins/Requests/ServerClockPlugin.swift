// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The server's time, estimated from the `Date` field of its responses (RFC 9110 §6.6.1), for signatures and tokens of
/// a device whose clock is wrong.
///
/// ```swift
/// let clock = ServerClockPlugin()
/// let provider = Provider<Orders>(plugins: [clock])
/// let date = clock.now
/// ```
///
/// `Date` has whole seconds and was written between sending and receiving. So each response gives a range for the
/// difference of the clocks, which is as long as the exchange and one second. Several responses narrow the range,
/// usually to some tenths of a second.
///
/// Responses from a cache (`Age` above 0, RFC 9111 §5.1) and from another host after a redirect don't count. One
/// response whose `Date` contradicts the others is ignored; when the next one agrees with it, one of the clocks has
/// been set, and both count.
///
/// Use one plugin for each server; the providers of a server share it. It can be read from any thread.
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

    /// The hooks that it implements.
    public var hooks: PluginHooks { [.willSend, .didReceive] }

    /// Creates a clock that has seen no response.
    ///
    /// - Parameter date: The device's clock; default: the system's.
    public init(date: @escaping @Sendable () -> Date = { Date() }) {
        self.date = date
    }

    /// The server's time; before the first response, the device's.
    public var now: Date { date() + (offset ?? 0) }

    /// How many seconds the server's clock is ahead of the device's; `nil` before the first response.
    public var offset: TimeInterval? {
        difference.withLock { $0.range.map { ($0.lowest + $0.highest) / 2 } }
    }

    /// The largest error of ``offset`` in seconds, if the server's clock is right; `nil` before the first response.
    package var uncertainty: TimeInterval? {
        let date = date()
        return difference.withLock { $0.range?.widened(until: date) }.map { ($0.highest - $0.lowest) / 2 }
    }

    /// Notes when the request is sent.
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
        // Between these two moments the server's clock showed `server`, or up to a second more.
        let range = ClockOffset.Range(
            lowest: server.timeIntervalSince(received),
            highest: server.timeIntervalSince(sent.date) + 1,
            date: received
        )
        difference.withLock { $0.add(range) }
    }

    /// When that host made the response.
    private static func date(of response: Response, from host: String?, now: Date) -> Date? {
        if let url = response.request?.url, url.host() != host { return nil }
        let headers = response.headers
        if let age = headers["Age"], age.trimmingCharacters(in: .whitespaces) != "0" { return nil }
        return headers["Date"].flatMap { HTTPDate.parse($0, now: now) }
    }
}

/// The difference between two clocks, estimated from samples.
///
/// Each sample is a range that contains the difference. The difference is in the intersection of all samples, which
/// becomes smaller than any single one. A sample that contradicts the others is ignored; when the next one agrees with
/// it, these two replace all earlier samples.
struct ClockOffset: Sendable {
    /// How fast two clocks may drift apart: 100 ppm, more than quartz clocks do.
    private static let drift = 1e-4

    /// A range of seconds, as of a moment of the local clock.
    struct Range: Sendable {
        var lowest: TimeInterval
        var highest: TimeInterval
        var date: Date

        /// The range at another moment, wider by the drift.
        func widened(until later: Date) -> Range {
            let seconds = abs(later.timeIntervalSince(date)) * ClockOffset.drift
            return Range(lowest: lowest - seconds, highest: highest + seconds, date: later)
        }

        /// The intersection; `nil` when it is empty.
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
