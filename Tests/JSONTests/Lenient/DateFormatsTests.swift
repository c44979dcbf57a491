// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitJSON
import TestSupport
import Testing

@Suite("Dates in several formats", .throttled)
struct DateFormatsTests {
    static func date(_ json: String, _ strategy: JSONDecoder.DateDecodingStrategy = .severalFormats()) throws -> Date {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = strategy
        return try decoder.decode([Date].self, from: Data("[\(json)]".utf8))[0]
    }

    @Test(
        "A date in any of the forms that servers use is that moment",
        arguments: [
            ("2024-05-06T07:08:09Z", 1_714_979_289), ("2024-05-06T07:08:09.5Z", 1_714_979_289.5),
            ("2024-05-06T07:08:09.123456789Z", 1_714_979_289.123456789), ("2024-05-06T07:08:09,25Z", 1_714_979_289.25),
            ("2024-05-06t07:08:09z", 1_714_979_289), ("2024-05-06T07:08Z", 1_714_979_280),
            ("2024-05-06T09:08:09+02:00", 1_714_979_289),
            ("2024-05-06T09:08:09+0200", 1_714_979_289), ("2024-05-06T09:08:09+02", 1_714_979_289),
            ("2024-05-06T01:38:09-05:30", 1_714_979_289), ("2024-05-06T07:08:09", 1_714_979_289),
            ("2024-05-06 07:08:09", 1_714_979_289),
            ("2024-05-06 07:08:09 +0000", 1_714_979_289), ("2024-05-06 07:08", 1_714_979_280),
            ("2024-05-06", 1_714_953_600),
            ("2024/05/06", 1_714_953_600), ("2024/05/06 07:08:09", 1_714_979_289), (" 2024-05-06 ", 1_714_953_600),
            ("Mon, 06 May 2024 07:08:09 GMT", 1_714_979_289), ("Mon, 6 May 2024 07:08:09 GMT", 1_714_979_289),
            ("06 May 2024 07:08:09 UTC", 1_714_979_289), ("Mon, 06 May 2024 09:08:09 +0200", 1_714_979_289),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("1970-01-01", 0), ("1969-12-31T23:59:59Z", -1),
            ("2000-02-29", 951_782_400),
            ("1900-03-01", -2_203_891_200), ("0001-01-01", -62_135_596_800), ("9999-12-31T23:59:59Z", 253_402_300_799),
            ("2016-12-31T23:59:60Z", 1_483_228_800), ("1714979289", 1_714_979_289), ("1714979289000", 1_714_979_289),
            ("1714979289.5", 1_714_979_289.5), ("-1", -1), ("20240115", 1_705_276_800), ("19700823", 20_217_600),
            ("20240506070809", 1_714_979_289), ("20000229", 951_782_400), ("31536000", 31_536_000),
            ("20217600", 20_217_600), ("0", 0),
        ]
    )
    func texts(text: String, seconds: Double) throws {
        #expect(abs(try Self.date("\"\(text)\"").timeIntervalSince1970 - seconds) < 0.000_001)
    }

    @Test(
        "Each month is read by its English name",
        arguments: zip(
            ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"],
            ["01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12"]
        )
    )
    func months(name: String, number: String) throws {
        #expect(try Self.date("\"05 \(name) 2024 00:00:00 GMT\"") == Self.date("\"2024-\(number)-05\""))
    }

    @Test(
        "A number is seconds since 1970, or milliseconds from 10^11 on",
        arguments: [
            ("0", 0), ("1714979289", 1_714_979_289), ("1714979289.25", 1_714_979_289.25),
            ("1714979289250", 1_714_979_289.25),
            ("99999999999", 99_999_999_999), ("100000000000", 100_000_000), ("-5", -5),
            ("17999999", 17_999_999), ("23000101", 23_000_101), ("20217600", 20_217_600), ("18316800", 18_316_800),
            ("20240115.5", 20_240_115.5), ("-20240115", -20_240_115),
        ]
    )
    func numbers(text: String, seconds: Double) throws {
        #expect(try Self.date(text).timeIntervalSince1970 == seconds)
    }

    @Test(
        "A number with the digits of a day, or of a day and its time, is that date",
        arguments: [
            ("20240115", 1_705_276_800), ("20240115.0", 1_705_276_800), ("18000101", -5_364_662_400),
            ("22991231", 10_413_705_600),
            ("20240506070809", 1_714_979_289),
        ]
    )
    func calendarNumbers(text: String, seconds: Double) throws {
        #expect(try Self.date(text).timeIntervalSince1970 == seconds)
        #expect(try JSONValue(parsing: text).lenient.date?.timeIntervalSince1970 == seconds)
    }

    @Test(
        "What is no date is a decoding error",
        arguments: [
            #""""#, #"" ""#, #""x""#, #""2024-05""#, #""2024-13-01""#, #""2024-00-01""#, #""2024-02-30""#,
            #""2023-02-29""#, #""1900-02-29""#, #""2024-05-32""#, #""2024-5-6""#, #""2024-05/06""#, #""2024-05-06T""#,
            #""2024-05-06T24:00:00Z""#, #""2024-05-06T07:60:00Z""#, #""2024-05-06T07:08:61Z""#,
            #""2024-05-06T07:08:09+25:00""#,
            #""2024-05-06T07:08:09+02:""#, #""2024-05-06T07:08:09ZZ""#, #""2024-05-06X07:08:09""#,
            #""Mon, 06 Mai 2024 07:08:09 GMT""#,
            #""Mon, 31 Feb 2024 07:08:09 GMT""#, #""Mon, 06 May 2024""#, #""Mon, 06 May 2024 07:08:09 XST""#,
            #""0000-01-01""#,
            #""20240230""#, #""20241301""#, "20240230", #""20240506246060""#, "20240506070861", #""2024""#,
            #""202405""#,
            #""1e400""#, "1e300", "true", "null", "{}", #""2024-05-06é""#, #""--5""#,
        ]
    )
    func refused(json: String) {
        #expect(throws: DecodingError.self) { try Self.date(json) }
    }

    @Test("A time without a zone is in the zone that was given, summer time included")
    func zone() throws {
        let berlin = try #require(TimeZone(identifier: "Europe/Berlin"))
        let strategy = JSONDecoder.DateDecodingStrategy.severalFormats(timeZone: berlin)
        #expect(try Self.date(#""2024-05-06 09:08:09""#, strategy).timeIntervalSince1970 == 1_714_979_289)
        #expect(try Self.date(#""2024-01-06 08:08:09""#, strategy).timeIntervalSince1970 == 1_704_524_889)
        #expect(try Self.date(#""2024-03-31 03:00:00""#, strategy).timeIntervalSince1970 == 1_711_846_800)
        #expect(try Self.date(#""2024-03-31 01:30:00""#, strategy).timeIntervalSince1970 == 1_711_845_000)
        #expect(try Self.date(#""2024-05-06T07:08:09Z""#, strategy).timeIntervalSince1970 == 1_714_979_289)
        #expect(try Self.date(#""20240506090809""#, strategy).timeIntervalSince1970 == 1_714_979_289)
        #expect(try Self.date("20240506090809", strategy).timeIntervalSince1970 == 1_714_979_289)
        #expect(try Self.date("1714979289", strategy).timeIntervalSince1970 == 1_714_979_289)
    }

    @Test("Every day from 1900 to 2100 is the day after the one before")
    func days() throws {
        let start = -2_208_988_800.0
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        for day in stride(from: 0, to: 73_414, by: 13) {
            let date = Date(timeIntervalSince1970: start + Double(day) * 86_400)
            let parts = calendar.dateComponents([.year, .month, .day], from: date)
            let text = [parts.year, parts.month, parts.day].map { String(format: "%02d", $0 ?? 0) }.joined(
                separator: "-"
            )
            #expect(JSONValue.string(text).lenient.date == date)
        }
    }
}
