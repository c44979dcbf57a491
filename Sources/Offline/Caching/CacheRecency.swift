// SPDX-License-Identifier: MIT
import TargetKit

/// The order in which responses were created, to find the most recent one (RFC 9111 §4). Times are in milliseconds
/// since 1970.
struct CacheRecency: Sendable, Hashable {
    /// The `Date` of the response, or else the time of the request, because of two overlapping exchanges the later one
    /// more likely includes the last change.
    let created: UInt64
    let requested: UInt64
    let received: UInt64

    init(_ headers: HTTPHeaders, requestTime: Date, responseTime: Date) {
        requested = Self.milliseconds(requestTime)
        received = Self.milliseconds(responseTime)
        created = headers.date("Date", now: responseTime).map(Self.milliseconds) ?? requested
    }

    /// The number of digits of each time in ``text``.
    private static let digitCount = 12
    /// The length of three times, up to the year 10889.
    static let textLength = 3 * digitCount

    private static func milliseconds(_ date: Date) -> UInt64 {
        UInt64(min(max(0, date.timeIntervalSince1970 * 1000), 0xFFFF_FFFF_FFFF))
    }

    /// The times as hexadecimal digits, which sort in the order of the responses.
    var text: String {
        [created, requested, received].map { number in
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: max(0, Self.digitCount - digits.count)) + digits
        }.joined()
    }

    /// Reads ``text``.
    init?(_ text: some StringProtocol) {
        let digits = Array(text.utf8)
        guard digits.count == Self.textLength else { return nil }
        var times: [UInt64] = []
        for index in 0..<3 {
            let part = digits[index * Self.digitCount..<(index + 1) * Self.digitCount]
            guard let time = UInt64(String(decoding: part, as: UTF8.self), radix: 16) else { return nil }
            times.append(time)
        }
        (created, requested, received) = (times[0], times[1], times[2])
    }

    /// Whether a response replaces a stored one. It does if it is at least as recent, or was requested after the stored
    /// one had arrived; otherwise the response of a server whose clock was once wrong would stay in the cache. A stored
    /// response with a later arrival time is from before the device's clock was set back, or another process has just
    /// stored it.
    func replaces(_ stored: CacheRecency) -> Bool {
        stored.received < requested || stored <= self || stored.received > received + Self.moment
    }

    /// One minute, in milliseconds.
    private static let moment: UInt64 = 60_000
}

extension CacheRecency: Comparable {
    static func < (one: CacheRecency, other: CacheRecency) -> Bool {
        (one.created, one.requested, one.received) < (other.created, other.requested, other.received)
    }
}
