// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TestSupport
import Testing

@Suite("Descriptions of decoding errors", .throttled)
struct DecodingDescriptionTests {
    enum Status: String, Decodable { case open }

    struct Item: Decodable {
        var price: Double?
        var date: Date?
        var status: Status?
        var link: URL?
        var count: Int8?
        var tags: [String]?
        var maker: [String: String]?
    }

    struct Order: Decodable { var items: [Item] }

    struct User: Decodable { var firstName: String }

    private static func text<Value: Decodable>(
        _ type: Value.Type,
        _ body: String,
        at keyPath: String? = nil,
        using decoder: JSONDecoder? = nil
    ) throws -> String {
        let response = Response(statusCode: 200, data: Data(body.utf8))
        let error = try #require(throws: TargetKitError.self) {
            try response.decode(type, atKeyPath: keyPath, using: decoder)
        }
        return error.description
    }

    @Test(
        "A value of another type is described with both types, its place and what to set",
        arguments: [
            (#"{"price":"4.50"}"#, "expected Double at items[0].price, found a string; for a Date, set"),
            (#"{"date":"2026-01-01"}"#, "expected Double at items[0].date, found a string; for a Date, set"),
            (#"{"price":true}"#, "expected Double at items[0].price, found a Boolean; change the property's type, or"),
            (#"{"tags":{"a":1}}"#, "expected an array at items[0].tags, found an object; change the property's type"),
            (#"{"maker":[1]}"#, "expected an object at items[0].maker, found an array; change the property's"),
            (#"{"tags":["a",null]}"#, "expected String at items[0].tags[1], found null; make the property optional"),
            (#"{"tags":[7]}"#, "expected String at items[0].tags[0], found a number; change the property's"),
            (#"{"status":"gone"}"#, "unreadable value at items[0].status: expected a case of Status; add the case"),
        ]
    )
    func element(item: String, words: String) throws {
        let text = try Self.text(Order.self, "{\"items\":[\(item)]}")
        #expect(text.contains(": " + words), "\(text)")
    }

    @Test("A date in another format names the date strategy")
    func date() throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let text = try Self.text(Item.self, #"{"date":"2026-01-01 hunter2"}"#, using: decoder)
        #expect(text.contains(#"expected a date in the decoder's format; set \.decoder with the server's"#))
        #expect(!text.contains("hunter2"))
    }

    @Test("A number that doesn't fit its type is described as such", arguments: ["700", "1.5"])
    func number(text: String) throws {
        #expect(try Self.text(Item.self, "{\"count\":\(text)}").contains(/number (that|doesn't) fit/))
    }

    @Test("A list in an envelope names the key path and the envelope")
    func envelope() throws {
        let list = try Self.text([Item].self, #"{"data":[]}"#)
        let remedy = #"pass the key path of the array, or set \.envelope"#
        #expect(list.hasSuffix("expected an array at the top, found an object; " + remedy))
        let object = try Self.text(Order.self, "[]")
        let type = "decode an array, for example [Model].self"
        #expect(object.hasSuffix("expected an object at the top, found an array; " + type))
    }

    @Test("A missing key names the key strategy if its name has capital letters, and the key path at the top")
    func missing() throws {
        let top = try Self.text(User.self, #"{"first_name":"x"}"#)
        let remedy =
            #"make the property optional, set \.decoder with a key strategy, "#
            + #"or pass a key path or set \.envelope if the value is nested"#
        #expect(top.hasSuffix("no value at firstName; " + remedy))
        let nested = try Self.text([Order].self, "[{}]")
        #expect(nested.hasSuffix("no value at [0].items; make the property optional"))
        let path = try Self.text(Order.self, #"{"data":{}}"#, at: "data.order")
        #expect(path.hasSuffix("no value at data.order; check the key path"))
    }

    @Test("A text of another decoder that looks like Foundation's is not quoted")
    func unknownText() {
        let texts = [
            "Expected to decode Int but found hunter2 instead.", "but found ", "",
            "Cannot initialize hunter 2 from invalid x",
        ]
        for text in texts {
            let context = DecodingError.Context(codingPath: [], debugDescription: text)
            for error in [DecodingError.typeMismatch(Int.self, context), .dataCorrupted(context)] {
                let words = TargetKitError(stage: .decoding, underlying: error).description
                #expect(!words.contains("hunter"), "\(words)")
            }
        }
    }
}
