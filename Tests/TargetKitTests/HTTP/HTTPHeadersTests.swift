// SPDX-License-Identifier: MIT
@testable import TargetKit
import TargetKitTesting
import TestSupport
import Testing

@Suite("HTTPHeaders", .throttled)
struct HTTPHeadersTests {
    @Test("Names are compared without regard to case, and keep the way they were written")
    func caseInsensitive() {
        var headers: HTTPHeaders = ["Content-Type": "a", "X-One": "1"]
        #expect(headers["content-type"] == "a")
        headers["CONTENT-TYPE"] = "b"
        #expect(headers.count == 2)
        #expect(headers.map(\.name.rawValue) == ["CONTENT-TYPE", "X-One"])
        headers["x-one"] = nil
        #expect(headers["X-One"] == nil)
        #expect(headers.count == 1)
    }

    @Test("Any octets have their own text, and come back from it; people read ISO-8859-1")
    func octets() {
        var random = RandomValues(seed: 6_018)
        let special: [[UInt8]] = [
            [], [0xEF, 0xBB, 0xBF, 0x61], [0xEF, 0x9E, 0x80], [0xEF, 0x9F, 0xBF, 0xE9], [0xED, 0xA0, 0x80],
            [0xC3, 0xA9],
            [0x63, 0x61, 0x66, 0xE9], Array("caf\u{F7E9}é".utf8),
        ]
        var texts: [String: [UInt8]] = [:]
        for octets in special
            + (0..<2_000).map({ _ in random.bytes(upTo: 6, of: [0xEF, 0x9E, 0x80, 0x41, 0xE9, 0xC3]) })
        {
            let field = HTTPHeaders.Field(name: "X", octets: octets)
            #expect(field.octets == octets)
            #expect(texts.updateValue(octets, forKey: field.value) ?? octets == octets)
        }
        let headers = HTTPHeaders([.init(name: "X", octets: [0x63, 0x61, 0x66, 0xE9]), .init(name: "Y", value: "你")])
        #expect(headers.text(for: "x") == "café")
        #expect(headers.text(for: "Y") == "你")
        #expect(headers.text(for: "Z") == nil)
    }

    @Test("Adding keeps the fields that are there; reading joins them, writing replaces them all")
    func repeated() {
        var headers: HTTPHeaders = ["A": "1", "B": "x", "a": "2"]
        headers.add("A", value: "3")
        #expect(headers["a"] == "1, 2, 3")
        #expect(headers.values(for: "A") == ["1", "2", "3"])
        headers["A"] = "only"
        #expect(headers.map(\.value) == ["only", "x"])
        var cookies: HTTPHeaders = ["Cookie": "a=1"]
        cookies.add("cookie", value: "b=2")
        #expect(cookies["Cookie"] == "a=1; b=2")
    }

    @Test("The order of different names does not count for equality, that of one name's values does")
    func equality() {
        let one: HTTPHeaders = ["A": "1", "B": "2"]
        let other: HTTPHeaders = ["b": "2", "a": "1"]
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        #expect(
            HTTPHeaders(dictionaryLiteral: ("A", "1"), ("A", "2"))
                != HTTPHeaders(dictionaryLiteral: ("A", "2"), ("A", "1"))
        )
        #expect(one != ["A": "1"])
        #expect(one != ["A": "1", "B": "3"])
    }

    @Test("Merging sets the other's fields over these")
    func merging() {
        let merged = HTTPHeaders(dictionaryLiteral: ("A", "1"), ("B", "2")).merging(["b": "3", "C": "4"])
        #expect(merged == ["A": "1", "b": "3", "C": "4"])
    }

    @Test("The dictionary has each name once, with its values joined")
    func dictionary() {
        #expect(
            HTTPHeaders(dictionaryLiteral: ("A", "1"), ("a", "2"), ("B", "3")).dictionary == ["A": "1, 2", "B": "3"]
        )
    }

    /// Lists of 0 to 40 fields whose names repeat in different case, and a copy in which the first letter of each name
    /// has the opposite case.
    private static let generated: [(HTTPHeaders, HTTPHeaders)] = {
        var random = SeededGenerator(seed: 30)
        let names = ["Accept", "Cookie", "X-Trace", "Set-Cookie", "X-Trace-Id", "Via", "X-Traces", "é", "É", ""]
        return (0..<400).map { _ in
            var (headers, other) = (HTTPHeaders(), HTTPHeaders())
            for number in 0..<Int.random(in: 0...40, using: &random) {
                let isPlain = number % 3 == 0
                let name = isPlain ? "X-\(number % 13)" : names[Int.random(in: names.indices, using: &random)]
                let spelled = Bool.random(using: &random) ? name.asciiUppercased : name
                headers.add(HTTPHeaderName(rawValue: spelled), value: "\(number)")
                other.add(HTTPHeaderName(rawValue: spelled.asciiUppercased), value: "\(number)")
            }
            return (headers, other)
        }
    }()

    @Test("For any number of fields, the dictionary has each name's first spelling and its joined value")
    func manyFields() {
        for (headers, _) in Self.generated {
            var expected: [String: String] = [:]
            var names: Set<String> = []
            for field in headers where names.insert(field.name.rawValue.asciiUppercased).inserted {
                expected[field.name.rawValue] = headers[field.name]
            }
            #expect(headers.dictionary == expected)
        }
    }

    @Test("For any number of fields, equal ones have equal hashes, and merging replaces common names")
    func manyFieldsCompared() {
        for ((headers, other), (next, _)) in zip(Self.generated, Self.generated.dropFirst()) {
            #expect(headers == other)
            #expect(headers.hashValue == other.hashValue)
            let names = Set(headers.map(\.name)).union(next.map(\.name))
            let isEqual =
                headers.count == next.count && names.allSatisfy { headers.values(for: $0) == next.values(for: $0) }
            #expect((headers == next) == isEqual)
            let merged = headers.merging(next)
            #expect(merged.fields == headers.filter { !next.contains($0.name) } + next.fields)
        }
    }

    @Test("Thirty thousand fields cost thirty times as much as a thousand", .timeLimit(.minutes(2)))
    func linear() {
        // Quadratic comparison would take many minutes.
        var headers = HTTPHeaders(
            (0..<30_000).map { HTTPHeaders.Field(name: .init(rawValue: "X-\($0)"), value: "\($0)") }
        )
        #expect(headers.dictionary.count == 30_000)
        #expect(headers == HTTPHeaders(headers.reversed()))
        #expect(headers.merging(headers).count == 30_000)
        headers = HTTPHeaders((0..<30_000).map { _ in HTTPHeaders.Field(name: .via, value: "a") })
        #expect(headers.dictionary["Via"]?.utf8.count == 89_998)
        #expect(headers["via"]?.utf8.count == 89_998)
    }

    @Test(
        "Printing them shows no secret",
        arguments: ["Authorization", "cookie", "Set-Cookie", "X-API-Key", "Proxy-Authorization"] as [HTTPHeaderName]
    )
    func redaction(name: HTTPHeaderName) {
        var headers: HTTPHeaders = ["Accept": "text/plain"]
        headers[name] = "s3cret"
        #expect(!headers.description.contains("s3cret"))
        #expect(headers.description.contains("text/plain"))
    }
}

extension HTTPHeaderName {
    fileprivate static let via = Self(rawValue: "Via")
}

extension String {
    /// The text with a–z uppercased and every other character unchanged.
    fileprivate var asciiUppercased: String {
        String(decoding: utf8.map { (0x61...0x7A).contains($0) ? $0 & 0xDF : $0 }, as: UTF8.self)
    }
}
