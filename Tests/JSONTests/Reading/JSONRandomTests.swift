// SPDX-License-Identifier: MIT
import Foundation
@testable import TargetKit
import TargetKitJSON
import TestSupport
import Testing

@Suite("JSON of all kinds", .throttled)
struct JSONRandomTests {
    @Test("Any value comes back from its text, compact, sorted or in lines")
    func roundTrip() throws {
        var random = RandomValues(seed: 6_001)
        for round in 0..<RandomValues.count {
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
        for _ in 0..<(RandomValues.count / 10) {
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
        for round in 0..<RandomValues.count {
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
        #expect(errors > RandomValues.count / 2)
    }

    @Test("A key path with escapes leads to the value that Foundation finds, whatever the keys are")
    func keyPaths() throws {
        var random = RandomValues(seed: 6_007)
        let alphabet = [
            ".", "\\", "0", "a", "\u{301}", "\u{200D}", "\u{FE0F}", "é", "\r\n", "\"", "😀", "/", "[", "*", "",
        ]
        for _ in 0..<RandomValues.count {
            let keys = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                (0..<Int.random(in: 0...3, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? "" }
                    .joined()
            }
            // A path that is empty as a whole is that of the whole value.
            if keys == [""] { continue }
            let text = keys.reversed().reduce("7") { value, key in
                let name = String(decoding: (try? JSONEncoder().encode(key)) ?? Data(), as: UTF8.self)
                return "{\"other\": [1, {\"x\": null}], \(name): \(value), \"last\": \"}\"}"
            }
            let path = keys.map { key in
                String(
                    String.UnicodeScalarView(
                        key.unicodeScalars.flatMap { $0 == "." || $0 == "\\" ? ["\\", $0] : [$0] }
                    )
                )
            }
            .joined(separator: ".")
            var value: Any? = try JSONSerialization.jsonObject(with: Data(text.utf8))
            for key in keys { value = (value as? [String: Any])?[key] }
            let found = try? JSONPath(path).value(in: Data(text.utf8))
            guard value as? Int == 7, found == Data("7".utf8) else {
                Issue.record("\(path.debugDescription) in \(text): \(String(describing: found))")
                return
            }
        }
    }

    @Test("A text with one byte changed is a value that comes back, or an error")
    func changedTexts() throws {
        var random = RandomValues(seed: 6_004)
        for _ in 0..<(RandomValues.count / 2) {
            var data = random.json(depth: 0).jsonData()
            data[Int(random.next() % UInt64(data.count))] = UInt8(truncatingIfNeeded: random.next())
            guard let value = try? JSONValue(parsing: data) else { continue }
            if try JSONValue(parsing: value.jsonData()) != value { Issue.record("\(value) does not come back") }
        }
    }

    @Test("A number is the Double that Swift reads in the same text")
    func doubles() throws {
        var random = RandomValues(seed: 6_005)
        for round in 0..<RandomValues.count {
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

    @Test("What the parser refuses, the core refuses in the same words when it describes a body")
    func sameErrors() {
        var random = RandomValues(seed: 6_006)
        let alphabet = [
            "[", "]", "{", "}", ":", ",", "\"", "\\", "u", "d83d", "\\ud83d", "\\ude00", "a", "1", "0", "-", ".", "e",
            "é", " ",
        ]
        var errors = 0
        for _ in 0..<RandomValues.count {
            let text =
                "[\""
                + (0..<Int.random(in: 0...12, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? "" }
                .joined()
            let found = JSONScanner.error(in: Data(text.utf8), isLimited: true)
            do {
                _ = try JSONValue(parsing: text)
                if found != nil { Issue.record("\(text): \(String(describing: found))") }
            } catch {
                errors += 1
                if error as? JSONParsingError != found {
                    Issue.record("\(text): \(error), \(String(describing: found))")
                }
            }
        }
        #expect(errors > RandomValues.count / 2)
    }
}
