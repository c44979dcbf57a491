// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TestSupport
import Testing

/// Through a store whose clock stands before every date that RFC 6265 §5.1.1 can name, so that none has passed.
@Suite("The Expires of a cookie", .throttled)
struct CookieDateTests {
    private func expiry(_ text: String) throws -> Date? {
        let store = CookieStore(now: { Date(timeIntervalSince1970: -20_000_000_000) })
        store.store(["a=b; Expires=\(text)"], from: try #require(URL(string: "https://example.org/")))
        return try #require(store.cookies.first).expires
    }

    @Test(
        "Its parts are read in any order, with almost any delimiters",
        arguments: [
            // The three formats of RFC 9110 §5.6.7, and the one that Netscape wrote.
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777),
            ("Sun, 06-Nov-1994 08:49:37 GMT", 784_111_777),
            // No weekday, no zone, or ones that are wrong: both are passed over.
            ("06 Nov 1994 08:49:37", 784_111_777),
            ("Fri, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Sun, 06 Nov 1994 08:49:37 PST", 784_111_777),
            ("Sun, 06 Nov 1994 08:49:37 +0200", 784_111_777),
            ("Sun, 06 Nov 1994 08:49:37 GMT+02:00", 784_111_777),
            // Any order. The first number that can be a day is one.
            ("08:49:37 06 Nov 1994", 784_111_777),
            ("Nov 6 1994 08:49:37", 784_111_777),
            ("1994 Nov 06 08:49:37", 784_111_777),
            ("08:49:37 1994 6 november", 784_111_777),
            ("6 94 Nov 08:49:37", 784_111_777),
            // Upper and lower case, longer names, letters after a number.
            ("06 NOV 1994 08:49:37", 784_111_777),
            ("06 nOvEmBeR 1994 08:49:37", 784_111_777),
            ("06 Novz 1994 08:49:37", 784_111_777),
            ("6th Nov 1994AD 08:49:37UTC", 784_111_777),
            ("6: Nov 1994: 08:49:37", 784_111_777),
            ("06 Nov 1994 08:49:37:99", 784_111_777),
            ("06 Nov 1994 8:49:37", 784_111_777),
            ("6 Nov 1994 8:49:37.250", 784_111_777),
            // Delimiters: tab, %x20-2F, %x3B-40 but for the semicolon, %x5B-60, %x7B-7E.
            ("06\tNov\t1994\t08:49:37", 784_111_777),
            ("06!Nov\"1994#08:49:37", 784_111_777),
            ("06<Nov=1994>08:49:37", 784_111_777),
            ("06[Nov]1994^08:49:37", 784_111_777),
            ("06{Nov|1994~08:49:37", 784_111_777),
            ("--06--Nov--1994--08:49:37--", 784_111_777),
            ("Sun, 06/Nov/1994 08:49:37", 784_111_777),
            ("é 06 Nov 1994 08:49:37", 784_111_777),
            // What comes after all four are found does not count.
            ("06 Nov 1994 08:49:37 07 Dec 1995 10:00:00", 784_111_777),
            // One digit of each part of the time is enough.
            ("1 Mar 2026 1:2:3", 1_772_326_923),
            // Years of two digits: 70 to 99 are of the last century, 00 to 69 of this one.
            ("01 Jan 70 00:00:00", 0),
            ("31 Dec 69 23:59:59", 3_155_759_999),
            ("31 Dec 99 23:59:59", 946_684_799),
            ("29 Feb 00 00:00:00", 951_782_400),
            ("29 Feb 000 00:00:00", 951_782_400),
            // Leap days, and the first and last date.
            ("29 Feb 2024 12:00:00", 1_709_208_000),
            ("29 Feb 2000 00:00:00", 951_782_400),
            ("28 Feb 2100 00:00:00", 4_107_456_000),
            ("01 Mar 1900 00:00:00", -2_203_891_200),
            ("01 Jan 1601 00:00:00", -11_644_473_600),
            ("31 Dec 9999 23:59:59", 253_402_300_799),
            ("Tue, 07-Aug-2007 08:04:19 GMT", 1_186_473_859),
        ]
    )
    func reads(text: String, seconds: Double) throws {
        #expect(try expiry(text) == Date(timeIntervalSince1970: seconds))
    }

    @Test(
        "An invalid date makes a session cookie",
        arguments: [
            "", "   ", "tomorrow", "0", "784111777", "1994-11-06T08:49:37Z",
            // A piece is missing.
            "06 Nov 1994", "06 Nov 08:49:37", "06 1994 08:49:37", "Nov 1994 08:49:37",
            // A piece is out of its range, or has too many digits.
            "00 Nov 1994 08:49:37", "32 Nov 1994 08:49:37", "06 Nov 1994 24:00:00", "06 Nov 1994 08:60:00",
            "06 Nov 1994 08:49:60", "06 Nov 1600 08:49:37", "06 Nov 19940 08:49:37", "006 Nov 1994 08:49:37",
            "06 Nov 1994 008:49:37", "06 Nov 1994 08:049:37", "06 Nov 1994 08:49:370", "06 Nov 1994 08:49",
            "06 Nov 1994 08::37", "06 Nov 1994 a8:49:37", "06 Nov 4 08:49:37", "06 Now 1994 08:49:37",
            "06 No 1994 08:49:37",
            "06 xNov 1994 08:49:37",
            // There is no such day.
            "31 Nov 1994 08:49:37", "30 Feb 2024 00:00:00", "29 Feb 2023 00:00:00", "29 Feb 1900 00:00:00",
            "29 Feb 2100 00:00:00", "31 Apr 2026 00:00:00",
            // No delimiter between month and year.
            "06 Nov1994 08:49:37",
        ]
    )
    func refuses(text: String) throws {
        #expect(try expiry(text) == nil)
    }

    @Test("An invalid Expires does not replace an earlier one")
    func keepsEarlierDate() throws {
        let date = try expiry("06 Nov 1994 08:49:37; Expires=never; Expires=")
        #expect(date == Date(timeIntervalSince1970: 784_111_777))
    }
}
