// SPDX-License-Identifier: MIT
import Foundation
@testable import TargetKit
import TargetKitJSON
import TestSupport
import Testing

@Suite("JSONNumber", .throttled)
struct JSONNumberTests {
    @Test(
        "Texts of the same decimal are one number, with one hash",
        arguments: [
            ["1", "1.0", "1e0", "10e-1", "0.1e1", "1.000000000000000000000000000"], ["0", "-0", "0.0", "0e5", "-0e-9"],
            ["1.5", "1.50", "15e-1", "0.15e1"], ["18446744073709551615", "18446744073709551615.0"],
            ["1e400", "10e399", "0.1e401"], ["1.00000000000000000000001", "100000000000000000000001e-23"],
            ["1234567890123456700", "1.2345678901234567e18"], ["100000000000000000000", "1e20"],
            ["-9223372036854775808", "-9223372036854775808.00"],
        ]
    )
    func sameDecimals(texts: [String]) throws {
        let numbers = try texts.map { try #require(JSONNumber(text: $0)) }
        #expect(Set(numbers).count == 1)
        #expect(Set(numbers.map(\.hashValue)).count == 1)
    }

    @Test(
        "Texts of different decimals are different numbers",
        arguments: [
            ("1", "-1"), ("9007199254740992", "9007199254740993"), ("0.1", "0.1000000000000000055"), ("1e400", "1e401"),
            ("9223372036854775807", "9223372036854775808"), ("18446744073709551615", "18446744073709551616"),
            ("1e400", "-1e400"), ("0.30000000000000004", "0.3"), ("1", "1.0000000000000000000001"),
        ]
    )
    func differentDecimals(one: String, other: String) throws {
        #expect(try #require(JSONNumber(text: one)) != #require(JSONNumber(text: other)))
    }

    @Test(
        "Only a text in JSON's grammar is a number",
        arguments: ["", " 1", "1 ", "+1", "01", ".5", "1.", "0x1", "NaN", "\"1\"", "1\n", "\u{FEFF}1"]
    )
    func refusedTexts(text: String) {
        #expect(JSONNumber(text: text) == nil)
    }

    @Test(
        "A number is an integer of each width when it is one and fits",
        arguments: [
            ("7", 7, 7), ("7.0", 7, 7), ("7e2", 700, 700), ("7.5", nil, nil), ("-1", -1, nil),
            ("9223372036854775807", .max, 9_223_372_036_854_775_807),
            ("9223372036854775808", nil, 9_223_372_036_854_775_808),
            ("18446744073709551615", nil, .max), ("18446744073709551616", nil, nil),
            ("-9223372036854775808", .min, nil),
            ("-9223372036854775809", nil, nil), ("1e400", nil, nil), ("1e-400", nil, nil),
        ] as [(String, Int64?, UInt64?)]
    )
    func integers(text: String, signed: Int64?, unsigned: UInt64?) throws {
        let number = try #require(JSONNumber(text: text))
        #expect(number.int64 == signed)
        #expect(number.uint64 == unsigned)
        #expect(number.int == signed.map { Int($0) })
    }

    @Test("A number is the nearest Double, and none beyond all of them")
    func doubles() throws {
        #expect(JSONNumber(text: "0.1")?.double == 0.1)
        #expect(JSONNumber(text: "0.1000000000000000055")?.double == 0.1)
        #expect(JSONNumber(text: "18446744073709551615")?.double == 0x1p64)
        #expect(JSONNumber(text: "1e400")?.double == nil)
        #expect(JSONNumber(text: "1e-400")?.double == 0)
        #expect(JSONNumber(text: "-0")?.double?.sign == .minus)
        #expect(JSONNumber(Double.nan) == nil)
        #expect(JSONNumber(-Double.infinity) == nil)
        #expect(JSONNumber(0.1) == JSONNumber(text: "0.1"))
        #expect(JSONNumber(1.2345678901234567e18) == JSONNumber(text: "1234567890123456800"))
        #expect(JSONNumber(1e18) == JSONNumber(text: "1000000000000000000"))
        #expect(JSONNumber(Double.greatestFiniteMagnitude)?.double == .greatestFiniteMagnitude)
    }

    @Test(
        "A decimal keeps 38 digits",
        arguments: [
            "0.1", "123456789.123456789", "1234567890123456789012345678.0123456789", "-0.000000000000000000000001",
        ]
    )
    func decimals(text: String) throws {
        let decimal = try #require(Decimal(string: text))
        #expect(JSONNumber(text: text)?.decimal == decimal)
        #expect(JSONNumber(decimal) == JSONNumber(text: text))
    }

    @Test("NaN is no decimal number")
    func notANumber() {
        #expect(JSONNumber(Decimal.nan) == nil)
    }

    @Test("A number in the source is the number that it says")
    func literals() {
        #expect((12 as JSONNumber).description == "12")
        #expect((1.25 as JSONNumber).description == "1.25")
        #expect(JSONNumber(UInt64.max).description == "18446744073709551615")
        #expect(JSONNumber(Int64.min).description == "-9223372036854775808")
    }
}
