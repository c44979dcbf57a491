// SPDX-License-Identifier: MIT

import Foundation
import TestSupport
import Testing

@testable import TargetKit

/// Values and the form they become. Array, dictionary, class and option rows are as Alamofire documents its encoder;
/// numbers and dates are written as ``URLEncoding`` writes them.
@Suite("URLEncodedFormEncoder, value by value", .throttled)
struct URLEncodedFormEncoderConformanceTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let value: @Sendable () -> any Encodable
        let form: String
        let encoder: URLEncodedFormEncoder

        init(
            _ value: @autoclosure @escaping @Sendable () -> any Encodable,
            _ form: String,
            _ encoder: URLEncodedFormEncoder = .init()
        ) {
            self.value = value
            self.encoder = encoder
            self.form = form
        }

        var testDescription: String { form.debugDescription }
    }

    /// A coding key with any text.
    struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ text: String) { stringValue = text }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    @Test("A value becomes a form", arguments: strings + values + containers)
    func form(row: Row) throws {
        let text: String = try row.encoder.encode(row.value())
        #expect(text == row.form)
    }

    @Test("Each rule can be set", arguments: options)
    func rule(row: Row) throws {
        let bytes: Data = try row.encoder.encode(row.value())
        #expect(String(decoding: bytes, as: UTF8.self) == row.form)
    }

    static let strings: [Row] = [
        Row(["foo": "bar"], "foo=bar"), Row(["foo": ""], "foo="), Row(["": "bar"], "=bar"),
        Row([" foo ": " bar "], "%20foo%20=%20bar%20"), Row(["+foo+": "+bar+"], "%2Bfoo%2B=%2Bbar%2B"),
        Row(["?foo?": "?bar?"], "?foo?=?bar?"), Row(["foo": "/bar/baz/qux"], "foo=/bar/baz/qux"),
        Row(["percent%": "%25"], "percent%25=%2525"),
        Row(["reserved": ":#[]@!$&'()*+,;="], "reserved=%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D"),
        Row(["illegal": " \"#%<>[]\\^`{}|"], "illegal=%20%22%23%25%3C%3E%5B%5D%5C%5E%60%7B%7D%7C"),
        Row(["unreserved": "-._~"], "unreserved=-._~"), Row(["digits": "0123456789"], "digits=0123456789"),
        Row(["lower": "abcdefghijklmnopqrstuvwxyz"], "lower=abcdefghijklmnopqrstuvwxyz"),
        Row(["upper": "ABCDEFGHIJKLMNOPQRSTUVWXYZ"], "upper=ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
        Row(["french": "français"], "french=fran%C3%A7ais"),
        Row(["japanese": "日本語"], "japanese=%E6%97%A5%E6%9C%AC%E8%AA%9E"),
        Row(["arabic": "العربية"], "arabic=%D8%A7%D9%84%D8%B9%D8%B1%D8%A8%D9%8A%D8%A9"),
        Row(["emoji": "😃"], "emoji=%F0%9F%98%83"), Row(["a=b": "c=d"], "a%3Db=c%3Dd"),
        Row(["a[b]": "c"], "a%5Bb%5D=c"), Row(["crlf": "a\r\nb"], "crlf=a%0D%0Ab"),
        Row(["nul": "\u{0}"], "nul=%00"), Row(["quote": "\"'"], "quote=%22%27"),
        Row(["url": "https://a.b/c?d=e&f#g"], "url=https%3A//a.b/c?d%3De%26f%23g"),
        Row(["é": "e\u{301}"], "%C3%A9=e%CC%81"), Row(["q": "a b+c"], "q=a%20b%2Bc"), Row(["x": "null"], "x=null"),
    ]

    static let values: [Row] = [
        Row(["v": 0], "v=0"), Row(["v": -1], "v=-1"), Row(["v": Int.max], "v=9223372036854775807"),
        Row(["v": Int.min], "v=-9223372036854775808"), Row(["v": Int8(1)], "v=1"), Row(["v": Int16(1)], "v=1"),
        Row(["v": Int32(1)], "v=1"), Row(["v": Int64.min], "v=-9223372036854775808"), Row(["v": UInt(1)], "v=1"),
        Row(["v": UInt8(255)], "v=255"), Row(["v": UInt16(1)], "v=1"), Row(["v": UInt32(1)], "v=1"),
        Row(["v": UInt64.max], "v=18446744073709551615"), Row(["v": 1.0], "v=1"), Row(["v": 1.1], "v=1.1"),
        Row(["v": 0.1 + 0.2], "v=0.30000000000000004"), Row(["v": 1e20], "v=1e%2B20"),
        Row(["v": 1.5e-7], "v=1.5e-07"), Row(["v": -0.5], "v=-0.5"), Row(["v": Float(1)], "v=1"),
        Row(["v": Float(0.1)], "v=0.1"), Row(["v": Decimal(1)], "v=1"),
        Row(["v": Decimal(1123456) / 1_000_000], "v=1.123456"), Row(["v": true], "v=1"), Row(["v": false], "v=0"),
        Row(["v": Data("data".utf8)], "v=ZGF0YQ%3D%3D"), Row(["v": Data()], "v="),
        Row(["v": Date(timeIntervalSinceReferenceDate: 123.456)], "v=978307323.456"),
        Row(["v": Date(timeIntervalSince1970: 0)], "v=0"),
        Row(["v": URL(string: "https://a.b/c?d=e")], "v=https%3A//a.b/c?d%3De"),
        Row(["v": UUID(uuidString: "e621e1f8-c36c-495a-93fc-0c247a3e6e5f")], "v=E621E1F8-C36C-495A-93FC-0C247A3E6E5F"),
        Row(["v": Suit.hearts], "v=hearts"), Row(["v": Level.high], "v=3"), Row(["v": String?.some("a")], "v=a"),
    ]

    static let containers: [Row] = [
        Row([String: String](), ""), Row(["a": [Int]()], ""), Row(["a": [String: Int]()], ""),
        Row(["a": Int?.none], ""), Row(["a": 1, "b": nil] as [String: Int?], "a=1"),
        Row(["b": 1, "a": 2, "c": 3], "a=2&b=1&c=3"),
        Row(["b": 1, "B": 2, "a": 3, "A": 4, "_": 5], "A=4&B=2&_=5&a=3&b=1"),
        Row(["a1": 1, "a": 2, "a0": 3], "a=2&a0=3&a1=1"),
        Row(["foo&bar": "baz&qux", "foobar": "bazqux"], "foo%26bar=baz%26qux&foobar=bazqux"),
        Row(["a": [3, 1, 2]], "a%5B%5D=3&a%5B%5D=1&a%5B%5D=2"), Row(["a": ["b": "b"]], "a%5Bb%5D=b"),
        Row(["a": ["b": ["c": ["d": 1]]]], "a%5Bb%5D%5Bc%5D%5Bd%5D=1"),
        Row(["a": [[1, 2], [3]]], "a%5B%5D%5B%5D=1&a%5B%5D%5B%5D=2&a%5B%5D%5B%5D=3"),
        Row(["a": [["b": 1], ["c": 2]]], "a%5B%5D%5Bb%5D=1&a%5B%5D%5Bc%5D=2"),
        Row(["a": [["z": 1], ["b": 2]]], "a%5B%5D%5Bz%5D=1&a%5B%5D%5Bb%5D=2"),
        Row(["a": [true, false]], "a%5B%5D=1&a%5B%5D=0"), Row(["a": [1.0, 2.5]], "a%5B%5D=1&a%5B%5D=2.5"),
        Row(["a": ["x y"]], "a%5B%5D=x%20y"), Row(["a": [1, nil, 3]] as [String: [Int?]], "a%5B%5D=1&a%5B%5D=3"),
        Row(["a b": ["c d": 1]], "a%20b%5Bc%20d%5D=1"), Row(["a": [Data([1])]], "a%5B%5D=AQ%3D%3D"),
        Row(["a": ["c": 3, "b": 2, "a": 1]], "a%5Ba%5D=1&a%5Bb%5D=2&a%5Bc%5D=3"), Row([1: "a", 2: "b"], "1=a&2=b"),
        Row(
            Whole(),
            "five%5Ba%5D=a&four%5B%5D=1&four%5B%5D=2&four%5B%5D=3&one=one&seven%5Ba%5D=a&six%5Ba%5D%5Bb%5D=b&three=1&two=2"
        ),
        Row(Base(), "one=one&three=1&two=2"),
        Row(Derived(), "five%5Ba%5D=a&five%5Bb%5D=b&four%5B%5D=1&four%5B%5D=2&four%5B%5D=3&one=one&three=1&two=2"),
        Row(SuperKeyed(), "five%5Ba%5D=a&five%5Bb%5D=b&four%5Bfive%5D=2&four%5Bfour%5D=one"),
        Row(
            ByHand(),
            "root%5B%5D%5B%5D%5B%5D=1&root%5B%5D%5B%5D%5B%5D=2&root%5B%5D%5B%5D%5B%5D=3&root%5B%5D%5B%5D=1&root%5B%5D%5B%5D=2&root%5B%5D%5B%5D=3&root%5B%5D%5Ba%5D%5Bstring%5D=string"
        ),
        Row(InheritingSuper(), "name=child&one=one&three=1&two=2"),
        Row(SuperInList(), "list%5B%5D=1&list%5B%5D%5Bone%5D=one&list%5B%5D%5Bthree%5D=1&list%5B%5D%5Btwo%5D=2"),
        Row(Maybe(name: nil, age: 3), "age=3"), Row(Maybe(name: "x", age: nil), "name=x"),
        Row(Wrapper(inner: 5), "inner=5"), Row(Twice(), "a=2"), Row(EmptyStruct(), ""), Row(NilByHand(), ""),
        Row(Merged(), "m%5Ba%5D=1&m%5Bb%5D=2"), Row(AllNil(), ""),
    ]

    static let options: [Row] = [
        Row(["a": [1, 2]], "a%5B%5D=1&a%5B%5D=2", .init(arrayEncoding: .brackets)),
        Row(["a": [1, 2]], "a=1&a=2", .init(arrayEncoding: .plain)),
        Row(["a": [1, 2]], "a%5B0%5D=1&a%5B1%5D=2", .init(arrayEncoding: .indexed)),
        Row(
            ["foo": [["bar": 2], ["qux": 3], ["quy": 4]]],
            "foo%5B0%5D%5Bbar%5D=2&foo%5B1%5D%5Bqux%5D=3&foo%5B2%5D%5Bquy%5D=4",
            .init(arrayEncoding: .indexed)
        ),
        Row(
            ["foo": [["bar": true], ["qux": false]]],
            "foo%5B0%5D%5Bbar%5D=1&foo%5B1%5D%5Bqux%5D=0",
            .init(arrayEncoding: .indexed)
        ),
        Row(
            ["foo": [Base()]],
            "foo%5B0%5D%5Bone%5D=one&foo%5B0%5D%5Bthree%5D=1&foo%5B0%5D%5Btwo%5D=2",
            .init(arrayEncoding: .indexed)
        ),
        Row(
            Derived(),
            "five%5Ba%5D=a&five%5Bb%5D=b&four%5B0%5D=1&four%5B1%5D=2&four%5B2%5D=3&one=one&three=1&two=2",
            .init(arrayEncoding: .indexed)
        ),
        Row(
            Whole(),
            "five%5Ba%5D=a&four%5B0%5D=1&four%5B1%5D=2&four%5B2%5D=3&one=one&seven%5Ba%5D=a&six%5Ba%5D%5Bb%5D=b&three=1&two=2",
            .init(arrayEncoding: .indexed)
        ),
        Row(
            ByHand(),
            "root%5B0%5D%5B0%5D=1&root%5B0%5D%5B1%5D=2&root%5B0%5D%5B2%5D=3&root%5B1%5D%5Ba%5D%5Bstring%5D=string&root%5B2%5D%5B0%5D%5B0%5D=1&root%5B2%5D%5B0%5D%5B1%5D=2&root%5B2%5D%5B0%5D%5B2%5D=3",
            .init(arrayEncoding: .indexed)
        ),
        Row(
            SuperKeyed(),
            "five%5Ba%5D=a&five%5Bb%5D=b&four%5Bfive%5D=2&four%5Bfour%5D=one",
            .init(arrayEncoding: .indexed)
        ),
        Row(
            ["a": Array(0...10)],
            "a%5B0%5D=0&a%5B1%5D=1&a%5B2%5D=2&a%5B3%5D=3&a%5B4%5D=4&a%5B5%5D=5&a%5B6%5D=6&a%5B7%5D=7&a%5B8%5D=8&a%5B9%5D=9&a%5B10%5D=10",
            .init(arrayEncoding: .indexed)
        ),
        Row(["a": [1, nil, 3]] as [String: [Int?]], "a%5B0%5D=1&a%5B1%5D=3", .init(arrayEncoding: .indexed)),
        Row(
            Whole(),
            "one=one&two=2&three=1&four%5B%5D=1&four%5B%5D=2&four%5B%5D=3&five%5Ba%5D=a&six%5Ba%5D%5Bb%5D=b&seven%5Ba%5D=a",
            .init(alphabetizeKeyValuePairs: false)
        ),
        Row(["bool": true], "bool=true", .init(boolEncoding: .literal)),
        Row(["bool": [false]], "bool%5B%5D=false", .init(boolEncoding: .literal)),
        Row(["bool": true], "bool=1", .init(boolEncoding: .numeric)),
        Row(
            ["date": Date(timeIntervalSinceReferenceDate: 123.456)],
            "date=978307323.456",
            .init(dateEncoding: .secondsSince1970)
        ),
        Row(
            ["date": Date(timeIntervalSinceReferenceDate: 123.456)],
            "date=978307323456",
            .init(dateEncoding: .millisecondsSince1970)
        ),
        Row(
            ["date": Date(timeIntervalSinceReferenceDate: 123.456)],
            "date=2001-01-01T00%3A02%3A03Z",
            .init(dateEncoding: .iso8601)
        ),
        Row(
            ["date": Date(timeIntervalSinceReferenceDate: 123.456)],
            "date=2001-01-01%2000%3A02%3A03.4560",
            .init(dateEncoding: .custom { URLEncodingRulesTests.formatter.string(from: $0) })
        ),
        Row(
            ["date": Date(timeIntervalSinceReferenceDate: 123.456)],
            "date=123.456",
            .init(dateEncoding: .custom { "\($0.timeIntervalSinceReferenceDate)" })
        ),
        Row(["oneTwoThree": "oneTwo"], "one_two_three=oneTwo", .init(keyEncoding: .convertToSnakeCase)),
        Row(["_oneTwoThree_": "oneTwo"], "_one_two_three_=oneTwo", .init(keyEncoding: .convertToSnakeCase)),
        Row(["myURLPath": "oneTwo"], "my_url_path=oneTwo", .init(keyEncoding: .convertToSnakeCase)),
        Row(["userID": "oneTwo"], "user_id=oneTwo", .init(keyEncoding: .convertToSnakeCase)),
        Row(["a": "oneTwo"], "a=oneTwo", .init(keyEncoding: .convertToSnakeCase)),
        Row(["": "oneTwo"], "=oneTwo", .init(keyEncoding: .convertToSnakeCase)),
        Row(["aB": "oneTwo"], "a_b=oneTwo", .init(keyEncoding: .convertToSnakeCase)),
        Row(["already_snake": "oneTwo"], "already_snake=oneTwo", .init(keyEncoding: .convertToSnakeCase)),
        Row(["one2Three": "oneTwo"], "one2_three=oneTwo", .init(keyEncoding: .convertToSnakeCase)),
        Row(["oneTwoThree": "oneTwo"], "oneTwoThree=oneTwo", .init(keyEncoding: .useDefaultKeys)),
        Row(["oneTwoThree": "oneTwo"], "A=oneTwo", .init(keyEncoding: .custom { _ in Name("A") })),
        Row(["k": "oneTwo"], "k%20%26=oneTwo", .init(keyEncoding: .custom { Name($0[0].stringValue + " &") })),
        Row(
            ["outerKey": ["innerKey": [1]]],
            "outer_key%5Binner_key%5D%5B%5D=1",
            .init(keyEncoding: .convertToSnakeCase)
        ),
        Row(
            ["a": ["b": [1]]],
            "1a%5B2b%5D%5B%5D=1",
            .init(keyEncoding: .custom { Name("\($0.count)" + $0[$0.count - 1].stringValue) })
        ),
        Row(["bKey": 1, "B": 2], "b=2&bkey=1", .init(keyEncoding: .custom { Name($0[0].stringValue.lowercased()) })),
        Row(["spaces": "replace with spaces"], "spaces=replace+with+spaces", .init(encodesSpacesAsPlus: true)),
        Row(["a b": ["c d": "e+f"]], "a+b%5Bc+d%5D=e%2Bf", .init(encodesSpacesAsPlus: true)),
        Row(["a b": " "], "a%20b=%20", .init(encodesSpacesAsPlus: false)),
    ]
}
