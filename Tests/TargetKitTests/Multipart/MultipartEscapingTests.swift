// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TestSupport
import Testing

@Suite("Names in Content-Disposition", .throttled)
struct MultipartEscapingTests {
    /// The field's name as it goes over the wire; web-platform-tests' form submission tests have the line break rows.
    static let names: [(String, String)] = [
        ("", ""), ("a", "a"), ("photo", "photo"), ("user[name]", "user[name]"), ("a.b", "a.b"), ("a b", "a b"),
        (" a ", " a "), ("a\"b", "a%22b"), ("\"", "%22"), ("\"\"", "%22%22"), ("\"a\"", "%22a%22"),
        ("a\r\nb", "a%0D%0Ab"), ("a\nb", "a%0D%0Ab"), ("a\rb", "a%0D%0Ab"), ("a\n\rb", "a%0D%0A%0D%0Ab"),
        ("a\n\nb", "a%0D%0A%0D%0Ab"), ("a\r\rb", "a%0D%0A%0D%0Ab"), ("a\r\n\r\nb", "a%0D%0A%0D%0Ab"),
        ("a\r\r\nb", "a%0D%0A%0D%0Ab"), ("\n", "%0D%0A"), ("\r\n", "%0D%0A"), ("a\n\"b", "a%0D%0A%22b"),
        ("a\u{0}b", "a\u{0}b"), ("a\tb", "a\tb"), ("a\\b", "a\\b"), ("a\\\"b", "a\\%22b"), ("a'b", "a'b"),
        ("a;b", "a;b"), ("a=b", "a=b"), ("a%b", "a%b"), ("a%22b", "a%22b"), ("a+b", "a+b"), ("a&b", "a&b"),
        ("a/b", "a/b"), ("../a", "../a"), ("é", "é"), ("e\u{301}", "e\u{301}"), ("ß", "ß"), ("汉字", "汉字"),
        ("日本語", "日本語"), ("العربية", "العربية"), ("😀", "😀"), ("👨‍👩‍👧", "👨‍👩‍👧"), ("a\u{2028}b", "a\u{2028}b"),
        ("a\u{85}b", "a\u{85}b"), ("\u{FEFF}a", "\u{FEFF}a"), ("a\u{7F}b", "a\u{7F}b"), ("--B", "--B"),
        ("a\r\n--B--", "a%0D%0A--B--"), ("_charset_", "_charset_"),
    ]

    @Test(
        "A name is UTF-8 with quotes and line breaks escaped, a lone CR or LF as CR LF, nothing else",
        arguments: names
    )
    func escapesName(name: String, wire: String) throws {
        let body = try MultipartForm(parts: [.text("v", name: name)], boundary: "B").data()
        let expected = "--B\r\nContent-Disposition: form-data; name=\"\(wire)\"\r\n\r\nv\r\n--B--\r\n"
        #expect(body == Data(expected.utf8))
    }

    /// As names, but a lone CR or LF stays alone.
    static let fileNames: [(String, String)] = [
        ("", ""), ("a.txt", "a.txt"), ("a b.txt", "a b.txt"), ("a\".txt", "a%22.txt"), ("\"a\".txt", "%22a%22.txt"),
        ("a\r\nb.txt", "a%0D%0Ab.txt"), ("a\nb.txt", "a%0Ab.txt"), ("a\rb.txt", "a%0Db.txt"),
        ("a\n\rb.txt", "a%0A%0Db.txt"), ("a\n\n.txt", "a%0A%0A.txt"), ("a\u{0}b", "a\u{0}b"), ("a\\b", "a\\b"),
        ("C:\\a.txt", "C:\\a.txt"), ("../../etc/passwd", "../../etc/passwd"), ("a;filename=b", "a;filename=b"),
        ("a%20b", "a%20b"), ("a%22b", "a%22b"), ("naïve.txt", "naïve.txt"), ("nai\u{308}ve", "nai\u{308}ve"),
        ("汉字.txt", "汉字.txt"), ("😀.png", "😀.png"), ("🇨🇭", "🇨🇭"), ("€ rates", "€ rates"), (".profile", ".profile"),
        ("'a'", "'a'"), ("\r\n\r\n<script>", "%0D%0A%0D%0A<script>"),
    ]

    @Test("A file name is UTF-8 with quotes and line breaks escaped, nothing else", arguments: fileNames)
    func escapesFileName(fileName: String, wire: String) throws {
        let part = MultipartForm.Part.data(Data("v".utf8), name: "n", fileName: fileName, mimeType: "a/b")
        let body = try MultipartForm(parts: [part], boundary: "B").data()
        let disposition = "Content-Disposition: form-data; name=\"n\"; filename=\"\(wire)\""
        #expect(body == Data("--B\r\n\(disposition)\r\nContent-Type: a/b\r\n\r\nv\r\n--B--\r\n".utf8))
    }

    @Test("A text's line breaks go out as they are", arguments: ["a\nb", "a\rb", "a\r\nb", "\r\n", "\n\n"])
    func keepsText(text: String) throws {
        let body = try MultipartForm(parts: [.text(text, name: "n")], boundary: "B").data()
        #expect(body == Data("--B\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\n\(text)\r\n--B--\r\n".utf8))
    }
}
