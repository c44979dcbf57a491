// SPDX-License-Identifier: MIT

import Foundation
@testable import TargetKit
import TestSupport
import Testing

/// Parameters and the JSON they become. RFC 8259 §7 says what is escaped: `"`, `\` and what is below U+0020.
@Suite("JSONEncoding, value by value", .throttled)
struct JSONEncodingConformanceTests {
    enum Suit: String { case hearts, spades }
    enum Level: Int { case low = 1, high = 3 }

    struct Row: Sendable, CustomTestStringConvertible {
        let parameters: [String: any Sendable]
        let json: String

        init(_ parameters: [String: any Sendable], _ json: String) {
            self.parameters = parameters
            self.json = json
        }

        var testDescription: String { json.debugDescription }
    }

    @Test("Parameters become JSON", arguments: strings + numbers + others + containers)
    func json(row: Row) throws {
        #expect(try JSONEncoding().data(row.parameters) == Data(row.json.utf8))
    }

    @Test("Foundation reads what was written", arguments: strings + numbers + others + containers)
    func readable(row: Row) throws {
        let pretty = try JSONEncoding(pretty: true).data(row.parameters)
        let read = try #require(try JSONSerialization.jsonObject(with: Data(row.json.utf8)) as? NSDictionary)
        #expect(try JSONSerialization.jsonObject(with: pretty) as? NSDictionary == read)
        let unsorted = try JSONEncoding(sortedKeys: false).data(row.parameters)
        #expect(try JSONSerialization.jsonObject(with: unsorted) as? NSDictionary == read)
    }

    static let strings: [Row] = [
        Row(["k": "\u{0}"], "{\"k\":\"\\u0000\"}"), Row(["k": "\u{1}"], "{\"k\":\"\\u0001\"}"),
        Row(["k": "\u{2}"], "{\"k\":\"\\u0002\"}"), Row(["k": "\u{3}"], "{\"k\":\"\\u0003\"}"),
        Row(["k": "\u{4}"], "{\"k\":\"\\u0004\"}"), Row(["k": "\u{5}"], "{\"k\":\"\\u0005\"}"),
        Row(["k": "\u{6}"], "{\"k\":\"\\u0006\"}"), Row(["k": "\u{7}"], "{\"k\":\"\\u0007\"}"),
        Row(["k": "\u{8}"], "{\"k\":\"\\b\"}"), Row(["k": "\t"], "{\"k\":\"\\t\"}"),
        Row(["k": "\n"], "{\"k\":\"\\n\"}"), Row(["k": "\u{B}"], "{\"k\":\"\\u000b\"}"),
        Row(["k": "\u{C}"], "{\"k\":\"\\f\"}"), Row(["k": "\r"], "{\"k\":\"\\r\"}"),
        Row(["k": "\u{E}"], "{\"k\":\"\\u000e\"}"), Row(["k": "\u{F}"], "{\"k\":\"\\u000f\"}"),
        Row(["k": "\u{10}"], "{\"k\":\"\\u0010\"}"), Row(["k": "\u{11}"], "{\"k\":\"\\u0011\"}"),
        Row(["k": "\u{12}"], "{\"k\":\"\\u0012\"}"), Row(["k": "\u{13}"], "{\"k\":\"\\u0013\"}"),
        Row(["k": "\u{14}"], "{\"k\":\"\\u0014\"}"), Row(["k": "\u{15}"], "{\"k\":\"\\u0015\"}"),
        Row(["k": "\u{16}"], "{\"k\":\"\\u0016\"}"), Row(["k": "\u{17}"], "{\"k\":\"\\u0017\"}"),
        Row(["k": "\u{18}"], "{\"k\":\"\\u0018\"}"), Row(["k": "\u{19}"], "{\"k\":\"\\u0019\"}"),
        Row(["k": "\u{1A}"], "{\"k\":\"\\u001a\"}"), Row(["k": "\u{1B}"], "{\"k\":\"\\u001b\"}"),
        Row(["k": "\u{1C}"], "{\"k\":\"\\u001c\"}"), Row(["k": "\u{1D}"], "{\"k\":\"\\u001d\"}"),
        Row(["k": "\u{1E}"], "{\"k\":\"\\u001e\"}"), Row(["k": "\u{1F}"], "{\"k\":\"\\u001f\"}"),
        Row(["k": "\""], "{\"k\":\"\\\"\"}"), Row(["k": "\\"], "{\"k\":\"\\\\\"}"),
        Row(["k": "/"], "{\"k\":\"/\"}"), Row(["k": "\u{7F}"], "{\"k\":\"\u{7F}\"}"),
        Row(["k": ""], "{\"k\":\"\"}"), Row(["k": "abc"], "{\"k\":\"abc\"}"), Row(["k": "a b"], "{\"k\":\"a b\"}"),
        Row(["k": "é"], "{\"k\":\"é\"}"), Row(["k": "e\u{301}"], "{\"k\":\"e\u{301}\"}"),
        Row(["k": "日本語"], "{\"k\":\"日本語\"}"), Row(["k": "😃"], "{\"k\":\"😃\"}"),
        Row(["k": "👩\u{200D}👧"], "{\"k\":\"👩\u{200D}👧\"}"), Row(["k": "\u{80}"], "{\"k\":\"\u{80}\"}"),
        Row(["k": "\u{A0}"], "{\"k\":\"\u{A0}\"}"), Row(["k": "\u{2028}"], "{\"k\":\"\u{2028}\"}"),
        Row(["k": "\u{2029}"], "{\"k\":\"\u{2029}\"}"), Row(["k": "\u{FEFF}"], "{\"k\":\"\u{FEFF}\"}"),
        Row(["k": "\u{FFFF}"], "{\"k\":\"\u{FFFF}\"}"), Row(["k": "\u{10FFFF}"], "{\"k\":\"\u{10FFFF}\"}"),
        Row(["k": "a\"b\"c"], "{\"k\":\"a\\\"b\\\"c\"}"), Row(["k": "\\\\"], "{\"k\":\"\\\\\\\\\"}"),
        Row(["k": "\\u0041"], "{\"k\":\"\\\\u0041\"}"), Row(["k": "\\n"], "{\"k\":\"\\\\n\"}"),
        Row(["k": "</script>"], "{\"k\":\"</script>\"}"), Row(["k": "a\r\nb"], "{\"k\":\"a\\r\\nb\"}"),
        Row(["k": "\t\ttab"], "{\"k\":\"\\t\\ttab\"}"), Row(["k": "nul\u{0}nul"], "{\"k\":\"nul\\u0000nul\"}"),
        Row(["k": "'single'"], "{\"k\":\"'single'\"}"),
        Row(["k": "0123456789abcdef\""], "{\"k\":\"0123456789abcdef\\\"\"}"),
        Row(["k": "0123456\\"], "{\"k\":\"0123456\\\\\"}"), Row(["k": "01234567\n"], "{\"k\":\"01234567\\n\"}"),
        Row(["k": "{}[]:,"], "{\"k\":\"{}[]:,\"}"), Row(["k": "null"], "{\"k\":\"null\"}"),
        Row(["k": "true"], "{\"k\":\"true\"}"), Row(["k": "1.0"], "{\"k\":\"1.0\"}"), Row(["": 1], "{\"\":1}"),
        Row(["a b": 1], "{\"a b\":1}"), Row(["quote\"": 1], "{\"quote\\\"\":1}"),
        Row(["back\\slash": 1], "{\"back\\\\slash\":1}"), Row(["\n": 1], "{\"\\n\":1}"), Row(["é": 1], "{\"é\":1}"),
        Row(["😃": 1], "{\"😃\":1}"), Row(["a/b": 1], "{\"a/b\":1}"), Row(["\u{1}": 1], "{\"\\u0001\":1}"),
        Row(["a.b": 1], "{\"a.b\":1}"), Row(["[0]": 1], "{\"[0]\":1}"),
    ]

    static let numbers: [Row] = [
        Row(["n": 0], "{\"n\":0}"), Row(["n": 1], "{\"n\":1}"), Row(["n": -1], "{\"n\":-1}"),
        Row(["n": Int.max], "{\"n\":9223372036854775807}"), Row(["n": Int.min], "{\"n\":-9223372036854775808}"),
        Row(["n": Int8.min], "{\"n\":-128}"), Row(["n": Int16.max], "{\"n\":32767}"),
        Row(["n": Int32.min], "{\"n\":-2147483648}"), Row(["n": Int64.max], "{\"n\":9223372036854775807}"),
        Row(["n": UInt(7)], "{\"n\":7}"), Row(["n": UInt8.max], "{\"n\":255}"),
        Row(["n": UInt16.max], "{\"n\":65535}"), Row(["n": UInt32.max], "{\"n\":4294967295}"),
        Row(["n": UInt64.max], "{\"n\":18446744073709551615}"),
        Row(["n": 9_007_199_254_740_993], "{\"n\":9007199254740993}"), Row(["n": 1.0], "{\"n\":1}"),
        Row(["n": 1.1], "{\"n\":1.1}"), Row(["n": 0.0], "{\"n\":0}"), Row(["n": -0.5], "{\"n\":-0.5}"),
        Row(["n": 0.1 + 0.2], "{\"n\":0.30000000000000004}"), Row(["n": 1e15], "{\"n\":1000000000000000}"),
        Row(["n": 1e16], "{\"n\":1e+16}"), Row(["n": 1e20], "{\"n\":1e+20}"),
        Row(["n": 1.5e300], "{\"n\":1.5e+300}"), Row(["n": 1e-5], "{\"n\":1e-05}"),
        Row(["n": 1.5e-7], "{\"n\":1.5e-07}"), Row(["n": Double.pi], "{\"n\":3.141592653589793}"),
        Row(["n": -1.0], "{\"n\":-1}"), Row(["n": Double.leastNonzeroMagnitude], "{\"n\":5e-324}"),
        Row(["n": Double.greatestFiniteMagnitude], "{\"n\":1.7976931348623157e+308}"),
        Row(["n": Float(1)], "{\"n\":1}"), Row(["n": Float(0.1)], "{\"n\":0.1}"),
        Row(["n": Float(1.5)], "{\"n\":1.5}"), Row(["n": Float(3.4e38)], "{\"n\":3.4e+38}"),
        Row(["n": Decimal(1)], "{\"n\":1}"), Row(["n": Decimal(string: "0.1")], "{\"n\":0.1}"),
        Row(["n": Decimal(string: "-12345678901234567890.123456789")], "{\"n\":-12345678901234567890.123456789}"),
        Row(
            ["n": Decimal(string: "3.14159265358979323846264338327950288")],
            "{\"n\":3.14159265358979323846264338327950288}"
        ),
        Row(["n": true], "{\"n\":true}"), Row(["n": false], "{\"n\":false}"),
        Row(["n": NSNumber(value: true)], "{\"n\":true}"), Row(["n": NSNumber(value: false)], "{\"n\":false}"),
        Row(["n": NSNumber(value: 1)], "{\"n\":1}"), Row(["n": NSNumber(value: 0)], "{\"n\":0}"),
        Row(["n": NSNumber(value: Int8(1))], "{\"n\":1}"), Row(["n": NSNumber(value: 1.5)], "{\"n\":1.5}"),
        Row(["n": NSNumber(value: Float(0.1))], "{\"n\":0.1}"),
        Row(["n": NSNumber(value: UInt64.max)], "{\"n\":18446744073709551615}"),
        Row(["n": NSDecimalNumber(string: "1.25")], "{\"n\":1.25}"),
    ]

    static let others: [Row] = [
        Row(["v": "abc".dropFirst()], "{\"v\":\"bc\"}"), Row(["v": Character("é")], "{\"v\":\"é\"}"),
        Row(["v": URL(string: "https://a.b/c?d=e")], "{\"v\":\"https://a.b/c?d=e\"}"),
        Row(
            ["v": UUID(uuidString: "e621e1f8-c36c-495a-93fc-0c247a3e6e5f")],
            "{\"v\":\"E621E1F8-C36C-495A-93FC-0C247A3E6E5F\"}"
        ),
        Row(["v": Data("data".utf8)], "{\"v\":\"ZGF0YQ==\"}"), Row(["v": Data()], "{\"v\":\"\"}"),
        Row(["v": Date(timeIntervalSince1970: 0)], "{\"v\":0}"),
        Row(["v": Date(timeIntervalSinceReferenceDate: 123.456)], "{\"v\":978307323.456}"),
        Row(["v": Suit.hearts], "{\"v\":\"hearts\"}"), Row(["v": Level.high], "{\"v\":3}"),
        Row(["v": HTTPMethod.patch], "{\"v\":\"PATCH\"}"), Row(["v": NSNull()], "{\"v\":null}"),
        Row(["v": Int?.none], "{\"v\":null}"), Row(["v": Int?.some(5)], "{\"v\":5}"),
        Row(["v": Int??.some(nil)], "{\"v\":null}"), Row(["v": [Int]?.some([1])], "{\"v\":[1]}"),
    ]

    static let containers: [Row] = [
        Row([:], "{}"), Row(["a": [Int]()], "{\"a\":[]}"), Row(["a": [String: Int]()], "{\"a\":{}}"),
        Row(["a": [[Int]()]], "{\"a\":[[]]}"), Row(["a": [1, 2, 3]], "{\"a\":[1,2,3]}"),
        Row(["a": ["b", "c"]], "{\"a\":[\"b\",\"c\"]}"),
        Row(["a": [1, "b", true, NSNull(), 1.5] as [any Sendable]], "{\"a\":[1,\"b\",true,null,1.5]}"),
        Row(["a": [1, nil] as [Int?]], "{\"a\":[1,null]}"),
        Row(["a": [nil, "x"] as [(any Sendable)?]], "{\"a\":[null,\"x\"]}"),
        Row(["a": ["b": nil, "c": 1] as [String: Int?]], "{\"a\":{\"b\":null,\"c\":1}}"),
        Row(["a": [[1, 2], [3], []]], "{\"a\":[[1,2],[3],[]]}"),
        Row(["a": ["b": ["c": ["d": 1]]]], "{\"a\":{\"b\":{\"c\":{\"d\":1}}}}"),
        Row(["a": [["b": 1], ["c": 2]]], "{\"a\":[{\"b\":1},{\"c\":2}]}"),
        Row(["b": 1, "a": 2, "c": 3], "{\"a\":2,\"b\":1,\"c\":3}"),
        Row(["b": 1, "B": 2, "a": 3, "A": 4, "": 5], "{\"\":5,\"A\":4,\"B\":2,\"a\":3,\"b\":1}"),
        Row(["a10": 1, "a2": 2, "a": 3], "{\"a\":3,\"a10\":1,\"a2\":2}"),
        Row(["é": 1, "z": 2, "😃": 4, "日": 3], "{\"z\":2,\"é\":1,\"日\":3,\"😃\":4}"),
        Row(
            ["x": ["c": 3, "b": ["z": 2, "y": 1] as [String: any Sendable], "a": 1] as [String: any Sendable]],
            "{\"x\":{\"a\":1,\"b\":{\"y\":1,\"z\":2},\"c\":3}}"
        ),
        Row(
            [
                "foo": "bar", "baz": ["a", 1, true] as [any Sendable],
                "qux": ["a": 1, "b": [2, 2], "c": [3, 3, 3]] as [String: any Sendable],
            ],
            "{\"baz\":[\"a\",1,true],\"foo\":\"bar\",\"qux\":{\"a\":1,\"b\":[2,2],\"c\":[3,3,3]}}"
        ),
        Row(["a": [2: "b", 1: "a"]], "{\"a\":{\"1\":\"a\",\"2\":\"b\"}}"),
        Row(["a": [Suit.hearts: 1]], "{\"a\":{\"hearts\":1}}"),
        Row(["a": ["z": 1, "a": 2] as KeyValuePairs<String, Int>], "{\"a\":{\"z\":1,\"a\":2}}"),
        Row(["a": ["x", "y"][...]], "{\"a\":[\"x\",\"y\"]}"), Row(["a": ContiguousArray([1])], "{\"a\":[1]}"),
        Row(["a": [true, false]], "{\"a\":[true,false]}"), Row(["a": [1.0, 2.5]], "{\"a\":[1,2.5]}"),
        Row(["a": [Suit.hearts, .spades]], "{\"a\":[\"hearts\",\"spades\"]}"),
        Row(["a": ["s": "y", "r": "x"]], "{\"a\":{\"r\":\"x\",\"s\":\"y\"}}"),
        Row(["a": [UInt8(1), 2]], "{\"a\":[1,2]}"),
    ]
}
