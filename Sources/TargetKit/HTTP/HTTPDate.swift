// SPDX-License-Identifier: MIT
import Foundation

/// The date of a header field, in the three forms of RFC 9110 §5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`, that of RFC 850 with a
/// year of two digits, and that of C's `asctime`.
package enum HTTPDate {
    /// The date of a text; `nil` when it has none of the forms, or a zone other than GMT.
    ///
    /// - Parameter now: Decides what a year of two digits means: the one that is at most 50 years ahead.
    package static func parse(_ text: some StringProtocol, now: Date) -> Date? {
        // `asctime` names no zone, and ends with the year.
        let end = text.utf8.suffix(5)
        let isYear = end.first == UInt8(ascii: " ") && end.dropFirst().allSatisfy(isDigit)
        guard isYear || end.dropFirst().elementsEqual(" GMT".utf8) else { return nil }
        let latest = year(of: now) + 50
        return CookieDate.parse(text, fullYear: { latest - (latest - $0) % 100 }, lastSecond: 60)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// The year by its mean length: a day's error at its turn moves a limit that lies 50 years ahead.
    private static func year(of date: Date) -> Int {
        let years = date.timeIntervalSince1970 / (365.2425 * 86_400)
        return 1970 + Int(min(max(years, -300), 8000).rounded(.down))
    }
}
