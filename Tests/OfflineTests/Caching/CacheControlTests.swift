// SPDX-License-Identifier: MIT
import TestSupport
import Testing

@testable import TargetKitOffline

@Suite("Cache-Control", .throttled)
struct CacheControlTests {
    @Test(
        "A number of seconds has 64 bits, and is at most 2³¹ (RFC 9111 §1.2.2)",
        arguments: [
            ("0", 0), ("2147483647", 2_147_483_647), ("2147483648", 1 << 31), ("99999999999999999999", 1 << 31),
        ]
            as [(String, Int64)]
    )
    func seconds(text: String, expected: Int64) {
        let seconds: Int64? = CacheControl.deltaSeconds(text)
        #expect(seconds == expected)
        #expect(RequestDirectives(["Cache-Control": "max-age=\(text)"]).maxAge == expected)
    }

    @Test("max-stale without a number accepts any age")
    func anyAge() {
        let seconds: Int64 = RequestDirectives(["Cache-Control": "max-stale"]).maxStale
        #expect(seconds == 1 << 31)
    }
}
