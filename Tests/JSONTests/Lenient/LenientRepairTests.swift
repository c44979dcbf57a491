// SPDX-License-Identifier: MIT
import Foundation
@testable import TargetKit
@testable import TargetKitJSON
import TargetKitTesting
import TestSupport
import Testing

@Suite("Lenient repairs", .throttled)
struct LenientRepairTests {
    @Test("The observer hears of each repair once: where, for what type and why")
    func observer() throws {
        let repairs = Recorder<LenientRepair>()
        let observer: @Sendable (LenientRepair) -> Void = { repairs.append($0) }
        _ = try LenientTests.product(
            #"""
            {"id":"7","price":null,"isNew":[],"tags":["a",1,null],"note":5,"status":"active","level":1,"counts":{"b":{}}}
            """#,
            observer: observer
        )
        #expect(
            Set(repairs.elements) == [
                LenientRepair(.converted, type: "Int", at: "id"), LenientRepair(.missing, type: "String", at: "name"),
                LenientRepair(.null, type: "Double", at: "price"), LenientRepair(.mistyped, type: "Bool", at: "isNew"),
                LenientRepair(.converted, type: "String", at: "tags.1"),
                LenientRepair(.dropped, type: "String", at: "tags.2"),
                LenientRepair(.converted, type: "Optional<String>", at: "note"),
                LenientRepair(.dropped, type: "Int", at: "counts.b"),
            ]
        )
        #expect(repairs.elements.count == 8)
    }

    @Test("Repairs in a model that cannot be decoded are reported once, too")
    func observerOfFailures() throws {
        struct Inner: Codable { @Lenient var count: Int; var name: String }
        struct Outer: Codable { @Lenient var one: Inner?; @Lenient var many: [Inner] }
        let repairs = Recorder<LenientRepair>()
        let decoder = JSONDecoder.lenient()
        decoder.lenientObserver = { repairs.append($0) }
        _ = try decoder.decode(Outer.self, from: Data(#"{"one":{"count":"1"},"many":[{"count":"2"}]}"#.utf8))
        #expect(
            repairs.elements == [
                LenientRepair(.converted, type: "Int", at: "one.count"),
                LenientRepair(.mistyped, type: "Optional<Inner>", at: "one"),
                LenientRepair(.converted, type: "Int", at: "many.0.count"),
                LenientRepair(.dropped, type: "Inner", at: "many.0"),
            ]
        )
    }

    @Test("A missing or null optional is no repair, one of another kind is")
    func optionals() throws {
        struct Model: Codable {
            @Lenient var name: String?
            @Lenient var tags: [String]?
            @Lenient var counts: [String: Int]?
        }
        let repairs = Recorder<LenientRepair>()
        let decoder = JSONDecoder.lenient()
        decoder.lenientObserver = { repairs.append($0) }
        for filler in [nil, "null", "{}", #"["a"]"#, "7"] {
            let json = filler.map { #"{"name":\#($0),"tags":\#($0),"counts":\#($0)}"# } ?? "{}"
            let model = try decoder.decode(Model.self, from: Data(json.utf8))
            #expect(model.name == (filler == "7" ? "7" : nil))
            #expect(model.tags == (filler == #"["a"]"# ? ["a"] : nil))
            #expect(model.counts == (filler == "{}" ? [:] : nil))
        }
        #expect(repairs.elements.map(\.keyPath) == ["name", "tags", "name", "counts", "name", "tags", "counts"])
        #expect(repairs.elements.map(\.reason).filter { $0 != .mistyped } == [.converted])
    }

    @Test("The observer hears nothing when all is as it should be")
    func silence() throws {
        let repairs = Recorder<LenientRepair>()
        let json =
            #"{"id":7,"name":"a","price":1.5,"isNew":true,"tags":["a"],"status":"active","level":2,"counts":{"a":1}}"#
        _ = try LenientTests.product(json, observer: { repairs.append($0) })
        #expect(repairs.elements.isEmpty)
    }

    @Test("A repair's text names the place and the type, for each reason")
    func repairText() {
        #expect(
            LenientRepair(.converted, type: "Int", at: "a.0").description == "a.0: of another type, converted to Int"
        )
        let texts = LenientRepair.Reason.allCases.map { LenientRepair($0, type: "Int", at: "").description }
        #expect(Set(texts).count == 5)
        #expect(texts.allSatisfy { $0.hasPrefix("the body: ") })
    }
}
