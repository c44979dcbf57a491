// SPDX-License-Identifier: MIT
import Foundation
@testable import TargetKit
@testable import TargetKitJSON
import TargetKitTesting
import TestSupport
import Testing

@Suite("Lossy arrays", .throttled)
struct LossyTests {
    struct Item: Codable, Hashable { var id: Int }

    struct Model: Codable, Hashable {
        @LossyArray var items: [Item]
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
        let decoder = JSONDecoder()
        decoder.lenientObserver = { repairs.append($0) }
        let model = try Self.model(#"{"items":\#(items)}"#, decoder)
        #expect(model.items.map(\.id) == ids)
        #expect(repairs.elements.filter { $0.reason == .dropped }.map(\.keyPath) == dropped.map { "items." + $0 })
    }

    @Test("A missing key is an empty array")
    func missing() throws {
        #expect(try Self.model("{}") == Model(items: []))
    }

    @Test("Only the elements are compared and encoded")
    func values() throws {
        let model = try Self.model(#"{"items":[{"id":1},2]}"#)
        let same = Model(items: [Item(id: 1)])
        #expect(model == same)
        #expect(model.hashValue == same.hashValue)
        #expect(try JSONValue(encoding: model) == ["items": [["id": 1]]])
    }

    @Test("The observer receives what was omitted and where", arguments: [false, true])
    func observer(isMistyped: Bool) throws {
        let repairs = Recorder<String>()
        let decoder = JSONDecoder.lenient { repairs.append($0) }
        _ = try Self.model(isMistyped ? #"{"items":{}}"# : #"{"items":[1]}"#, decoder)
        let omitted = "items.0: not decodable as Item, omitted"
        let replaced = "items: not convertible to Array<Item>, replaced by the default"
        #expect(repairs.elements == [isMistyped ? replaced : omitted])
    }

    @Test("A whole body can be a lossy array")
    func wholeBody() throws {
        let array = try JSONDecoder().decode(LossyArray<Item>.self, from: Data(#"[{"id":1},{}]"#.utf8))
        #expect(array.wrappedValue == [Item(id: 1)])
    }
}
