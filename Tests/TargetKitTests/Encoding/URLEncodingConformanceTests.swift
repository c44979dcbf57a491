// SPDX-License-Identifier: MIT

import Foundation
import TargetKit
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Parameters and the query they become by the default rules. Escaping is RFC 3986's; arrays, dictionaries, Bools and
/// numbers are as Alamofire and Moya document them.
@Suite("URLEncoding, value by value", .throttled)
struct URLEncodingConformanceTests {
    enum Suit: String { case hearts, spades }
    enum Level: Int { case low = 1, high = 3 }
    struct Options: OptionSet {
        let rawValue: Int
        static let one = Self(rawValue: 1)
        static let two = Self(rawValue: 2)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let parameters: [String: any Sendable]
        let query: String

        init(_ parameters: [String: any Sendable], _ query: String) {
            self.parameters = parameters
            self.query = query
        }

        var testDescription: String { query.debugDescription }
    }

    @Test("Parameters become a query", arguments: texts + orders + numbers + others + containers)
    func query(row: Row) throws {
        #expect(try URLEncoding().queryString(row.parameters) == row.query)
    }

    @Test("A form body holds the same bytes as the query", arguments: texts + orders + numbers + others + containers)
    func body(row: Row) throws {
        let request = try URLEncoding.form.encode(row.parameters, into: URLRequest(url: .somewhere))
        #expect(request.httpBody == Data(row.query.utf8))
    }

    static let texts: [Row] = [
        Row(["foo": "bar"], "foo=bar"),
        Row(["foo": ""], "foo="),
        Row(["": "bar"], "=bar"),
        Row(["": ""], "="),
        Row([" foo ": " bar "], "%20foo%20=%20bar%20"),
        Row(["+foo+": "+bar+"], "%2Bfoo%2B=%2Bbar%2B"),
        Row(["?foo?": "?bar?"], "?foo?=?bar?"),
        Row(["foo": "/bar/baz/qux"], "foo=/bar/baz/qux"),
        Row(["foo&bar": "baz&qux"], "foo%26bar=baz%26qux"),
        Row(["percent": "%25"], "percent=%2525"),
        Row(["percent%": "%"], "percent%25=%25"),
        Row(["reserved": ":#[]@!$&'()*+,;="], "reserved=%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D"),
        Row(["illegal": " \"#%<>[]\\^`{}|"], "illegal=%20%22%23%25%3C%3E%5B%5D%5C%5E%60%7B%7D%7C"),
        Row(["unreserved": "-._~"], "unreserved=-._~"),
        Row(["digits": "0123456789"], "digits=0123456789"),
        Row(["lower": "abcdefghijklmnopqrstuvwxyz"], "lower=abcdefghijklmnopqrstuvwxyz"),
        Row(["upper": "ABCDEFGHIJKLMNOPQRSTUVWXYZ"], "upper=ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
        Row(["french": "français"], "french=fran%C3%A7ais"),
        Row(["japanese": "日本語"], "japanese=%E6%97%A5%E6%9C%AC%E8%AA%9E"),
        Row(["arabic": "العربية"], "arabic=%D8%A7%D9%84%D8%B9%D8%B1%D8%A8%D9%8A%D8%A9"),
        Row(["emoji": "😃"], "emoji=%F0%9F%98%83"),
        Row(["汉字": "名前"], "%E6%B1%89%E5%AD%97=%E5%90%8D%E5%89%8D"),
        Row(["é": "e\u{301}"], "%C3%A9=e%CC%81"),
        Row(["a=b": "c=d"], "a%3Db=c%3Dd"),
        Row(["a[b]": "c"], "a%5Bb%5D=c"),
        Row(["a[]": "c"], "a%5B%5D=c"),
        Row(["crlf": "a\r\nb"], "crlf=a%0D%0Ab"),
        Row(["nul": "a\u{0}b"], "nul=a%00b"),
        Row(["tab": "\t"], "tab=%09"),
        Row(["quote": "\"'"], "quote=%22%27"),
        Row(["url": "https://a.b/c?d=e&f#g"], "url=https%3A//a.b/c?d%3De%26f%23g"),
        Row(["mail": "a+b@c.de"], "mail=a%2Bb%40c.de"),
        Row(["flag": "🇩🇪👩\u{200D}👧"], "flag=%F0%9F%87%A9%F0%9F%87%AA%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7"),
        Row(["q": "a b+c"], "q=a%20b%2Bc"),
        Row(["semi": "a;b"], "semi=a%3Bb"),
        Row(["tilde": "~"], "tilde=~"),
        Row(["x": "true"], "x=true"),
        Row(["x": "1.0"], "x=1.0"),
        Row(["x": "null"], "x=null"),
        Row(["x": "\u{2028}\u{FEFF}"], "x=%E2%80%A8%EF%BB%BF"),
    ]

    static let orders: [Row] = [
        Row(["foo": "1", "bar": "2"], "bar=2&foo=1"),
        Row(["b": 1, "a": 2, "c": 3], "a=2&b=1&c=3"),
        Row(["b": 1, "B": 2, "a": 3, "A": 4, "_": 5, "1": 6], "1=6&A=4&B=2&_=5&a=3&b=1"),
        Row(["page10": 1, "page2": 2, "page": 3, "page1": 4], "page=3&page1=4&page10=1&page2=2"),
        Row(
            ["a long name one": 1, "a long name two": 2, "a long name": 3],
            "a%20long%20name=3&a%20long%20name%20one=1&a%20long%20name%20two=2"
        ),
        Row(
            ["sixteen bytes ok": 2, "sixteen bytes oka": 3, "sixteen bytes o": 1],
            "sixteen%20bytes%20o=1&sixteen%20bytes%20ok=2&sixteen%20bytes%20oka=3"
        ),
        Row(["é": 1, "z": 2, "日": 3, "😃": 4], "z=2&%C3%A9=1&%E6%97%A5=3&%F0%9F%98%83=4"),
        Row(["ab": 1, "a": 2, "": 3, "a\u{0}": 4], "=3&a=2&a%00=4&ab=1"),
        Row(["foo&bar": "baz&qux", "foobar": "bazqux"], "foo%26bar=baz%26qux&foobar=bazqux"),
        Row(
            ["shared.prefix.b": 1, "shared.prefix.a": 2, "shared.prefix.c": 3],
            "shared.prefix.a=2&shared.prefix.b=1&shared.prefix.c=3"
        ),
        Row(
            ["x": ["c": 3, "b": ["z": 2, "y": 1] as [String: any Sendable], "a": 1] as [String: any Sendable]],
            "x%5Ba%5D=1&x%5Bb%5D%5By%5D=1&x%5Bb%5D%5Bz%5D=2&x%5Bc%5D=3"
        ),
    ]

    static let numbers: [Row] = [
        Row(["n": 0], "n=0"),
        Row(["n": 1], "n=1"),
        Row(["n": -1], "n=-1"),
        Row(["n": Int.max], "n=9223372036854775807"),
        Row(["n": Int.min], "n=-9223372036854775808"),
        Row(["n": Int8.min], "n=-128"),
        Row(["n": Int8(1)], "n=1"),
        Row(["n": Int16.max], "n=32767"),
        Row(["n": Int16.min], "n=-32768"),
        Row(["n": Int32.max], "n=2147483647"),
        Row(["n": Int32.min], "n=-2147483648"),
        Row(["n": Int64.max], "n=9223372036854775807"),
        Row(["n": UInt(7)], "n=7"),
        Row(["n": UInt8.max], "n=255"),
        Row(["n": UInt16.max], "n=65535"),
        Row(["n": UInt32.max], "n=4294967295"),
        Row(["n": UInt64.max], "n=18446744073709551615"),
        Row(["n": 10], "n=10"),
        Row(["n": 99], "n=99"),
        Row(["n": 100], "n=100"),
        Row(["n": 1_000_000], "n=1000000"),
        Row(["n": 1.0], "n=1"),
        Row(["n": 1.1], "n=1.1"),
        Row(["n": 0.0], "n=0"),
        Row(["n": -0.5], "n=-0.5"),
        Row(["n": 0.1 + 0.2], "n=0.30000000000000004"),
        Row(["n": 100.0], "n=100"),
        Row(["n": 1e15], "n=1000000000000000"),
        Row(["n": 1e16], "n=1e%2B16"),
        Row(["n": 1e20], "n=1e%2B20"),
        Row(["n": 1.5e300], "n=1.5e%2B300"),
        Row(["n": 1e-5], "n=1e-05"),
        Row(["n": 1.5e-7], "n=1.5e-07"),
        Row(["n": Double.pi], "n=3.141592653589793"),
        Row(["n": -1.0], "n=-1"),
        Row(["n": Double.leastNonzeroMagnitude], "n=5e-324"),
        Row(["n": Double.greatestFiniteMagnitude], "n=1.7976931348623157e%2B308"),
        Row(["n": Float(1)], "n=1"),
        Row(["n": Float(0.1)], "n=0.1"),
        Row(["n": Float(1.5)], "n=1.5"),
        Row(["n": Float(3.4e38)], "n=3.4e%2B38"),
        Row(["n": Float(16777216)], "n=16777216"),
        Row(["n": Decimal(1)], "n=1"),
        Row(["n": Decimal(string: "1.123456")], "n=1.123456"),
        Row(["n": Decimal(string: "0.1")], "n=0.1"),
        Row(["n": Decimal(string: "-12345678901234567890.123456789")], "n=-12345678901234567890.123456789"),
        Row(["n": Decimal(0)], "n=0"),
        Row(["v": true], "v=1"),
        Row(["v": false], "v=0"),
        Row(["v": NSNumber(value: true)], "v=1"),
        Row(["v": NSNumber(value: false)], "v=0"),
        Row(["v": NSNumber(value: 1)], "v=1"),
        Row(["v": NSNumber(value: 0)], "v=0"),
        Row(["v": NSNumber(value: 25)], "v=25"),
        Row(["v": NSNumber(value: Int8(1))], "v=1"),
        Row(["v": NSNumber(value: 1.5)], "v=1.5"),
        Row(["v": NSNumber(value: 1.0)], "v=1"),
        Row(["v": NSNumber(value: Float(0.1))], "v=0.1"),
        Row(["v": NSNumber(value: UInt64.max)], "v=18446744073709551615"),
        Row(["v": NSNumber(value: Int64.min)], "v=-9223372036854775808"),
        Row(["v": NSDecimalNumber(string: "1.25")], "v=1.25"),
    ]

    static let others: [Row] = [
        Row(["v": "abc".dropFirst()], "v=bc"),
        Row(["v": Character("é")], "v=%C3%A9"),
        Row(["v": URL(string: "https://a.b/c?d=e")], "v=https%3A//a.b/c?d%3De"),
        Row(["v": UUID(uuidString: "e621e1f8-c36c-495a-93fc-0c247a3e6e5f")], "v=E621E1F8-C36C-495A-93FC-0C247A3E6E5F"),
        Row(["v": Data("data".utf8)], "v=ZGF0YQ%3D%3D"),
        Row(["v": Data()], "v="),
        Row(["v": Data([0xFB, 0xFF])], "v=%2B/8%3D"),
        Row(["v": Date(timeIntervalSince1970: 0)], "v=0"),
        Row(["v": Date(timeIntervalSince1970: 1_700_000_000)], "v=1700000000"),
        Row(["v": Date(timeIntervalSinceReferenceDate: 123.456)], "v=978307323.456"),
        Row(["v": Date(timeIntervalSince1970: -1.5)], "v=-1.5"),
        Row(["v": Suit.hearts], "v=hearts"),
        Row(["v": Level.high], "v=3"),
        Row(["v": HTTPMethod.patch], "v=PATCH"),
        Row(["v": Options([.one, .two])], "v=3"),
        Row(["v": Unicode.Scalar(0x41)], "v=A"),
    ]

    static let containers: [Row] = [
        Row(["v": Int?.none], ""),
        Row(["v": Int?.some(5)], "v=5"),
        Row(["v": String?.some("a b")], "v=a%20b"),
        Row(["v": Int??.some(nil)], ""),
        Row(["v": NSNull()], "v="),
        Row(["a": 1, "n": Int?.none, "z": 2], "a=1&z=2"),
        Row(["a": 1, "n": NSNull(), "z": 2], "a=1&n=&z=2"),
        Row(["v": [1, nil, 3] as [Int?]], "v%5B%5D=1&v%5B%5D=3"),
        Row(["v": ["a": nil, "b": 1] as [String: Int?]], "v%5Bb%5D=1"),
        Row(["v": [NSNull(), 1] as [any Sendable]], "v%5B%5D=&v%5B%5D=1"),
        Row(["v": [1, nil] as [(any Sendable)?]], "v%5B%5D=1"),
        Row(["v": [Int]?.some([1])], "v%5B%5D=1"),
        Row(["v": ["k": NSNull()]], "v%5Bk%5D="),
        Row(["foo": ["a", 1, true] as [any Sendable]], "foo%5B%5D=a&foo%5B%5D=1&foo%5B%5D=1"),
        Row(["foo": ["bar": 1]], "foo%5Bbar%5D=1"),
        Row(["foo": ["bar": ["baz": 1]]], "foo%5Bbar%5D%5Bbaz%5D=1"),
        Row(
            ["foo": ["bar": ["baz": ["a", 1, true] as [any Sendable]]]],
            "foo%5Bbar%5D%5Bbaz%5D%5B%5D=a&foo%5Bbar%5D%5Bbaz%5D%5B%5D=1&foo%5Bbar%5D%5Bbaz%5D%5B%5D=1"
        ),
        Row(["a": [Int]()], ""),
        Row(["a": [String: Int]()], ""),
        Row(["a": [[Int]]()], ""),
        Row([:], ""),
        Row(["a": [3, 1, 2]], "a%5B%5D=3&a%5B%5D=1&a%5B%5D=2"),
        Row(["a": [[1, 2], [3]]], "a%5B%5D%5B%5D=1&a%5B%5D%5B%5D=2&a%5B%5D%5B%5D=3"),
        Row(["a": [["b": 1], ["b": 2]]], "a%5B%5D%5Bb%5D=1&a%5B%5D%5Bb%5D=2"),
        Row(["a": ["b c": "d e"]], "a%5Bb%20c%5D=d%20e"),
        Row(["a": ["[]": "x"]], "a%5B%5B%5D%5D=x"),
        Row(["a b": [1]], "a%20b%5B%5D=1"),
        Row(["a": ["x", "y"][...]], "a%5B%5D=x&a%5B%5D=y"),
        Row(["a": ContiguousArray([1, 2])], "a%5B%5D=1&a%5B%5D=2"),
        Row(["a": [2: "b", 1: "a"]], "a%5B1%5D=a&a%5B2%5D=b"),
        Row(["a": [Suit.hearts: 1]], "a%5Bhearts%5D=1"),
        Row(["a": ["z": 1, "a": 2] as KeyValuePairs<String, Int>], "a%5Bz%5D=1&a%5Ba%5D=2"),
        Row(
            ["a": ["z": 1, "b": "x", "z": 2] as KeyValuePairs<String, any Sendable>],
            "a%5Bz%5D=1&a%5Bb%5D=x&a%5Bz%5D=2"
        ),
        Row(["a": [1.0, 2.5]], "a%5B%5D=1&a%5B%5D=2.5"),
        Row(["a": [true, false]], "a%5B%5D=1&a%5B%5D=0"),
        Row(["a": [Suit.hearts, .spades]], "a%5B%5D=hearts&a%5B%5D=spades"),
        Row(["a": ["d": Date(timeIntervalSince1970: 1)]], "a%5Bd%5D=1"),
        Row(["a": ["s": "y", "r": "x"]], "a%5Br%5D=x&a%5Bs%5D=y"),
        Row(
            ["a": [1, [2, [3]] as [any Sendable]] as [any Sendable]],
            "a%5B%5D=1&a%5B%5D%5B%5D=2&a%5B%5D%5B%5D%5B%5D=3"
        ),
        Row(["a": "", "b": [""]], "a=&b%5B%5D="),
    ]
}
