// SPDX-License-Identifier: MIT
import _TargetKitSupport

/// The months and days of all date formats.
@usableFromInline
package enum GregorianCalendar {
    @usableFromInline static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    /// The month, from 1 to 12, for the first three letters of its name.
    @inlinable
    package static func month(named name: some Sequence<UInt8>) -> Int? {
        let start = name.prefix(3).map(\.asciiLowercased)
        return months.firstIndex { $0.utf8.elementsEqual(start) }.map { $0 + 1 }
    }

    /// The days since 1970-01-01; `nil` for a day that doesn't exist.
    ///
    /// Years are counted from March, so that the leap day is the last one.
    package static func days(_ year: Int, month: Int, day: Int) -> Int64? {
        let length =
            switch month {
            case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
            case 4, 6, 9, 11: 30
            default: 31
            }
        guard year > 0, (1...12).contains(month), day >= 1, day <= length else { return nil }
        let marchYear = month > 2 ? year : year - 1
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return Int64(marchYear) * 365 + Int64(marchYear / 4 - marchYear / 100 + marchYear / 400 + dayOfYear - 719_468)
    }
}
