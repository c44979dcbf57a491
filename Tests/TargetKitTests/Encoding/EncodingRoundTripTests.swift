// SPDX-License-Identifier: MIT

import Foundation
@testable import TargetKit
import TestSupport
import Testing

/// Encodes random values and reads them back by other means than the encoder's own.
@Suite("What is encoded reads back", .throttled)
struct EncodingRoundTripTests {
    /// The pairs of a query, read as a server reads them.
    private func pairs(_ query: String, spaceAsPlus: Bool = false) throws -> [[String]] {
        try query.split(separator: "&").map { pair in
            try pair.split(separator: "=", omittingEmptySubsequences: false).map { part in
                let text = spaceAsPlus ? part.replacingOccurrences(of: "+", with: " ") : String(part)
                return try unescaped(text)
            }
        }
    }

    /// The text of an escaped one, by its bytes: Foundation's `removingPercentEncoding` loses U+FEFF at the start.
    private func unescaped(_ text: String) throws -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            bytes.append(try #require(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)))
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func same(_ one: [String], _ other: [String]) -> Bool {
        one.count == other.count && zip(one, other).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
    }

    @Test("Texts are read back from a query", arguments: [false, true])
    func texts(spacesAsPlus: Bool) throws {
        var random = RandomValues(seed: 1)
        for _ in 0..<RandomValues.count / 100 {
            // A number makes the names different, and sorts them.
            let input = (0..<50).map { ("\($0 + 100)" + random.text(), random.text()) }
            let parameters = Dictionary(uniqueKeysWithValues: input.map { ($0.0, $0.1 as any Sendable) })
            let query = try URLEncoding(encodesSpacesAsPlus: spacesAsPlus).queryString(parameters)
            let output = try pairs(query, spaceAsPlus: spacesAsPlus)
            let isSame = output.count == 50 && zip(input, output).allSatisfy { same([$0.0, $0.1], $1) }
            #expect(isSame, "\(input)")
        }
    }

    @Test("A text keeps a byte order mark at its start", arguments: ["\u{FEFF}", "\u{FEFF}a", "a\u{FEFF}"])
    func byteOrderMark(text: String) throws {
        let query = try URLEncoding().queryString(["k": text])
        let output = try pairs(query)
        #expect(output.count == 1 && same(output[0], ["k", text]))
    }

    @Test("Numbers come back from a query")
    func numbers() throws {
        var random = RandomValues(seed: 2)
        for _ in 0..<RandomValues.count {
            let (double, whole) = (random.double(), random.next())
            let float = Float(bitPattern: UInt32(truncatingIfNeeded: whole))
            let single = float.isFinite ? float : 0
            let parameters: [String: any Sendable] = [
                "d": double, "f": single, "i": Int64(bitPattern: whole), "u": whole,
            ]
            let output = try pairs(URLEncoding().queryString(parameters)).map { $0[1] }
            #expect(Double(output[0]) == double && Float(output[1]) == single)
            #expect(output[2...] == ["\(Int64(bitPattern: whole))", "\(whole)"])
        }
    }

    @Test("Texts and numbers come back from JSON")
    func json() throws {
        struct Document: Decodable {
            let texts: [String: String]
            let doubles: [Double]
            let integers: [UInt64]
        }
        var random = RandomValues(seed: 3)
        for round in 0..<RandomValues.count / 100 {
            let texts = (0..<50).map { _ in (random.text(), random.text()) }
            let doubles = (0..<25).map { _ in random.double() }
            let integers = (0..<25).map { _ in random.next() }
            let named = Dictionary(texts, uniquingKeysWith: { $1 })
            let parameters: [String: any Sendable] = ["texts": named, "doubles": doubles, "integers": integers]
            let bytes = try JSONEncoding(pretty: round % 2 == 0).data(parameters)
            let output = try JSONDecoder().decode(Document.self, from: bytes)
            #expect(output.doubles == doubles && output.integers == integers)
            #expect(output.texts.count == named.count)
            for (key, value) in named { #expect(same([output.texts[key] ?? ""], [value])) }
        }
    }

    @Test("Texts come back from an encodable form")
    func form() throws {
        var random = RandomValues(seed: 4)
        for _ in 0..<RandomValues.count / 100 {
            let input = Dictionary((0..<50).map { _ in (random.text(), random.text()) }, uniquingKeysWith: { $1 })
            let query: String = try URLEncodedFormEncoder().encode(input)
            #expect(try URLEncoding().queryString(input) == query)
            let output = try pairs(query)
            #expect(output.count == input.count)
            for pair in output { #expect(same([input[pair[0]] ?? ""], [pair[1]])) }
        }
    }

    /// A random tree of texts without empty containers, and the pairs that it is written as.
    private func tree(
        _ random: inout RandomValues,
        name: String,
        depth: Int,
        into pairs: inout [[String]]
    ) -> any Sendable {
        switch depth == 0 ? 0 : Int.random(in: 0..<3, using: &random) {
        case 0:
            let text = random.text()
            pairs.append([name, text])
            return text
        case 1:
            return (0..<Int.random(in: 1..<4, using: &random)).map { index in
                tree(&random, name: "\(name)[\(index)]", depth: depth - 1, into: &pairs)
            }
        default:
            var object: [String: any Sendable] = [:]
            for key in (0..<Int.random(in: 1..<4, using: &random)).map({ "\($0)é " }) {
                object[key] = tree(&random, name: "\(name)[\(key)]", depth: depth - 1, into: &pairs)
            }
            return object
        }
    }

    @Test("Every text in a tree of arrays and dictionaries comes back under its name")
    func trees() throws {
        var random = RandomValues(seed: 5)
        for _ in 0..<RandomValues.count / 10 {
            var expected: [[String]] = []
            let value = tree(&random, name: "r", depth: 4, into: &expected)
            let output = try pairs(URLEncoding(arrays: .indexed).queryString(["r": value]))
            let json = try JSONSerialization.jsonObject(with: JSONEncoding().data(["r": value]))
            #expect(json is [String: Any])
            #expect(output.count == expected.count && zip(output, expected).allSatisfy(same))
        }
    }
}
