// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import OpenAPIDocument

@Suite("Documents are read from JSON and YAML")
struct ReaderTests {
    @Test(
        "Plain scalars are read by YAML 1.2's core schema",
        arguments: [
            ("on", Node.string("on")), ("no", .string("no")), ("true", .bool(true)), ("~", .null),
            ("12", .number("12")), ("007", .number("7")), (".5", .number("0.5")), ("0x1F", .number("31")),
            ("1.0.0", .string("1.0.0")), ("2024-01-31", .string("2024-01-31")), ("-", .string("-")),
            ("12345678901234567890", .number("12345678901234567890")),
        ]
    )
    func readsScalars(text: String, node: Node) {
        #expect(YAMLScalar.plain(text) == node)
    }

    @Test("YAML keeps the order of members and quoted numbers stay strings")
    func readsYAML() throws {
        let node = try YAMLReader.read("b: '1'\na: {x: [1, 2]}\n200: ok\n")
        #expect(node.object?.names == ["b", "a", "200"])
        #expect(node.object?["b"] == .string("1"))
        #expect(node.object?["a"]?.object?["x"] == .array([.number("1"), .number("2")]))
    }

    @Test("YAML's aliases and merge keys are resolved")
    func readsMergeKeys() throws {
        let node = try YAMLReader.read("base: &b {x: 1, y: 2}\nown:\n  <<: *b\n  y: 3\n")
        #expect(node.object?["own"]?.object?["x"] == .number("1"))
        #expect(node.object?["own"]?.object?["y"] == .number("3"))
    }

    @Test("JSON keeps order, digits and escapes")
    func readsJSON() throws {
        let node = try JSONReader.read(#"{"b":1.10,"a":"\u00e9\ud83d\ude00\n"}"#)
        #expect(node.object?.names == ["b", "a"])
        #expect(node.object?["b"] == .number("1.10"))
        #expect(node.object?["a"] == .string("é😀\n"))
    }

    @Test(
        "Broken JSON names the line and column",
        arguments: ["{", "{\"a\" 1}", "[1,]", "{\"a\": tru}", "\"x", "[1] 2", "01"]
    )
    func rejectsJSON(text: String) {
        #expect(throws: SyntaxError.self) { try JSONReader.read(text) }
    }

    @Test("Nesting beyond 256 levels is an error, not a crash")
    func limitsDepth() {
        let text = String(repeating: "[", count: 100_000)
        #expect(throws: SyntaxError.self) { try JSONReader.read(text) }
    }
}
