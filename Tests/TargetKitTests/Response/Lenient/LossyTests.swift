// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TestSupport
import Testing

@Suite("Lossy arrays and dictionaries")
struct LossyTests {
    struct Item: Codable, Hashable { var id: Int }

    struct Model: Codable, Hashable {
        @LossyArray var items: [Item]
        @LossyDictionary var prices: [String: Double]
        @LossyDictionary var perDay: [Int: String]
    }

    static func model(_ json: String, _ decoder: JSONDecoder = JSONDecoder()) throws -> Model {
        try decoder.decode(Model.self, from: Data(json.utf8))
    }

    @Test(
        "An array keeps what decodes, in order, and tells what it dropped",
        arguments: [
            ("[]", [], []), (#"[{"id":1},{"id":2}]"#, [1, 2], []), (#"[{"id":1},{"id":"2"},{"id":3}]"#, [1, 3], ["1"]),
            (#"[null,1,"x",[],{},{"id":4},true]"#, [4], ["0", "1", "2", "3", "4", "6"]), ("[[[[1]]]]", [], ["0"]),
            ("null", [], []), ("{}", [], []), ("7", [], []), (#""x""#, [], []),
        ]
    )
    func arrays(items: String, ids: [Int], dropped: [String]) throws {
        let repairs = Recorder<LenientRepair>()
        let model = try Self.model(#"{"items":\#(items)}"#, .lenient { repairs.append($0) })
        #expect(model.items.map(\.id) == ids)
        #expect(repairs.elements.filter { $0.reason == .dropped }.map(\.keyPath) == dropped.map { "items." + $0 })
    }

    @Test(
        "A dictionary keeps what decodes and tells what it dropped",
        arguments: [
            ("{}", [:], []), (#"{"a":1,"b":2.5}"#, ["a": 1, "b": 2.5], []),
            (#"{"a":1,"b":"2","c":null}"#, ["a": 1], ["b", "c"]),
            ("null", [:], []), ("[1]", [:], []), ("7", [:], []), (#"{"user_name":1}"#, ["user_name": 1], []),
        ] as [(String, [String: Double], [String])]
    )
    func dictionaries(prices: String, kept: [String: Double], dropped: [String]) throws {
        let repairs = Recorder<LenientRepair>()
        let model = try Self.model(#"{"prices":\#(prices)}"#, .snakeCase { repairs.append($0) })
        #expect(model.prices == kept)
        let omitted = repairs.elements.filter { $0.reason == .dropped }.map(\.keyPath)
        #expect(omitted.sorted() == dropped.map { "prices." + $0 })
    }

    @Test("A key that is none of the dictionary's type is dropped")
    func keys() throws {
        let repairs = Recorder<LenientRepair>()
        let model = try Self.model(#"{"per_day":{"1":"a","x":"b","2":3}}"#, .snakeCase { repairs.append($0) })
        #expect(model.perDay == [1: "a"])
        let omitted = repairs.elements.filter { $0.reason == .dropped }.map(\.keyPath)
        #expect(omitted.sorted() == ["perDay.2", "perDay.x"])
    }

    @Test("A missing key is an empty array or dictionary")
    func missing() throws {
        #expect(try Self.model("{}") == Model(items: [], prices: [:], perDay: [:]))
    }

    @Test("Elements and members alone make two of them equal, and are what is encoded")
    func values() throws {
        let model = try Self.model(#"{"items":[{"id":1},2],"prices":{"a":1,"b":null},"perDay":{"3":"x"}}"#)
        let same = Model(items: [Item(id: 1)], prices: ["a": 1], perDay: [3: "x"])
        #expect(model == same)
        #expect(model.hashValue == same.hashValue)
        #expect(try JSONValue(encoding: model) == ["items": [["id": 1]], "prices": ["a": 1], "perDay": ["3": "x"]])
    }

    @Test("The observer hears what was dropped and where")
    func observer() throws {
        let repairs = Recorder<LenientRepair>()
        let decoder = JSONDecoder.lenient { repairs.append($0) }
        _ = try Self.model(#"{"items":[1],"prices":[],"perDay":{"x":"a"}}"#, decoder)
        #expect(
            repairs.elements == [
                LenientRepair(.dropped, type: "Item", at: "items.0"),
                LenientRepair(.mistyped, type: "Dictionary<String, Double>", at: "prices"),
                LenientRepair(.dropped, type: "String", at: "perDay.x"),
            ]
        )
    }

    @Test("A whole body can be a lossy array")
    func wholeBody() throws {
        let array = try JSONDecoder().decode(LossyArray<Item>.self, from: Data(#"[{"id":1},{}]"#.utf8))
        #expect(array.wrappedValue == [Item(id: 1)])
    }
}
