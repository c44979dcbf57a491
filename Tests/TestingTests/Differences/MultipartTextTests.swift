// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

@Suite("The text of multipart requests", .throttled)
struct MultipartTextTests {
    private func text(_ url: String, type: String, body: String) throws -> String {
        let request = RecordedRequest(
            method: .post,
            url: try #require(URL(string: url)),
            headers: ["Content-Type": type],
            body: Data(body.utf8)
        )
        return RedactedRequest(request).text
    }

    @Test("A boundary that is also part of other words is replaced in its own places only")
    func shortBoundary() throws {
        let body = "--b\r\nContent-Type: text/b\r\n\r\nb --b\r\n--b--\r\n"
        #expect(
            try text("https://h.example/batch", type: "multipart/mixed; boundary=b", body: body) == """
                POST /batch
                Content-Type: multipart/mixed; boundary=boundary
                Host: h.example

                --boundary
                Content-Type: text/b

                b --b
                --boundary--
                """
        )
    }

    @Test("The boundary of a nested body is replaced, too")
    func nested() throws {
        let inner = "--x1\r\n\r\na\r\n--x1--"
        let body = "--b\r\nContent-Type: multipart/mixed; boundary=\"x1\"\r\n\r\n\(inner)\r\n--b--\r\n"
        let text = try text("https://h.example/", type: "multipart/mixed; boundary=b", body: body)
        #expect(text.contains("Content-Type: multipart/mixed; boundary=\"boundary\"\n\n--boundary\n\na\n--boundary--"))
    }

    @Test("The user of a URL is not part of the host", arguments: ["http", "https"])
    func user(scheme: String) throws {
        let text = try text("\(scheme)://ann:hunter2@h.example:8443/x", type: "text/plain", body: "")
        #expect(text.hasPrefix("POST \(scheme == "http" ? "http://h.example:8443" : "")/x\n"))
        #expect(text.hasSuffix("\nHost: h.example:8443"))
    }
}
