// SPDX-License-Identifier: MIT
import TestSupport
import Testing
import _TargetKitFiles

@Suite("Lists in header fields", .throttled)
struct ListElementsTests {
    @Test(
        "Empty elements of a list don't count (RFC 9110 §5.6.1.2)",
        arguments: [
            ("foo , ,bar,charlie", ["foo", "bar", "charlie"]), ("foo,bar", ["foo", "bar"]), ("", []), (",", []),
            (",   ,", []), ("\ta\t,b c ", ["a", "b c"]),
        ]
    )
    func lists(_ field: String, _ expected: [String]) {
        #expect(field.listElements == expected.map { $0[...] })
    }

    @Test("Random octets are read, and no element has white space or a comma at its ends", arguments: 0..<200)
    func anything(_ seed: Int) {
        var random = SystemRandomNumberGenerator()
        let octets = (0..<60).map { _ in Array("\"\\,;= \t=a\u{301}".utf8).randomElement(using: &random) ?? 0 }
        for element in String(decoding: octets, as: UTF8.self).listElements {
            #expect(!element.utf8.contains(UInt8(ascii: ",")))
            #expect(element.utf8.first?.isSpaceOrTab == false && element.utf8.last?.isSpaceOrTab == false)
        }
    }
}
