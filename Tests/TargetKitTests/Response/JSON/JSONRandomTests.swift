// SPDX-License-Identifier: MIT
import Foundation
@testable import TargetKit
import TestSupport
import Testing

@Suite("JSON of all kinds", .throttled)
struct JSONRandomTests {
    /// How many values each test makes: 5,000, or what the environment's `TARGETKIT_FUZZ` says.
    static let count = ProcessInfo.processInfo.environment["TARGETKIT_FUZZ"].flatMap(Int.init) ?? 5_000

    @Test("Any value comes back from its text, compact, sorted or in lines")
    func roundTrip() throws {
        var random = RandomValues(seed: 6_001)
        for round in 0..<Self.count {
            let value = random.json(depth: 0)
            let data = value.jsonData(sortedKeys: round % 2 == 0, pretty: round % 3 == 0)
            guard try JSONValue(parsing: data) == value else {
                Issue.record("\(String(decoding: data, as: UTF8.self)) does not come back")
                return
            }
        }
    }

    @Test("Equal values hash equally, in whatever order the members are")
    func hashing() {
        var random = RandomValues(seed: 6_002)
        for _ in 0..<(Self.count / 10) {
            let value = random.json(depth: 0)
            guard case .object(let object) = value else { continue }
            let turned = JSONValue.object(JSONObject(object.reversed()))
            #expect(turned == value)
            #expect(turned.hashValue == value.hashValue)
        }
    }

    @Test("Random bytes are values or errors, never a trap")
    func randomBytes() {
        var random = RandomValues(seed: 6_003)
        let alphabet = Array("[]{}\":,\\ue+-.0123456789tfnalsr \u{1}é😀\u{FEFF}".utf8) + [0xFF, 0x80, 0xED, 0xF4]
        var errors = 0
        for round in 0..<Self.count {
            let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                round % 4 == 0
                    ? UInt8(truncatingIfNeeded: random.next()) : alphabet[Int(random.next() % UInt64(alphabet.count))]
            }
            do { _ = try JSONValue(parsing: Data(bytes)) } catch {
                errors += 1
                // Outside of #expect, which would take most of the time.
                if !(0...bytes.count).contains((error as? JSONParsingError)?.offset ?? -1) {
                    Issue.record("\(bytes): \(error)")
                }
            }
            _ = JSONPath(String(decoding: bytes, as: UTF8.self))
        }
        #expect(errors > Self.count / 2)
    }

    @Test("A text with one byte changed is a value that comes back, or an error")
    func changedTexts() throws {
        var random = RandomValues(seed: 6_004)
        for _ in 0..<(Self.count / 2) {
            var data = random.json(depth: 0).jsonData()
            data[Int(random.next() % UInt64(data.count))] = UInt8(truncatingIfNeeded: random.next())
            guard let value = try? JSONValue(parsing: data) else { continue }
            if try JSONValue(parsing: value.jsonData()) != value { Issue.record("\(value) does not come back") }
        }
    }

    @Test("A number is the Double that Swift reads in the same text")
    func doubles() throws {
        var random = RandomValues(seed: 6_005)
        for round in 0..<Self.count {
            var text = random.double().description
            if round % 4 == 0 { text = "\(Int.random(in: -99...99, using: &random)).\(random.next() % 1_000_000)" }
            if round % 4 == 1 { text = "\(random.next() % 100_000)e\(Int.random(in: -30...30, using: &random))" }
            let number = try #require(try JSONValue(parsing: text).number)
            guard number.double == Double(text) else {
                Issue.record("\(text) is read as \(number)")
                return
            }
        }
    }
}

extension RandomValues {
    /// Any JSON value, up to four levels deep.
    mutating func json(depth: Int) -> JSONValue {
        switch Int.random(in: 0..<(depth > 3 ? 8 : 12), using: &self) {
        case 0: return nil
        case 1: return .bool(Bool.random(using: &self))
        case 2: return .number(JSONNumber(Int64(bitPattern: next()) >> Int64.random(in: 0..<64, using: &self)))
        case 3: return .number(JSONNumber(next()))
        case 4: return JSONValue(double())
        case 5: return .number(JSONNumber(text: "\(next()).\(next())e\(Int.random(in: -400...400, using: &self))") ?? 0)
        case 6...8: return .string(text())
        case 9: return .array((0..<Int.random(in: 0..<6, using: &self)).map { _ in json(depth: depth + 1) })
        default:
            let count = Int.random(in: 0..<(depth == 0 ? 20 : 5), using: &self)
            return .object(JSONObject((0..<count).map { _ in (key: text(), value: json(depth: depth + 1)) }))
        }
    }
}
