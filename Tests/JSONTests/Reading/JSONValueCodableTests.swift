// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitJSON
import TestSupport
import Testing

@Suite("JSONValue with encoders and decoders", .throttled)
struct JSONValueCodableTests {
    struct Model: Codable, Equatable {
        var id: Int
        var extra: JSONValue
        var more: JSONObject?
        var number: JSONNumber?
    }

    static let texts = [
        "null", "true", "0", "-1", "1.5", "0.1", "18446744073709551615", "9007199254740993", "123456789.123456789",
        "1e300",
        #""a""#, "[]", "{}", #"[1,[2,{"a":[null,true,"x"]}]]"#, #"{"user_name":{"first_name":"Ann"},"a":null}"#,
    ]

    @Test("Any value goes through JSONEncoder and JSONDecoder", arguments: texts)
    func throughFoundation(text: String) throws {
        let value = try JSONValue(parsing: text)
        let model = Model(id: 1, extra: value)
        let data = try JSONEncoder().encode(model)
        #expect(try JSONDecoder().decode(Model.self, from: data) == model)
        #expect(try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) == value)
        #expect(try JSONValue(parsing: data)["extra"] == value)
    }

    @Test("Any value without null goes through a property list", arguments: texts.filter { !$0.contains("null") })
    func throughPropertyList(text: String) throws {
        let value = ["value": try JSONValue(parsing: text)]
        // Property lists have no integer above Int64 on every platform, and no decimal.
        guard text != "18446744073709551615" else { return }
        let data = try PropertyListEncoder().encode(value)
        #expect(try PropertyListDecoder().decode([String: JSONValue].self, from: data) == value)
    }

    @Test("Keys stay as they are, whatever the key strategy")
    func keys() throws {
        let value: JSONValue = ["user_name": ["firstName": 1]]
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        #expect(try decoder.decode(JSONValue.self, from: value.jsonData()) == value)
        #expect(try JSONValue(parsing: encoder.encode(value)) == value)
    }

    @Test("Objects and numbers are coded on their own")
    func parts() throws {
        let model = try JSONDecoder().decode(
            Model.self,
            from: Data(#"{"id":1,"extra":[],"more":{"a":1},"number":2.5}"#.utf8)
        )
        #expect(model == Model(id: 1, extra: [], more: ["a": 1], number: 2.5))
        #expect(try JSONDecoder().decode(Model.self, from: JSONEncoder().encode(model)) == model)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(JSONNumber.self, from: Data(#""1""#.utf8)) }
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(JSONObject.self, from: Data("[]".utf8)) }
    }

    @Test("Decimals keep their digits through an encoder, and what no type holds is an error")
    func digits() throws {
        let long = try JSONValue(parsing: "[1234567890123456789012345.678]")
        #expect(try JSONValue(parsing: JSONEncoder().encode(long)) == long)
        let huge = try JSONValue(parsing: "[1e400]")
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(huge) }
    }

    @Test("A model becomes a value, and a value a model")
    func models() throws {
        let model = Model(id: 7, extra: ["a": [1, 2]], more: nil, number: nil)
        let value = try JSONValue(encoding: model)
        #expect(value == ["id": 7, "extra": ["a": [1, 2]]])
        #expect(try value.decode(Model.self) == model)
        #expect(throws: DecodingError.self) { try JSONValue.string("x").decode(Model.self) }
    }
}
