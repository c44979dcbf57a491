// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@testable import TargetKit
import _TargetKitFiles
@testable import TargetKitJSON

/// `Int` has 32 bits on a watch with the architecture arm64_32. Types are stated where a value can exceed them: they are
/// what the compiler checks here.
@Suite("Numbers that exceed 32 bits", .throttled)
struct PlatformWidthTests {
    @Test(
        "Days and seconds have 64 bits, and dates after 2038 are read",
        arguments: [
            ("Thu, 31 Dec 2099 23:59:59 GMT", 4_102_444_799), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ] as [(String, Double)]
    )
    func dates(text: String, seconds: Double) {
        let days: Int64? = GregorianCalendar.days(9999, month: 12, day: 31)
        #expect(days == 2_932_896)
        let date = Date(timeIntervalSince1970: seconds)
        #expect(DateParser.date(text, zone: nil) == date)
        #expect(DateParser.date(date.formatted(.iso8601), zone: nil) == date)
    }

    @Test("A day and time in digits is read", arguments: [("20991231235959", 4_102_444_799)] as [(String, Double)])
    func digits(text: String, seconds: Double) {
        #expect(DateParser.date(text, zone: nil) == Date(timeIntervalSince1970: seconds))
    }

    @Test("The exponent of a number has 64 bits", arguments: ["1e999999999999", "1e-999999999999", "1e2147483648"])
    func exponents(text: String) {
        let exponent: Int64 = DecimalDigits(text).exponent
        #expect(exponent.magnitude >= 1 << 31)
        #expect(DecimalDigits(text).magnitude == nil)
    }

    @Test("The length of a certificate's element that exceeds 24 bits is refused")
    func certificate() {
        let bytes: [UInt8] = [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF, 0x30, 0x00]
        #expect(CertificateKey.subjectPublicKeyInfo(ofCertificate: Data(bytes)) == nil)
    }
}
