// SPDX-License-Identifier: MIT
import Foundation
@testable import TargetKit
import TestSupport
import Testing

@Suite("Boundaries", .throttled)
struct MultipartBoundaryTests {
    static let allowed: [(String, String)] = [
        ("B", "B"), ("AaB03x", "AaB03x"), ("0", "0"), ("--", "--"),
        ("----WebKitFormBoundaryabc", "----WebKitFormBoundaryabc"),
        ("alamofire.boundary.0123456789abcdef", "alamofire.boundary.0123456789abcdef"), ("a_b", "a_b"), ("a'b", "a'b"),
        ("a+b", "a+b"), ("a.b", "a.b"), ("a-b", "a-b"), ("a b", "\"a b\""), (" a", "\" a\""), ("a(b", "\"a(b\""),
        ("a)b", "\"a)b\""), ("a,b", "\"a,b\""), ("a/b", "\"a/b\""), ("a:b", "\"a:b\""), ("a=b", "\"a=b\""),
        ("a?b", "\"a?b\""), ("gc0pJq0M:08jU534c0p", "\"gc0pJq0M:08jU534c0p\""),
        ("=_simple", "\"=_simple\""), (String(repeating: "x", count: 70), String(repeating: "x", count: 70)),
    ]

    @Test("A boundary of RFC 2046's characters is used, in quotes where it is no token", arguments: allowed)
    func allows(boundary: String, parameter: String) throws {
        let form = MultipartForm(parts: [.text("v", name: "n")], boundary: boundary)
        #expect(form.boundary == boundary)
        #expect(form.contentType == "multipart/form-data; boundary=\(parameter)")
        let head = "Content-Disposition: form-data; name=\"n\"\r\n\r\n"
        #expect(try form.data() == Data("--\(boundary)\r\n\(head)v\r\n--\(boundary)--\r\n".utf8))
    }

    static let refused = [
        "", " ", "a ", "a\"b", "a\\b", "a\r\nb", "a\nb", "a\rb", "a\u{0}b", "a\tb", "a;b", "a@b", "a[b", "a]b", "a{b",
        "a!b",
        "a#b", "a$b", "a%b", "a&b", "a*b", "a<b", "a>b", "a^b", "a`b", "a|b", "a~b", "é", "汉", "😀", "a\u{7F}",
        "B\r\nX-Injected: 1",
        String(repeating: "x", count: 71), String(repeating: "x", count: 69) + "é",
    ]

    @Test(
        "A boundary that RFC 2046 does not allow is an error that quotes it, and never reaches a header",
        arguments: refused
    )
    func refuses(boundary: String) throws {
        let form = MultipartForm(parts: [.text("v", name: "n")], boundary: boundary)
        let error = multipartError { _ = try form.data() }
        #expect(error?.reason == .boundary(boundary))
        #expect(error?.partIndex == nil)
        #expect(multipartError { _ = try form.bodySource() } == error)
        #expect(error?.description.contains(boundary.debugDescription) == true)
        #expect(form.contentType == "multipart/form-data")
    }

    @Test("A random boundary is a token of 42 characters that no other form has")
    func random() {
        let boundaries = (0..<1000).map { _ in MultipartForm(parts: []).boundary }
        #expect(Set(boundaries).count == 1000)
        for boundary in boundaries {
            #expect(boundary.hasPrefix("TargetKit-") && boundary.count == 42)
            #expect(boundary.dropFirst(10).allSatisfy { $0.isHexDigit && !$0.isUppercase })
        }
    }

    @Test("A boundary is made of all 128 bits of the given generator")
    func injectedRandomness() {
        struct Given: RandomNumberGenerator {
            var values: [UInt64]
            mutating func next() -> UInt64 { values.removeFirst() }
        }
        var generator = Given(values: [0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210])
        let boundary = MultipartForm.randomBoundary(using: &generator)
        #expect(boundary == "TargetKit-0123456789abcdeffedcba9876543210")
    }
}
