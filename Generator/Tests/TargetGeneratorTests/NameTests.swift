// SPDX-License-Identifier: MIT
import Testing

@testable import TargetGenerator

@Suite("Names follow Swift's conventions")
struct NameTests {
    @Test(
        "Members are in lower camel case",
        arguments: [
            ("pet_id", "petID"), ("photoUrls", "photoURLs"), ("NOT_FOUND", "notFound"), ("HTMLParser", "htmlParser"),
            ("URLs", "urls"), ("X-Request-ID", "xRequestID"), ("2.0", "value20"), ("-1", "minus1"),
            (">=", "greaterEqual"),
            ("", "empty"), ("café", "café"), ("userID", "userID"), ("@type", "type"), ("名", "名"), ("用户ID", "用户ID"),
            ("一级 分类", "一级分类"), ("cafe\u{301}", "café"), ("2级", "value2级"), ("😀 a", "a"),
        ]
    )
    func memberNames(text: String, name: String) {
        #expect(SwiftName.member(text) == name)
    }

    @Test(
        "Types are in upper camel case",
        arguments: [
            ("pet", "Pet"), ("api_response", "APIResponse"), ("3DModel", "Value3DModel"), ("a.b/c", "ABC"),
            ("用户管理", "用户管理"),
            ("用户（新）", "用户新"), ("été_user", "ÉtéUser"), ("Größe", "Größe"),
        ]
    )
    func typeNames(text: String, name: String) {
        #expect(SwiftName.type(text) == name)
    }

    @Test("A name that is taken gets the first free number, whatever its case")
    func resolvesCollisions() {
        var names = NameTable(reserved: ["Error"])
        #expect(names.claim("Error", alternative: "ErrorModel") == "ErrorModel")
        #expect(names.claim("Pet") == "Pet")
        #expect(names.claim("PET") == "PET2")
        #expect(names.claim("Pet") == "Pet3")
    }

    @Test("Reserved words are escaped")
    func escapes() {
        #expect(SwiftName.escaped("default") == "`default`")
        #expect(SwiftName.declarable("self") == "selfValue")
    }
}
