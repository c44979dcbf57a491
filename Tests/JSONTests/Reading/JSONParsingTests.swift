// SPDX-License-Identifier: MIT
import Foundation
@testable import TargetKit
import TargetKitJSON
import TestSupport
import Testing

@Suite("Parsing JSON", .throttled)
struct JSONParsingTests {
    @Test("A text that RFC 8259 allows is read, and written back as the same value", arguments: JSONTexts.accepted)
    func accepts(text: String, written: String) throws {
        let value = try JSONValue(parsing: Data(text.utf8))
        #expect(value.description == written)
        #expect(String(decoding: value.jsonData(), as: UTF8.self) == written)
        #expect(try JSONValue(parsing: text) == value)
        #expect(try JSONValue(parsing: written) == value)
        #expect(try JSONValue(parsing: value.jsonData(sortedKeys: true, pretty: true)) == value)
    }

    @Test(
        "A text that RFC 8259 does not allow is an error that says where and what was expected",
        arguments: JSONTexts.refused
    )
    func refuses(text: String, offset: Int, reason: JSONParsingError.Reason) {
        #expect(throws: JSONParsingError(reason, at: offset)) { try JSONValue(parsing: Data(text.utf8)) }
    }

    @Test(
        "Each beginning of a text that ends with a bracket or quote is an error, not a value",
        arguments: JSONTexts.accepted
    )
    func refusesBeginnings(text: String, written: String) {
        let bytes = Data(text.utf8)
        guard let last = bytes.last, "]}\"".utf8.contains(last) else { return }
        for count in 0..<bytes.count {
            #expect(throws: JSONParsingError.self) { try JSONValue(parsing: bytes.prefix(count)) }
        }
    }

    @Test("Bytes that are not UTF-8 are an error in values and keys", arguments: JSONTexts.brokenUTF8)
    func refusesBrokenUTF8(bytes: [UInt8], offset: Int) {
        let quoted = [UInt8(ascii: "\"")] + bytes + [UInt8(ascii: "\"")]
        #expect(throws: JSONParsingError(.validUTF8, at: offset)) { try JSONValue(parsing: Data(quoted)) }
        let member = [UInt8(ascii: "{")] + quoted + Array(":1}".utf8)
        #expect(throws: JSONParsingError(.validUTF8, at: offset + 1)) { try JSONValue(parsing: Data(member)) }
    }

    @Test("UTF-16 is no JSON for the network (RFC 8259 §8.1)")
    func refusesUTF16() throws {
        let data = try #require("[1]".data(using: .utf16))
        #expect(throws: JSONParsingError.self) { try JSONValue(parsing: data) }
    }

    @Test("A part of a larger Data is read by its own offsets")
    func slices() throws {
        let data = Data("xx[1,2]yy".utf8)[2..<7]
        #expect(try JSONValue(parsing: data) == [1, 2])
        #expect(throws: JSONParsingError(.commaOrArrayEnd, at: 4)) { try JSONValue(parsing: data.dropLast()) }
        // The byte after the part, which would complete the value, is not read.
        let errors: [String: JSONParsingError] = ["true": .init(.value, at: 64), "-1": .init(.digit, at: 65)]
        for (text, error) in errors {
            let whole = Data((String(repeating: " ", count: 64) + text).utf8)
            #expect(throws: error) { try JSONValue(parsing: whole.dropLast()) }
        }
    }

    @Test("A key with a character that equals one of ASCII is the key of ASCII, whatever stands before it")
    func equalKeys() throws {
        for byte in UInt8(0x20)...0x7E where byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") {
            let start = Character(UnicodeScalar(byte))
            // KELVIN SIGN (U+212A) is canonically equivalent to K.
            let value = try JSONValue(parsing: "{\"\(start)\u{212A}\":1,\"\(start)K\":2}")
            #expect(value.object?.count == 1, "\(start)")
            #expect(value["\(start)K"] == 1, "\(start)")
        }
    }

    @Test("Nesting is allowed to the limit, and is an error one level deeper")
    func depth() throws {
        let limit = JSONReader.maximumDepth
        #expect(limit == 512)
        for (open, close) in [("[", "]"), (#"{"a":"#, "}")] {
            let inside = open == "[" ? "" : "1"
            let text = String(repeating: open, count: limit) + inside + String(repeating: close, count: limit)
            #expect(try JSONValue(parsing: Data(text.utf8)) != nil)
            let deeper = open + text + close
            let place = open.utf8.count * limit
            #expect(throws: JSONParsingError(.lessNesting, at: place)) {
                try JSONValue(parsing: Data(deeper.utf8))
            }
        }
    }

    @Test("A hundred thousand levels are an error")
    func deepNesting() {
        for open in ["[", #"{"a":"#, "[{\"b\":"] {
            let text = String(repeating: open, count: 100_000)
            let error = #expect(throws: JSONParsingError.self) {
                try JSONValue(parsing: Data(text.utf8))
            }
            #expect(error?.reason == .lessNesting)
        }
    }

    @Test("An error's text names the place and quotes nothing of what was sent")
    func errorText() throws {
        let error = try #require(throws: JSONParsingError.self) { try JSONValue(parsing: #"{"password":"secret"x}"#) }
        #expect(error.description == "the JSON is invalid at byte 20: expected a comma or the end of the object")
        #expect(error.localizedDescription == error.description)
        #expect(Set(JSONParsingError.Reason.allCases.map { JSONParsingError($0, at: 0).description }).count == 14)
    }

    @Test("An object of many members is read with each key once, the first value counting")
    func manyMembers() throws {
        let members = (0..<3_000).map { #""key \#($0 % 1000)":\#($0)"# }
        let value = try JSONValue(parsing: "{" + members.joined(separator: ",") + "}")
        #expect(value.object?.count == 1_000)
        #expect((0..<1_000).allSatisfy { (number: Int) in value["key \(number)"].int == number })
        #expect(value.object?.keys.first == "key 0")
    }
}
