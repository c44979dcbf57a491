// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tells the server's time, by the `Date` field of its responses (RFC 9110 §6.6.1): for signatures and tokens that a device
/// with a wrong clock could not make.
///
/// ```swift
/// let clock = ServerClockPlugin()
/// let provider = Provider<Orders>(plugins: [clock])
/// let date = clock.now
/// ```
///
/// `Date` has whole seconds, and was written somewhere between sending and receiving; so each response says in which range the
/// difference lies, as wide as the time in flight and one second, and its middle is the difference corrected for half the time
/// in flight. All responses together narrow the range, most often to some tenths of a second.
///
/// Not looked at are responses from a cache (`Age` above 0, RFC 9111 §5.1) and from another host after a redirect. One response
/// whose `Date` contradicts the others changes nothing; when the next one agrees with it, they are believed: one of the two
/// clocks was set.
///
/// One plugin is for one server; the providers of that server share it. It is safe to ask from any thread.
///
/// Order: anywhere.
public struct ServerClockPlugin: Plugin {
    private struct Sending: Sendable {
        let date: Date
        let host: String?
    }

    private struct State: Sendable {
        var sendings: [RequestContext.ID: Sending] = [:]
        var offset = ClockOffset()
    }

    private let date: @Sendable () -> Date
    private let state = Locked(State())

    /// A clock that knows nothing yet.
    ///
    /// - Parameter date: The device's clock; default: the system's.
    public init(date: @escaping @Sendable () -> Date = { Date() }) {
        self.date = date
    }

    /// The server's time, as far as it is known; the device's before the first response.
    public var now: Date { date() + (offset ?? 0) }

    /// How many seconds the server's clock is ahead of the device's; `nil` before the first response.
    public var offset: TimeInterval? {
        state.withLock { $0.offset.range.map { ($0.lowest + $0.highest) / 2 } }
    }

    /// By how many seconds ``offset`` may be wrong at most, if the server's clock is right; `nil` before the first response.
    public var uncertainty: TimeInterval? {
        let date = date()
        return state.withLock { $0.offset.range?.widened(until: date) }.map { ($0.highest - $0.lowest) / 2 }
    }

    /// Notes when the request goes out.
    public func willSend(_ request: URLRequest, context: RequestContext) {
        let sending = Sending(date: date(), host: request.url?.host())
        state.withLock { $0.sendings[context.id] = sending }
    }

    /// Looks at the response's `Date`, whatever its status is.
    public func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        let received = date()
        guard let sending = state.withLock({ $0.sendings.removeValue(forKey: context.id) }) else { return }
        let response: Response? =
            switch result {
            case .success(let response): response
            case .failure(let error): error.response
            }
        guard let response, received >= sending.date,
            let server = Self.date(of: response, from: sending.host, now: received)
        else {
            return
        }
        // Between these two moments the server's clock showed a time from `server` up to a second later.
        let range = ClockOffset.Range(
            lowest: server.timeIntervalSince(received),
            highest: server.timeIntervalSince(sending.date) + 1,
            date: received
        )
        state.withLock { $0.offset.add(range) }
    }

    /// The time at which that host has made the response.
    private static func date(of response: Response, from host: String?, now: Date) -> Date? {
        if let url = response.request?.url, url.host() != host { return nil }
        let headers = response.headers
        if let age = headers["Age"], age.trimmingCharacters(in: .whitespaces) != "0" { return nil }
        return headers["Date"].flatMap { HTTPDate.parse($0, now: now) }
    }
}

/// What is known of the difference between two clocks.
///
/// Each sample is a range in which the difference lies for sure, if nobody lies. Where ranges of several samples overlap, the
/// difference lies in all of them, which soon tells it more closely than any single one. A sample that contradicts the others
/// is passed over; when the next one agrees with it, both of them count, and what was known before does not.
struct ClockOffset: Sendable {
    /// How far two clocks may drift apart: 100 millionths, more than a quartz does.
    private static let drift = 1e-4

    /// A range of seconds, as of a moment of the local clock.
    struct Range: Sendable {
        var lowest: TimeInterval
        var highest: TimeInterval
        var date: Date

        /// The same, later.
        func widened(until later: Date) -> Range {
            let seconds = abs(later.timeIntervalSince(date)) * ClockOffset.drift
            return Range(lowest: lowest - seconds, highest: highest + seconds, date: later)
        }

        /// What both say; `nil` when they contradict each other.
        fileprivate func common(with other: Range) -> Range? {
            let lowest = max(lowest, other.lowest)
            let highest = min(highest, other.highest)
            return lowest <= highest ? Range(lowest: lowest, highest: highest, date: other.date) : nil
        }
    }

    /// What the samples have in common.
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
