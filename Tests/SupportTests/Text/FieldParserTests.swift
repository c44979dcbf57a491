// SPDX-License-Identifier: MIT
import TestSupport
import Testing

@testable import _TargetKitSupport

@Suite("Values of header fields", .throttled)
struct FieldParserTests {
    @Test(
        "A quoted string is read without its marks and escapes (RFC 9110 §5.6.4)",
        arguments: [
            (#""a b""#, "a b", true, ""), (#""a\"b\\c", d"#, #"a"b\c"#, true, ", d"), (#""""#, "", true, ""),
            (#""a\zb""#, "azb", true, ""), (#""open"#, "open", false, ""), (#""a\"#, #"a\"#, false, ""),
            ("\"é\u{F7FF}\u{301}\"x", "é\u{F7FF}\u{301}", true, "x"),
        ] as [(String, String, Bool, String)]
    )
    func quotedStrings(_ field: String, _ text: String, _ isClosed: Bool, _ rest: String) throws {
        var parser = FieldParser(field)
        let (read, after) = (parser.quotedString(), parser.text { _ in true })
        let string = try #require(read)
        #expect(string.text == text)
        #expect(string.isClosed == isClosed)
        #expect(after == rest)
        #expect(parser.isAtEnd)
        #expect(field[string.range] == field.dropFirst().dropLast(rest.count + (isClosed ? 1 : 0)))
    }

    @Test("A backslash can be a part of the text, as in the paths of some servers")
    func backslashes() {
        var parser = FieldParser(#""C:\new\"a\"\\b""#)
        let string = parser.quotedString(escaped: "\"\\")
        #expect(string?.text == #"C:\new"a"\b"#)
    }

    @Test("What isn't there isn't read")
    func absent() {
        var parser = FieldParser("abc")
        let (string, number, isSkipped) = (parser.quotedString(), parser.number(), parser.skip(","))
        #expect(string == nil && number == nil && !isSkipped)
        let text = parser.text(before: "=;")
        #expect(text == "abc")
        #expect(parser.next == nil)
        var long = FieldParser("9223372036854775808")
        let tooLarge = long.number()
        #expect(tooLarge == nil)
    }

    @Test(
        "A media type has no parameters and no case (RFC 9110 §8.3.1)",
        arguments: [
            "text/html;charset=utf-8", "Text/HTML;Charset=\"utf-8\"", " text/html ; charset=utf-8", "text/html",
        ]
    )
    func mediaTypes(_ field: String) {
        #expect(field.mediaType == "text/html")
    }

    @Test(
        "Parameters are tokens or quoted strings (RFC 9110 §5.6.6)",
        arguments: [
            ("inline;charset=utf-8", ["charset=utf-8"], true),
            (#"inline; Charset="utf-8" ; a=b"#, ["charset=utf-8", "a=b"], true),
            (#"form-data; name="a;\"b"; filename=c"#, [#"name=a;"b"#, "filename=c"], true),
            // A combining character is no part of the delimiter before it.
            ("form-data; name=\"\u{301}a\"", ["name=\u{301}a"], true), ("attachment", [], true),
            ("attachment; ;", [], true),
            ("attachment; filename=a b.txt", ["filename=a b.txt"], true),
            ("", [], false), ("a b; c=d", ["c=d"], false), ("a; b", [], false), ("a; b=", ["b="], false),
            ("a; b c=d", ["b c=d"], false), (#"a; b="c"d"#, ["b=c"], false), (#"a; b="c"#, ["b=c"], false),
            (#"a; b=c"d"#, [#"b=c"d"#], false), ("a; =b", ["=b"], false),
        ] as [(String, [String], Bool)]
    )
    func parameters(_ field: String, _ expected: [String], _ isValid: Bool) {
        let read = HeaderParameters(field)
        #expect(read.parameters.map { "\($0.name)=\($0.value)" } == expected)
        #expect(read.isValid == isValid)
    }

    @Test("Random octets are read to their end, and what is quoted is read back", arguments: 0..<200)
    func anything(_ seed: Int) {
        var random = SystemRandomNumberGenerator()
        let field = String(
            decoding: (0..<60).map { _ in
                Bool.random(using: &random)
                    ? Array("\"\\,;= \t=a".utf8).randomElement(using: &random) ?? 0 : .random(in: 0...255)
            },
            as: UTF8.self
        )
        let parameters = HeaderParameters(field)
        for parameter in parameters.parameters where !parameter.isQuoted {
            #expect(field[parameter.range].trimmingCharacters(in: .whitespacesAndNewlines) == parameter.value)
        }
        _ = field.mediaType
        let escaped = field.unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
        var parser = FieldParser("\"\(escaped)\"")
        let string = parser.quotedString()
        #expect(string?.text == field)
        #expect(parser.isAtEnd)
    }
}
