// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins
import TestSupport
import Testing

@Suite("Elements of header fields", .throttled)
struct FieldElementsTests {
    @Test("A separator in a quoted string separates nothing")
    func elements() {
        #expect(#"a; b="c;\";d" ;; e"#.elements(separatedBy: ";") == ["a", #"b="c;\";d""#, "", "e"])
        #expect("".elements(separatedBy: ",") == [""])
        #expect(#"a, "b, c"#.elements(separatedBy: ",") == ["a", #""b, c"#])
        #expect(#"a"b;c"d;"#.elements(separatedBy: ";") == [#"a"b;c"d"#, ""])
    }

    @Test("Random octets are read to their end", arguments: 0..<200)
    func anything(_ seed: Int) {
        var random = SystemRandomNumberGenerator()
        let octets = (0..<60).map { _ in
            Bool.random(using: &random)
                ? Array("\"\\,;= \t=a".utf8).randomElement(using: &random) ?? 0 : .random(in: 0...255)
        }
        let field = String(decoding: octets, as: UTF8.self)
        #expect(field.elements(separatedBy: ";").joined(separator: ";").utf8.count <= field.utf8.count)
    }
}
