// SPDX-License-Identifier: MIT
import Foundation
import TargetKitPlugins
import Testing

@Suite("Basic credentials")
struct BasicCredentialsTests {
    @Test(
        "They are written in UTF-8 and base64",
        arguments: [
            // RFC 7617 §2 and §2.1.
            ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            ("test", "123£", "Basic dGVzdDoxMjPCow=="),
            ("", "", "Basic Og=="), ("user", "a:b", "Basic dXNlcjphOmI="),
        ]
    )
    func value(_ user: String, _ password: String, _ expected: String) throws {
        #expect(try BasicCredentials(user: user, password: password).fieldValue == expected)
        #expect(try BasicCredentials("\(user):\(password)").fieldValue == expected)
    }

    @Test(
        "What the scheme cannot carry is refused",
        arguments: [
            ("a:b", "c", .colonInUser), ("a\n", "c", .controlCharacter), ("a", "c\u{7F}", .controlCharacter),
            ("a", "\u{0}", .controlCharacter),
        ] as [(String, String, BasicCredentials.Problem)]
    )
    func refused(_ user: String, _ password: String, _ problem: BasicCredentials.Problem) {
        #expect(throws: problem) { try BasicCredentials(user: user, password: password) }
    }

    @Test("A text without a colon is refused")
    func noColon() {
        #expect(throws: BasicCredentials.Problem.noColon) { try BasicCredentials("anna") }
    }

    @Test("No text of theirs shows the password")
    func redacted() throws {
        let credentials = try BasicCredentials(user: "anna", password: "hunter2")
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), dumped, "\([credentials])"] {
            #expect(text.contains("anna"))
            #expect(!text.contains("hunter2"))
        }
    }

    @Test("Each problem says what is wrong", arguments: BasicCredentials.Problem.allCases)
    func problems(_ problem: BasicCredentials.Problem) {
        #expect(problem.errorDescription?.contains("Basic scheme") == true)
    }
}
