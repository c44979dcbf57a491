// SPDX-License-Identifier: MIT

import Foundation
@testable import TargetKit
import TestSupport
import Testing

@Suite("Parameters that cannot be encoded", .throttled)
struct ParameterEncodingErrorTests {
    struct Opaque: Sendable {}
    struct Row: Sendable, CustomTestStringConvertible {
        let parameters: [String: any Sendable]
        let error: ParameterEncodingError

        init(_ parameters: [String: any Sendable], _ reason: ParameterEncodingError.Reason, at keyPath: String) {
            self.parameters = parameters
            error = ParameterEncodingError(reason, at: keyPath)
        }

        var testDescription: String { error.description }
    }

    static let rows: [Row] = [
        Row(["a": Opaque()], .unsupportedType("Opaque"), at: "a"),
        Row(["a": ["b": Opaque()]], .unsupportedType("Opaque"), at: "a[b]"),
        Row(["a": ["b": [1, Opaque()] as [any Sendable]]], .unsupportedType("Opaque"), at: "a[b][1]"),
        Row(["a": Opaque?.some(Opaque())], .unsupportedType("Opaque"), at: "a"),
        Row(["a": Set([1])], .unsupportedType("Set<Int>"), at: "a"),
        Row(["a": (1, 2)], .unsupportedType("(Int, Int)"), at: "a"),
        Row(["a": Double.nan], .notFinite, at: "a"),
        Row(["a": [1, Double.infinity]], .notFinite, at: "a[1]"),
        Row(["a": ["b": ["c": -Double.infinity]]], .notFinite, at: "a[b][c]"),
        Row(["a": Float.nan], .notFinite, at: "a"),
        Row(["a": [Float.infinity]], .notFinite, at: "a[0]"),
        Row(["a": Decimal.nan], .notFinite, at: "a"),
        Row(["a": NSNumber(value: Double.nan)], .notFinite, at: "a"),
        Row(["a": Date(timeIntervalSince1970: .nan)], .notFinite, at: "a"),
        Row(["a": Date(timeIntervalSince1970: .infinity)], .notFinite, at: "a"),
        Row(["a": [Opaque(): 1] as [Opaque: Int]], .unsupportedKey("Opaque"), at: "a"),
        Row(["ok": 1, "bad": [Opaque()]], .unsupportedType("Opaque"), at: "bad[0]"),
    ]

    @Test("A query says what is wrong and where", arguments: rows)
    func query(row: Row) {
        #expect(throws: row.error) { try URLEncoding().queryString(row.parameters) }
    }

    @Test("JSON says what is wrong and where", arguments: rows)
    func json(row: Row) {
        #expect(throws: row.error) { try JSONEncoding().data(row.parameters) }
        #expect(throws: row.error) { try JSONEncoding(sortedKeys: false, pretty: true).data(row.parameters) }
    }

    @Test("A year that ISO 8601 has no four digits for is an error", arguments: [-1e12, 1e12, 1e300])
    func year(seconds: Double) {
        let parameters: [String: any Sendable] = ["d": Date(timeIntervalSince1970: seconds)]
        let error = ParameterEncodingError(.dateOutOfRange, at: "d")
        #expect(throws: error) { try URLEncoding(dates: .iso8601).queryString(parameters) }
        #expect(throws: error) { try JSONEncoding(dates: .iso8601).data(parameters) }
    }

    @Test("What a rule's closure throws reaches the caller unchanged")
    func closures() {
        struct Refused: Error, Equatable {}
        let parameters: [String: any Sendable] = ["d": Date.now]
        #expect(throws: Refused()) { try URLEncoding(dates: .custom { _ in throw Refused() }).queryString(parameters) }
        #expect(throws: Refused()) { try JSONEncoding(dates: .custom { _ in throw Refused() }).data(parameters) }
    }

    @Test("Nesting is allowed to the documented depth, and an error beyond it", arguments: [true, false])
    func depth(lists: Bool) throws {
        func nested(_ levels: Int) -> [String: any Sendable] {
            var value: any Sendable = 1
            for _ in 1..<levels { value = lists ? [value] as [any Sendable] : ["k": value] as [String: any Sendable] }
            return ["root": value]
        }
        let deepest = nested(ParameterEncodingError.maximumDepth)
        #expect(try URLEncoding().queryString(deepest).hasSuffix("=1"))
        #expect(try JSONEncoding().data(deepest).first == UInt8(ascii: "{"))
        for levels in [ParameterEncodingError.maximumDepth + 1, 5_000] {
            let reason = #expect(throws: ParameterEncodingError.self) { try JSONEncoding().data(nested(levels)) }?
                .reason
            #expect(reason == .tooDeep)
            let other = #expect(throws: ParameterEncodingError.self) { try URLEncoding().queryString(nested(levels)) }
            #expect(other?.reason == .tooDeep)
        }
    }

    @Test("The description is one line that names the place and not the value")
    func description() {
        let error = ParameterEncodingError(.unsupportedType("Secret"), at: "user[password]")
        let description = "the parameter user[password] can't be encoded: values of type Secret aren't supported"
        #expect(error.description == description)
        #expect(ParameterEncodingError(.tooDeep).description.hasPrefix("the parameters can't be encoded"))
    }
}

extension ParameterEncodingErrorTests.Opaque: Hashable {}
