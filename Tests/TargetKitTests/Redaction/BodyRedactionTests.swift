// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import Testing

@Suite("The redaction of whole bodies")
struct BodyRedactionTests {
    private func redacted(_ data: Data, _ type: String?) -> Data {
        Redaction().body(data, contentType: type)
    }

    @Test("A body without secrets keeps its bytes, and so do sounds and images")
    func unchanged() {
        for type in [nil, "application/json", "text/plain; charset=utf-16"] {
            let text = Data(#" { "a" : [1,  2] , "b":"<p>é</p>" }"#.utf8)
            #expect(redacted(text, type) == text)
        }
        let image = Data("<svg token=\"x\"".utf8)
        #expect(redacted(image, "image/png") == image)
        let bytes = Data([0, 1, 2]) + Data("token=abc".utf8)
        #expect(redacted(bytes, "application/octet-stream") == bytes)
    }

    @Test("JSON is redacted whatever its type says, and also if it is not UTF-8")
    func wrongTypes() {
        let secret = Data(#"{"token":"abc"}"#.utf8)
        for type in [nil, "application/octet-stream", "text/html", "application/problem+json", "image/svg+xml"] {
            #expect(redacted(secret, type) == Data(#"{"token":"<redacted>"}"#.utf8))
        }
        let latin = Data(#"{"name":""#.utf8) + [0xE9] + Data(#"","token":"abc"}"#.utf8)
        let expected = Data(#"{"name":""#.utf8) + [0xE9] + Data(#"","token":"<redacted>"}"#.utf8)
        #expect(redacted(latin, "application/json") == expected)
    }

    @Test(
        "Text in UTF-16 is redacted",
        arguments: [String.Encoding.utf16LittleEndian, .utf16BigEndian],
        [true, false]
    )
    func utf16(_ encoding: String.Encoding, _ hasMark: Bool) throws {
        let mark = Data(encoding == .utf16BigEndian ? [0xFE, 0xFF] : [0xFF, 0xFE])
        let text = try #require(#"{"token":"abc"}"#.data(using: encoding))
        let result = redacted((hasMark ? mark : Data()) + text, "application/json")
        let expected = try #require(#"{"token":"<redacted>"}"#.data(using: encoding))
        #expect(result == (hasMark ? mark : Data()) + expected)
    }

    @Test("A form that is not UTF-8 is redacted")
    func form() {
        let form = Data("a=".utf8) + [0xE9] + Data("&password=abc".utf8)
        let redacted = redacted(form, "application/x-www-form-urlencoded")
        #expect(!redacted.contains { $0 == UInt8(ascii: "b") })
    }

    @Test("A multipart body keeps everything but its secrets", arguments: ["multipart/mixed; boundary=\"b x\"", nil])
    func multipart(_ type: String?) {
        func body(_ secret: String) -> Data {
            let lines = [
                "--b x", "Content-Disposition: form-data; name=\"token\"", "", secret, "--b x",
                "Content-Disposition: form-data; name=\"a\"", "", "1", "--b x--", "",
            ]
            return Data(lines.joined(separator: "\r\n").utf8)
        }
        #expect(redacted(body("abc"), type) == body("<redacted>"))
    }
}
