// SPDX-License-Identifier: MIT
import Foundation
import TargetKitPlugins
import TestSupport
import Testing

@Suite("The date of a header field", .throttled)
struct HTTPDateTests {
    /// 2026-11-21 00:00:00
    private static let now = Date(timeIntervalSince1970: 1_795_219_200)

    @Test(
        "Dates after 2038 are read, whatever the width of Int",
        arguments: [
            ("Thu, 31 Dec 2099 23:59:59 GMT", 4_102_444_799), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ] as [(String, Double)]
    )
    func late(text: String, seconds: Double) {
        let date = Date(timeIntervalSince1970: seconds)
        #expect(HTTPDate.parse(text, now: Date(timeIntervalSince1970: 0)) == date)
        #expect(CookieDate.parse(text) == date)
    }

    @Test(
        "The three forms of RFC 9110 are read",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Sat, 29 Feb 2020 23:59:59 GMT", 1_583_020_799), ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799), ("sun, 06 NOV 1994 08:49:37 gmt", 784_111_777),
        ]
    )
    func forms(_ text: String, _ seconds: Double) {
        for isExact in [true, false] {
            #expect(HTTPDate.parse(text, now: Self.now, isExact: isExact) == Date(timeIntervalSince1970: seconds))
        }
    }

    @Test(
        "A date that has one of the forms almost is read unless it must be exact",
        arguments: [
            "Sun 06 Nov 1994 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun,  06 Nov 1994 08:49:37 GMT", "06 Nov 1994 08:49:37 GMT", "Son, 06 Nov 1994 08:49:37 GMT",
        ]
    )
    func inexact(_ text: String) {
        #expect(HTTPDate.parse(text, now: Self.now) == Date(timeIntervalSince1970: 784_111_777))
        #expect(HTTPDate.parse(text, now: Self.now, isExact: true) == nil)
    }

    @Test(
        "Anything else is none",
        arguments: [
            "", "1994", "GMT", "784111777", "Sun, 06 Nov 1994 GMT", "Sun, 06 Nov 1994 08:49:37",
            "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 08:49:61 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 2019 08:49:37 GMT",
            "1994-11-06T08:49:37Z",
        ]
    )
    func others(_ text: String) {
        #expect(HTTPDate.parse(text, now: Self.now) == nil)
    }

    @Test(
        "A two-digit year is at most fifty years in the future",
        arguments: [("76", 2076), ("77", 1977), ("26", 2026), ("27", 2027), ("25", 2025), ("00", 2000), ("99", 1999)]
    )
    func century(_ year: String, _ full: Int) {
        let short = HTTPDate.parse("Monday, 01-Jun-\(year) 00:00:00 GMT", now: Self.now)
        #expect(short == HTTPDate.parse("Mon, 01 Jun \(full) 00:00:00 GMT", now: Self.now))
        #expect(short != nil)
    }

    @Test("The same applies at any time", arguments: [(0, "20", 2020), (0, "21", 1921), (-3_000_000_000, "24", 1924)])
    func otherCenturies(_ seconds: Double, _ year: String, _ full: Int) {
        let now = Date(timeIntervalSince1970: seconds)
        let short = HTTPDate.parse("Monday, 01-Jun-\(year) 00:00:00 GMT", now: now)
        #expect(short == HTTPDate.parse("Mon, 01 Jun \(full) 00:00:00 GMT", now: now))
        #expect(HTTPDate.parse("Sunday, 06-Nov-94 08:49:37 GMT", now: .distantFuture) != nil)
        #expect(HTTPDate.parse("Sunday, 06-Nov-94 08:49:37 GMT", now: .distantPast) != nil)
    }
}
