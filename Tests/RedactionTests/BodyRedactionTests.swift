// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TestSupport
import Testing
import _TargetKitRedaction

@Suite("The redaction of whole bodies", .throttled)
struct BodyRedactionTests {
    private func redacted(_ data: Data, _ type: String?) -> Data {
        Redaction().body(data, contentType: type)
    }

    @Test(
        "A key path is found in JSON, also if its names are one name with dots, and only there",
        arguments: [
            #"{"user":{"address":"Mill"}}"#, #"{"user.address":"Mill"}"#, #"{"User.Add_ress":"Mill"}"#,
            #"[{"user":[{"addr\u0065ss":{"street":"Mill"}}]}]"#, #"{"user\u002eaddress":["Mill"]}"#,
        ]
    )
    func keyPaths(body: String) {
        var redaction = Redaction()
        redaction.secretFields = ["user.address"]
        let other = #"{"address":"Hill","shop":{"user.name":"Anna","user.address":"Lane"}}"#
        let data = redaction.body(Data("[\(body),\(other)]".utf8), contentType: "application/json")
        let text = String(decoding: data, as: UTF8.self)
        #expect(!text.contains("Mill"), "\(text)")
        #expect(text.contains("Hill") && text.contains("Anna") && text.contains("Lane"), "\(text)")
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
        "Tokens whose names are only their purposes are redacted",
        arguments: [
            (#"{"access":"TOKEN","refresh": "TOKEN"}"#, "application/json"),
            (#"{"data":[{"Refresh":"TOKEN","id":7}]}"#, nil), (#"{"body":"{\"access\":\"TOKEN\"}"}"#, nil),
            ("access=TOKEN&id=7&refresh=TOKEN", "application/x-www-form-urlencoded"),
            ("GET https://a.example/x?refresh=TOKEN&id=7 ok", "text/plain"),
            ("access: TOKEN\nrefresh: 'TOKEN'\n", "application/yaml"),
            ("<a><access>TOKEN</access><b refresh=\"TOKEN\"/></a>", "application/xml"),
            ("<dict><key>access</key><string>TOKEN</string></dict>", "application/x-plist"),
            ("data: {\"access\":\ndata: \"TOKEN\"}\n\n", "text/event-stream"),
        ]
    )
    func purposes(text: String, type: String?) {
        for token in ["s3cretb5f0c9d1e2a7", "Zm9vYmFyLWJhei1xdXg_~.-", "TOPSECRETTOPSECRET", "mc2/xK+9dE4fGh0AbQ=="] {
            // The padding of Base64 is escaped in forms and URLs.
            let sent = type?.hasSuffix("form-urlencoded") == true || text.hasPrefix("GET")
            let written = sent ? token.replacing("=", with: "%3D").replacing("+", with: "%2B") : token
            let body = Data(text.replacing("TOKEN", with: written).utf8)
            #expect(redacted(body, type) == Data(text.replacing("TOKEN", with: "<redacted>").utf8))
            #expect(Redaction.none.body(body, contentType: type) == body)
            var visible = Redaction()
            visible.visibleFields = ["access", "refresh"]
            #expect(visible.body(body, contentType: type) == body)
        }
    }

    @Test(
        "Other values of access and refresh are shown",
        arguments: [
            #"{"refresh":true,"access":"public"}"#, #"{"refresh":3600,"access":"read-write-and-administrate"}"#,
            #"{"refresh":"2026-11-29T10:00:00Z","access":["s3cretb5f0c9d1e2a7"]}"#, #"{"access":null,"refresh":""}"#,
            #"{"refresh":"Every 30 minutes, at night","access":{"level":"administrator-1"}}"#,
            #"{"lastRefresh":"b5f0c9d1e2a7b5f0c9d1","accessLevel":"b5f0c9d1e2a7b5f0c9d1"}"#,
            "access=public&refresh=1&q=access", "refresh: 5; url=https://a.example/0123456789",
            "access: all areas of the shop",
            "<access>public</access><refresh>every minute of 2026</refresh>", "access,refresh\nb5f0,c9d1",
        ]
    )
    func otherValues(text: String) {
        for type in [nil, "application/json", "text/plain"] {
            #expect(String(decoding: redacted(Data(text.utf8), type), as: UTF8.self) == text)
        }
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

    @Test(
        "Private keys, blocks of YAML and the data of events are redacted",
        arguments: [
            (
                "a\n-----BEGIN EC PRIVATE KEY-----\nabc\n-----END EC PRIVATE KEY-----\nb",
                "a\n-----BEGIN EC PRIVATE KEY-----\n<redacted>\n-----END EC PRIVATE KEY-----\nb"
            ),
            ("-----BEGIN PRIVATE KEY-----\nabc", "-----BEGIN PRIVATE KEY-----\n<redacted>"),
            (
                #"{"pem":"-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\n"}"#,
                #"{"pem":"-----BEGIN PRIVATE KEY-----\n<redacted>\n-----END PRIVATE KEY-----\n"}"#
            ),
            ("token: |\n  abc\n\n  def\nx: 1", "token: <redacted>\nx: 1"),
            ("a:\n  password: >-\n    abc\n  b: 1\n", "a:\n  password: <redacted>\n  b: 1\n"),
            ("a:\r\n  password: |\r\n    abc\r\n  b: 1\r\n", "a:\r\n  password: <redacted>\r\n  b: 1\r\n"),
            ("- token: |2+\n    abc\n  b: 1\n- c", "- token: <redacted>\n  b: 1\n- c"),
            ("passwords:\n- abc\n- def\nx: 1", "passwords: <redacted>\nx: 1"),
            ("passwords:\n  - abc\n  - def\nx: 1", "passwords: <redacted>\nx: 1"),
            ("credentials:\n  user: anna\n  pin: 1\n\nx: 1", "credentials: <redacted>\n\nx: 1"),
            ("mutation { login(password:\n \"abc\") { id } }", "mutation { login(password: <redacted>"),
            ("data: {\"token\":\ndata: \"abc\"}\n\n", "data: {\"token\":\ndata: \"<redacted>\"}\n\n"),
            ("data: {\"token\":\r\ndata:\"abc\"}\r\n", "data: {\"token\":\r\ndata:\"<redacted>\"}\r\n"),
            ("data: {\"token\"\ndata: :{\ndata: \"a\":1}}\n\n", "data: {\"token\"\ndata: :\"<redacted>\"}\n\n"),
        ]
    )
    func texts(_ text: String, _ expected: String) {
        #expect(String(decoding: redacted(Data(text.utf8), "text/plain"), as: UTF8.self) == expected)
    }

    @Test(
        "Ordinary text keeps its bytes",
        arguments: [
            "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n", "----- token -----\na",
            "-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----", "title: |\n  a\n  b\nx: 1\n",
            "Enter the password:\n", "The token:\n\nNot indented", "session:\nx: 1", "data: a\ndata: b\n\n",
        ]
    )
    func ordinaryTexts(_ text: String) {
        #expect(String(decoding: redacted(Data(text.utf8), "text/plain"), as: UTF8.self) == text)
    }

    @Test(
        "The columns of a CSV body whose header is the name of a secret are redacted",
        arguments: [
            ("user,password\nann,abc\nbob,\n", "user,password\nann,<redacted>\nbob,\n"),
            ("\"api key\";a\r\n\"x;\"\"y\";1\r\n", "\"api key\";a\r\n<redacted>;1\r\n"),
            ("a,token\n\"x\ny\",\"a\nb\"", "a,token\n\"x\ny\",<redacted>"),
            ("a,b\n1,2\n", "a,b\n1,2\n"), ("token\nabc", "token\n<redacted>"),
        ]
    )
    func columns(_ text: String, _ expected: String) {
        #expect(String(decoding: redacted(Data(text.utf8), "text/csv; charset=utf-8"), as: UTF8.self) == expected)
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

    @Test(
        "Secrets in multipart bodies are redacted wherever they are, and other bytes are kept",
        arguments: [
            // Header fields of parts, also on several lines.
            "--b\r\nContent-Type: text/plain\r\nAuthorization: Bearer §\r\n\r\nx\r\n--b--\r\n",
            "--b\r\nX-Api-Key:§\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--\r\n",
            "--b\r\nAuthorization: Basic\r\n §\r\n\r\nx\r\n--b--",
            "--b\nSet-Cookie: sid=§\n\nx\n--b--\n",
            "--b\r\nX-Api-Key: §\r\n--b--\r\n",
            "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"token=§.txt\"\r\n\r\nx\r\n--b--",
            // Names of parts.
            "--b\r\nContent-Disposition: form-data; name*=UTF-8''pass%77ord\r\n\r\n§\r\n--b--\r\n",
            "--b\r\nContent-Disposition: form-data; name*0=\"pass\"; name*1=\"word\"\r\n\r\n§\r\n--b--\r\n",
            "--b\r\nContent-Disposition: form-data; x; NAME = \"pass\\word\"\r\n\r\n§\r\n--b--\r\n",
            "--b\nContent-Disposition: form-data; name=\"password\"\n\n§\n--b--\n",
            "--b\r\nContent-Disposition: form-data;\r\n name=\"password\"\r\n\r\n§\r\n--b--\r\n",
            "--b \t\r\nContent-Disposition: form-data; name=password\r\n\r\n§\r\n--b--\r\n",
            // Around the parts.
            "token: §\r\n--b\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--b--\r\n",
            "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--b--\r\npassword=§",
            "--b--\r\n--b\r\nContent-Disposition: form-data; name=password\r\n\r\n§\r\n--b--",
            // The declared boundary is another one.
            "--c\r\nContent-Disposition: form-data; name=password\r\n\r\n§\r\n--c--\r\n",
        ]
    )
    func multipartSecrets(_ text: String) {
        let body = Data(text.replacingOccurrences(of: "§", with: "hunter2hunter2").utf8)
        let redacted = String(decoding: redacted(body, "multipart/form-data; boundary=b"), as: UTF8.self)
        #expect(!redacted.contains("hunter2"))
        #expect(redacted.contains("<redacted>"))
        let plain = Data(text.replacingOccurrences(of: "§", with: "").utf8)
        let lines = { (text: String) in text.split(whereSeparator: \.isNewline).count }
        #expect(lines(redacted) >= lines(String(decoding: plain, as: UTF8.self)) - 1)
    }

    @Test("A multipart body without secrets keeps its bytes, whatever is in it")
    func multipartBytes() {
        let texts = [
            "preamble\r\n--b\r\n\r\n--bar\r\n\r\nb\r\n--b--\r\nepilogue", "--b\n\n--b\n\n\n--b--", "--b--", "--b",
            "--b\r\nno field\r\nX-A : 1\r\n\r\n\r\n--b\r\n--b--", "\r\n--b\r\nA: 1\r\n continued\r\n\r\nx",
        ]
        for text in texts {
            let body = Data(text.utf8) + [0xFF, 0xFE]
            #expect(redacted(body, "multipart/mixed; boundary=b") == body, "\(text.debugDescription)")
        }
    }
}
