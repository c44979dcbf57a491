// SPDX-License-Identifier: MIT

import Foundation
@testable import TargetKit
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("JSONEncoding", .throttled)
struct JSONEncodingTests {
    @Test("A body comes with its Content-Type, whatever the method", arguments: ["POST", "PUT", "GET"])
    func request(method: String) throws {
        var request = URLRequest(url: .somewhere)
        request.httpMethod = method
        let encoded = try JSONEncoding.json.encode(["b": 1, "a": "x"], into: request)
        #expect(encoded.httpBody == Data(#"{"a":"x","b":1}"#.utf8))
        #expect(encoded.value(forHTTPHeaderField: "content-type") == "application/json")
        #expect(encoded.url == request.url)
    }

    @Test("A Content-Type that the caller set stays")
    func contentType() throws {
        var request = URLRequest(url: .somewhere)
        request.setValue("application/vnd.api+json", forHTTPHeaderField: "CONTENT-TYPE")
        let encoded = try JSONEncoding().encode([:], into: request)
        #expect(encoded.allHTTPHeaderFields?.count == 1)
        #expect(encoded.value(forHTTPHeaderField: "Content-Type") == "application/vnd.api+json")
        #expect(encoded.httpBody == Data("{}".utf8))
    }

    @Test("Pretty JSON is indented by two spaces, and an empty container stays on its line")
    func pretty() throws {
        let parameters: [String: any Sendable] = [
            "list": [1, [2]] as [any Sendable], "object": ["k": "v"], "none": [Int](), "empty": [String: Int](),
        ]
        let expected = """
            {
              "empty" : {},
              "list" : [
                1,
                [
                  2
                ]
              ],
              "none" : [],
              "object" : {
                "k" : "v"
              }
            }
            """
        #expect(String(decoding: try JSONEncoding(pretty: true).data(parameters), as: UTF8.self) == expected)
    }

    @Test("Dates are written as asked")
    func dates() throws {
        let parameters: [String: any Sendable] = ["d": Date(timeIntervalSinceReferenceDate: 123.456)]
        func json(_ dates: URLEncodedFormEncoder.DateEncoding) throws -> String {
            String(decoding: try JSONEncoding(dates: dates).data(parameters), as: UTF8.self)
        }
        #expect(try json(.secondsSince1970) == #"{"d":978307323.456}"#)
        #expect(try json(.millisecondsSince1970) == #"{"d":978307323456}"#)
        #expect(try json(.iso8601) == #"{"d":"2001-01-01T00:02:03Z"}"#)
        #expect(try json(.custom { _ in "\"now\"" }) == #"{"d":"\"now\""}"#)
    }

    @Test("Data is a Base64 string")
    func data() throws {
        #expect(String(decoding: try JSONEncoding().data(["d": Data([1, 255])]), as: UTF8.self) == #"{"d":"Af8="}"#)
    }

    @Test("Sorted keys give the same bytes for dictionaries that were built in another order")
    func stable() throws {
        let names = (0..<50).map { "key\($0)" }
        let one = Dictionary(uniqueKeysWithValues: names.map { ($0, $0 as any Sendable) })
        var other: [String: any Sendable] = [:]
        for name in names.reversed() { other[name] = name }
        #expect(try JSONEncoding().data(one) == JSONEncoding().data(other))
    }
}
