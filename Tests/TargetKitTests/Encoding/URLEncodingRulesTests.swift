// SPDX-License-Identifier: MIT

import Foundation
import TargetKit
import TestSupport
import Testing

@Suite("URLEncoding's rules", .throttled)
struct URLEncodingRulesTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let parameters: [String: any Sendable]
        let encoding: URLEncoding
        let query: String

        init(_ parameters: [String: any Sendable], _ encoding: URLEncoding, _ query: String) {
            self.parameters = parameters
            self.encoding = encoding
            self.query = query
        }

        var testDescription: String { query.debugDescription }
    }

    static var formatter: DateFormatter {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "yyyy-MM-dd HH:mm:ss.SSSS"
        return formatter
    }

    @Test("Each rule can be set", arguments: rows)
    func rule(row: Row) throws {
        #expect(try row.encoding.queryString(row.parameters) == row.query)
    }

    @Test("Twenty thousand Chinese characters are encoded")
    func long() throws {
        let query = try URLEncoding().queryString(["chinese": String(repeating: "一二三四五六七八九十", count: 2_000)])
        let ten = "%E4%B8%80%E4%BA%8C%E4%B8%89%E5%9B%9B%E4%BA%94%E5%85%AD%E4%B8%83%E5%85%AB%E4%B9%9D%E5%8D%81"
        #expect(query == "chinese=" + String(repeating: ten, count: 2_000))
    }

    @Test("A hundred names come out sorted by their bytes")
    func sorted() throws {
        let names = (0..<100).map { "name \($0 * 7919 % 1000)" }
        let parameters = Dictionary(uniqueKeysWithValues: names.map { ($0, 1 as any Sendable) })
        let expected = names.sorted().map { "name%20\($0.dropFirst(5))=1" }.joined(separator: "&")
        #expect(try URLEncoding().queryString(parameters) == expected)
    }

    static let rows: [Row] = [
        Row(["a": [1, 2]], URLEncoding(arrays: .brackets), "a%5B%5D=1&a%5B%5D=2"),
        Row(["a": [1, 2]], URLEncoding(arrays: .plain), "a=1&a=2"),
        Row(["a": [1, 2]], URLEncoding(arrays: .plain), "a=1&a=2"),
        Row(["a": [1, 2]], URLEncoding(arrays: .indexed), "a%5B0%5D=1&a%5B1%5D=2"),
        Row(["a": [1, 2]], URLEncoding(arrays: .indexed), "a%5B0%5D=1&a%5B1%5D=2"),
        Row(["a b": [[1]]], URLEncoding(arrays: .indexed, encodesSpacesAsPlus: true), "a+b%5B0%5D%5B0%5D=1"),
        Row(["a": [["b": 1], ["b": 2]]], URLEncoding(arrays: .indexed), "a%5B0%5D%5Bb%5D=1&a%5B1%5D%5Bb%5D=2"),
        Row(
            ["a": [[1, 2], [3]]],
            URLEncoding(arrays: .indexed),
            "a%5B0%5D%5B0%5D=1&a%5B0%5D%5B1%5D=2&a%5B1%5D%5B0%5D=3"
        ),
        Row(["a": [[1, 2], [3]]], URLEncoding(arrays: .plain), "a=1&a=2&a=3"),
        Row(["a": [1, nil, 3] as [Int?]], URLEncoding(arrays: .indexed), "a%5B0%5D=1&a%5B1%5D=3"),
        Row(
            ["a": Array(0...10)],
            URLEncoding(arrays: .indexed),
            "a%5B0%5D=0&a%5B1%5D=1&a%5B2%5D=2&a%5B3%5D=3&a%5B4%5D=4&a%5B5%5D=5&a%5B6%5D=6&a%5B7%5D=7&a%5B8%5D=8&a%5B9%5D=9&a%5B10%5D=10"
        ),
        Row(["b": true, "c": false, "n": 1], URLEncoding(bools: .literal), "b=true&c=false&n=1"),
        Row(["b": NSNumber(value: true), "n": NSNumber(value: 1)], URLEncoding(bools: .literal), "b=true&n=1"),
        Row(["b": [true]], URLEncoding(bools: .literal), "b%5B%5D=true"),
        Row(["n": Int?.none, "z": NSNull()], URLEncoding(), "z="),
        Row(["a b": "c d+e"], URLEncoding(encodesSpacesAsPlus: true), "a+b=c+d%2Be"),
        Row(["a": ["b c": " "]], URLEncoding(encodesSpacesAsPlus: true), "a%5Bb+c%5D=+"),
        Row(
            ["d": Date(timeIntervalSinceReferenceDate: 123.456)],
            URLEncoding(dates: .millisecondsSince1970),
            "d=978307323456"
        ),
        Row(
            ["d": Date(timeIntervalSinceReferenceDate: 123.456)],
            URLEncoding(dates: .iso8601),
            "d=2001-01-01T00%3A02%3A03Z"
        ),
        Row(
            ["d": Date(timeIntervalSinceReferenceDate: 123.456)],
            URLEncoding(dates: .custom { "<\($0.timeIntervalSinceReferenceDate)>" }),
            "d=%3C123.456%3E"
        ),
        Row(
            ["d": Date(timeIntervalSinceReferenceDate: 123.456)],
            URLEncoding(dates: .custom { Self.formatter.string(from: $0) }),
            "d=2001-01-01%2000%3A02%3A03.4560"
        ),
        Row(["d": Date(timeIntervalSince1970: -1)], URLEncoding(dates: .iso8601), "d=1969-12-31T23%3A59%3A59Z"),
    ]

    @Test("Names come in the order of their bytes, however many and however alike", arguments: [2, 100, 300, 70_000])
    func order(count: Int) throws {
        var random = RandomValues(seed: UInt64(count))
        var parameters: [String: any Sendable] = [:]
        while parameters.count < count {
            let prefix = String(repeating: "n", count: Int.random(in: 0...12, using: &random))
            let digits = String(Int.random(in: 0...(count * 2), using: &random), radix: 3)
            parameters[prefix + digits] = 0
        }
        let names = try URLEncoding().queryString(parameters).split(separator: "&").map { $0.dropLast(2) }
        #expect(names.map(String.init) == parameters.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    }
}
