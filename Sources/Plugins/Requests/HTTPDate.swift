// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitFiles

/// The date of a header field in one of the three formats of RFC 9110 §5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`, RFC 850
/// with a two-digit year, and C's `asctime`.
package enum HTTPDate {
    /// Parses a date in any letter case (RFC 9111 §4.2); returns `nil` for any other format or time zone than GMT.
    ///
    /// - Parameters:
    ///   - now: The reference for a two-digit year, which is at most 50 years in the future.
    ///   - isExact: Whether the text must match one of the formats exactly; default `false`, which accepts other
    ///     delimiters and orders.
    package static func parse(_ text: String, now: Date, isExact: Bool = false) -> Date? {
        let bytes = text.utf8.map(\.asciiLowercased)
        if isExact, !hasExactFormat(bytes) { return nil }
        // The `asctime` format has no time zone, and ends with the year.
        let end = bytes.suffix(5)
        let isYear = end.first == UInt8(ascii: " ") && end.dropFirst().allSatisfy(\.isDigit)
        guard isYear || end.dropFirst().elementsEqual(timeZone) else { return nil }
        let latest = year(of: now) + 50
        return CookieDate.parse(text, fullYear: { latest - (latest - $0) % 100 }, lastSecond: 60)
    }

    private static let timeZone = Array(" gmt".utf8)

    /// Whether text in lowercase begins with a weekday and matches the pattern of one of the formats.
    private static func hasExactFormat(_ bytes: [UInt8]) -> Bool {
        let weekday = String(decoding: bytes.prefix(while: isLetter), as: UTF8.self)
        let rest = bytes.dropFirst(weekday.utf8.count).map { byte in
            byte.isDigit ? UInt8(ascii: "0") : isLetter(byte) ? UInt8(ascii: "a") : byte
        }
        switch String(decoding: rest, as: UTF8.self) {
        case ", 00 aaa 0000 00:00:00 aaa", " aaa 00 00:00:00 0000", " aaa  0 00:00:00 0000":
            return weekdays.contains { $0.prefix(3) == weekday }
        case ", 00-aaa-00 00:00:00 aaa": return weekdays.contains(weekday)
        default: return false
        }
    }

    private static let weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }

    /// The year, computed from its mean length: accurate to about a day, which suffices for a limit 50 years in the
    /// future.
    private static func year(of date: Date) -> Int {
        let years = date.timeIntervalSince1970 / (365.2425 * 86_400)
        // In this order, a date that isn't a number has the first limit.
        return 1970 + Int(max(-300, min(8000, years)).rounded(.down))
    }
}

/// The date of an `Expires` attribute, parsed as leniently as RFC 6265 §5.1.1 specifies: time, day, month and year in
/// any order, with almost any delimiters.
package struct CookieDate {
    private var time: (hour: Int, minute: Int, second: Int)?
    private var day: Int?
    private var month: Int?
    private var year: Int?

    /// Parses a date; returns `nil` when a part is missing or the date doesn't exist.
    ///
    /// - Parameters:
    ///   - fullYear: Returns the full year for a two-digit year; default: 1970 to 2069, as in RFC 6265.
    ///   - lastSecond: The highest second of a minute; 60 to accept a leap second, as the first second of the next
    ///     minute.
    package static func parse(
        _ text: String,
        fullYear: (Int) -> Int = { $0 < 70 ? $0 + 2000 : $0 + 1900 },
        lastSecond: Int = 59
    ) -> Date? {
        var date = CookieDate()
        for token in Array(text.utf8).split(whereSeparator: isDelimiter) { date.take(Array(token)) }
        return date.date(fullYear, lastSecond: lastSecond)
    }

    /// Bytes between tokens: %x09 / %x20-2F / %x3B-40 / %x5B-60 / %x7B-7E.
    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// Uses the token for the first of time, day, month and year that is missing and matches.
    private mutating func take(_ token: [UInt8]) {
        if time == nil, let found = Self.time(of: token) {
            time = found
        } else if day == nil, let found = Self.number(of: token[...], digits: 1...2) {
            day = found
        } else if month == nil, let found = GregorianCalendar.month(named: token) {
            month = found
        } else if year == nil, let found = Self.number(of: token[...], digits: 2...4) {
            year = found
        }
    }

    private func date(_ fullYear: (Int) -> Int, lastSecond: Int) -> Date? {
        guard let time, let day, let month, var year else { return nil }
        if year < 100 { year = fullYear(year) }
        guard year >= 1601, time.hour < 24, time.minute < 60, time.second <= lastSecond else { return nil }
        return GregorianCalendar.days(year, month: month, day: day).map { days in
            Date(
                timeIntervalSince1970: Double(days * 86_400 + Int64(time.hour * 3600 + time.minute * 60 + time.second))
            )
        }
    }
}

extension CookieDate {
    /// Parses three numbers separated by `:`, the last one followed by anything but a digit.
    private static func time(of token: [UInt8]) -> (hour: Int, minute: Int, second: Int)? {
        let pieces = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard pieces.count == 3, pieces[0].count <= 2, pieces[1].count <= 2,
            pieces[0].allSatisfy(\.isDigit), pieces[1].allSatisfy(\.isDigit),
            let hour = number(of: pieces[0], digits: 1...2), let minute = number(of: pieces[1], digits: 1...2),
            let second = number(of: pieces[2], digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    /// Parses the number at the start of the token, if its digit count is in the range.
    private static func number(of token: ArraySlice<UInt8>, digits: ClosedRange<Int>) -> Int? {
        let number = token.prefix(while: \.isDigit)
        guard digits.contains(number.count) else { return nil }
        return number.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}
