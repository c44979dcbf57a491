// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitFiles

/// Parses common date formats. A `DateFormatter` takes tens of microseconds for each date.
///
/// ISO 8601 and RFC 3339, with or without seconds, fraction and zone, and with `T` or a space between date and time;
/// the date alone, with `-` or `/`; RFC 1123 (RFC 9110 §5.6.7); and a number, as in ``date(of:zone:)``.
struct DateParser {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0

    private init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    /// Parses a date; returns `nil` for an unknown format or a component out of range.
    ///
    /// - Parameter zone: The time zone of a time without one; `nil` for UTC.
    static func date(_ text: String, zone: TimeZone?) -> Date? {
        ContiguousText.read(text) { bytes in
            var reader = DateParser(bytes)
            if let date = reader.internetDate() ?? reader.calendarDate(zone: zone) { return date }
            guard let first = bytes.first, first.isDigit || first == UInt8(ascii: "-") else { return nil }
            // A year, or a year and a month, isn't a date.
            let isYearOrMonth = (bytes.count == 4 || bytes.count == 6) && bytes.allSatisfy(\.isDigit)
            guard !isYearOrMonth else { return nil }
            return JSONNumber(text: text)?.double.flatMap { Self.date(of: $0, zone: zone) }
        }
    }

    /// The date that a number represents: a day (`20240506`), a day and time (`20240506070809`), or seconds since 1970.
    /// From 10^11 on, which would be the year 5138 in seconds, the number is in milliseconds.
    ///
    /// Numbers that begin with a year from 1800 to 2299 are days. Read as seconds, eight digits would be in two months
    /// of 1970, and whole hours would end in two zeros, which no day does. Read as milliseconds, fourteen digits would
    /// be after the year 2540.
    ///
    /// - Parameter zone: The time zone of a day and time; `nil` for UTC.
    static func date(of number: Double, zone: TimeZone?) -> Date? {
        guard number.isFinite, number.magnitude < 1e15 else { return nil }
        switch Int64(exactly: number) {
        case let day? where (18_000_101...22_991_231).contains(day) && day % 100 != 0:
            return date(day: Int(day), time: 0, zone: zone)
        case let moment? where (18_000_101_000_000...22_991_231_235_959).contains(moment):
            return date(day: Int(moment / 1_000_000), time: Int(moment % 1_000_000), zone: zone)
        default:
            return Date(timeIntervalSince1970: number.magnitude < 1e11 ? number : number / 1_000)
        }
    }

    /// The date of numbers such as `20240506` and `70809`; `nil` if there is no such day or time.
    private static func date(day: Int, time: Int, zone: TimeZone?) -> Date? {
        let (hour, minute, second) = (time / 10_000, time / 100 % 100, time % 100)
        guard let days = GregorianCalendar.days(day / 10_000, month: day / 100 % 100, day: day % 100), hour < 24,
            minute < 60,
            second <= 60
        else {
            return nil
        }
        return date(atLocal: Double(days * 86_400 + Int64(hour * 3_600 + minute * 60 + second)), zone: zone)
    }

    /// The date whose local time in the zone, `nil` for UTC, is that many seconds after 1970.
    private static func date(atLocal seconds: Double, zone: TimeZone?) -> Date {
        let date = Date(timeIntervalSince1970: seconds)
        guard let zone else { return date }
        let guess = date.addingTimeInterval(-Double(zone.secondsFromGMT(for: date)))
        return date.addingTimeInterval(-Double(zone.secondsFromGMT(for: guess)))
    }

    /// Parses `1994-11-06T08:49:37.5+01:00` and its shorter forms.
    private mutating func calendarDate(zone: TimeZone?) -> Date? {
        index = 0
        guard let year = digits(4), let separator = next(),
            separator == UInt8(ascii: "-") || separator == UInt8(ascii: "/"),
            let month = digits(2), take(separator), let day = digits(2),
            var seconds = GregorianCalendar.days(year, month: month, day: day)
        else { return nil }
        seconds *= 86_400
        var fraction = 0.0
        if index < bytes.count {
            guard let mark = next(), mark | 0x20 == UInt8(ascii: "t") || mark == 0x20, let time = timeOfDay() else {
                return nil
            }
            seconds += Int64(time)
            fraction = self.fraction()
            if take(0x20), index == bytes.count { return nil }
            if index < bytes.count {
                guard let offset = zoneOffset(), index == bytes.count else { return nil }
                return Date(timeIntervalSince1970: Double(seconds - Int64(offset)) + fraction)
            }
        }
        return Self.date(atLocal: Double(seconds) + fraction, zone: zone)
    }

    /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`. The weekday is optional and isn't checked.
    private mutating func internetDate() -> Date? {
        index = 0
        if let comma = bytes.prefix(10).firstIndex(of: UInt8(ascii: ",")) { index = comma + 1 }
        _ = take(0x20)
        guard let day = digits(2) ?? digits(1), take(0x20), let month = monthName(), take(0x20), let year = digits(4),
            take(0x20), let days = GregorianCalendar.days(year, month: month, day: day), let time = timeOfDay(),
            take(0x20)
        else { return nil }
        let isUTC = ["GMT", "UTC", "UT"].contains { remainder.elementsEqual($0.utf8) }
        let offset = isUTC ? 0 : zoneOffset()
        guard let offset, isUTC || index == bytes.count else { return nil }
        return Date(timeIntervalSince1970: Double(days * 86_400 + Int64(time - offset)))
    }

    private var remainder: Slice<UnsafeBufferPointer<UInt8>> { bytes[min(index, bytes.count)...] }

    /// Parses hours, minutes and optional seconds. A leap second becomes the first second of the next minute.
    private mutating func timeOfDay() -> Int? {
        guard let hour = digits(2), hour < 24, take(UInt8(ascii: ":")), let minute = digits(2), minute < 60 else {
            return nil
        }
        guard take(UInt8(ascii: ":")) else { return hour * 3_600 + minute * 60 }
        guard let second = digits(2), second <= 60 else { return nil }
        return hour * 3_600 + minute * 60 + second
    }

    private mutating func fraction() -> Double {
        guard take(UInt8(ascii: ".")) || take(UInt8(ascii: ",")) else { return 0 }
        var value = 0.0
        var scale = 1.0
        while index < bytes.count, bytes[index].isDigit {
            if scale < 1e15 {
                value = value * 10 + Double(bytes[index] - UInt8(ascii: "0"))
                scale *= 10
            }
            index += 1
        }
        return value / scale
    }

    /// Parses `Z`, `+01:00`, `+0100` or `+01`; returns seconds.
    private mutating func zoneOffset() -> Int? {
        guard let sign = next() else { return nil }
        if sign | 0x20 == UInt8(ascii: "z") { return 0 }
        guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), let hours = digits(2), hours < 24 else {
            return nil
        }
        let hasColon = take(UInt8(ascii: ":"))
        var minutes = 0
        if hasColon || index < bytes.count {
            guard let found = digits(2), found < 60 else { return nil }
            minutes = found
        }
        let offset = hours * 3_600 + minutes * 60
        return sign == UInt8(ascii: "-") ? -offset : offset
    }

    /// Parses exactly `count` digits; returns `nil` if there are fewer.
    private mutating func digits(_ count: Int) -> Int? {
        guard bytes.count - index >= count else { return nil }
        var value = 0
        for byte in bytes[index..<(index + count)] {
            guard byte.isDigit else { return nil }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
        }
        index += count
        return value
    }

    private mutating func monthName() -> Int? {
        guard let month = GregorianCalendar.month(named: remainder) else { return nil }
        index += 3
        return month
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard index < bytes.count, bytes[index] == byte else { return false }
        index += 1
        return true
    }

    private mutating func next() -> UInt8? {
        guard index < bytes.count else { return nil }
        index += 1
        return bytes[index - 1]
    }
}
