// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

@Suite("The text of a request", .throttled)
struct RequestTextTests {
    private func request(
        _ method: HTTPMethod = .get,
        _ url: String,
        _ headers: HTTPHeaders = [:],
        _ body: Data = Data()
    ) throws -> RedactedRequest {
        let url = try #require(URL(string: url))
        return RedactedRequest(RecordedRequest(method: method, url: url, headers: headers, body: body))
    }

    @Test("A request without a body is its line and its fields, sorted by name")
    func head() throws {
        let request = try request(.get, "https://shop.example/products?q=green%20tea", ["X-B": "2", "Accept": "*/*"])
        #expect(
            request.text == """
                GET /products?q=green%20tea
                Accept: */*
                Host: shop.example
                X-B: 2
                """
        )
        #expect(try self.request(.get, "http://shop.example").text == "GET http://shop.example\nHost: shop.example")
        #expect(try self.request(.get, "https://shop.example:8443").text == "GET /\nHost: shop.example:8443")
    }

    @Test("Secrets are redacted in the URL, the fields and the body, and in JSON within JSON")
    func secrets() throws {
        let body = #"{"user":"anna","password":"pw-1","raw":"{\"token\":\"pw-1\"}"}"#
        let request = try request(
            .post,
            "https://anna:pw-1@shop.example/login?access_token=pw-1&a=b",
            ["Authorization": "Bearer pw-1", "Content-Type": "application/json"],
            Data(body.utf8)
        )
        #expect(
            request.text == """
                POST /login?access_token=<redacted>&a=b
                Authorization: <redacted>
                Content-Type: application/json
                Host: shop.example

                {
                  "password" : "<redacted>",
                  "raw" : "{\\"token\\":\\"<redacted>\\"}",
                  "user" : "anna"
                }
                """
        )
    }

    @Test("A form is decoded, one item in a line")
    func form() throws {
        let type: HTTPHeaders = ["Content-Type": "application/x-www-form-urlencoded"]
        let request = try request(.post, "https://a.example/", type, Data("q=tea+%26%20milk&pin=1234&empty=&x".utf8))
        #expect(
            request.text == """
                POST /
                Content-Type: application/x-www-form-urlencoded
                Host: a.example

                q=tea & milk
                pin=<redacted>
                empty=
                x
                """
        )
    }

    @Test("A multipart body has a fixed boundary; the secrets of its parts are redacted")
    func multipart() throws {
        let body = """
            --9f1x\r\nContent-Disposition: form-data; name="name"\r\n\r\nAnna\r\n\
            --9f1x\r\nContent-Disposition: form-data; name="password"\r\n\r\npw-1\r\n\
            --9f1x\r\nContent-Disposition: form-data; name="meta"\r\nContent-Type: application/json\r\n\r\n\
            {"token":"pw-1","b":1}\r\n\
            --9f1x\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n
            """
        let data = Data(body.utf8) + Data([0, 255, 1]) + Data("\r\n--9f1x--\r\n".utf8)
        let type: HTTPHeaders = ["Content-Type": "multipart/form-data; boundary=9f1x"]
        let text = try request(.post, "https://a.example/", type, data).text
        #expect(
            text == """
                POST /
                Content-Type: multipart/form-data; boundary=boundary
                Host: a.example

                --boundary
                Content-Disposition: form-data; name="name"

                Anna
                --boundary
                Content-Disposition: form-data; name="password"

                <redacted>
                --boundary
                Content-Disposition: form-data; name="meta"
                Content-Type: application/json

                {
                  "b" : 1,
                  "token" : "<redacted>"
                }
                --boundary
                Content-Disposition: form-data; name="file"; filename="a.bin"

                <3 bytes, SHA-256 \(Data([0, 255, 1]).summary.suffix(18))
                --boundary--
                """
        )
    }

    @Test("Bytes that are no text are described by size and digest")
    func bytes() throws {
        let request = try request(.put, "https://a.example/", ["Content-Type": "image/png"], Data([0x89, 0, 1]))
        #expect(request.text.hasSuffix("\n\n<3 bytes, SHA-256 \(request.body.summary.suffix(18))"))
        #expect(request.body.summary == Data([0x89, 0, 1]).summary)
        #expect(request.body.summary != Data([0x89, 0, 2]).summary)
    }

    @Test("The differences of two requests name the part and the key")
    func differences() throws {
        let type: HTTPHeaders = ["Content-Type": "application/json", "Accept": "a"]
        let old = try request(.post, "https://a.example/o?q=tea&p=1", type, Data(#"{"items":[{"count":2}]}"#.utf8))
        let new = try request(
            .put,
            "https://a.example/o?q=coffee&x",
            ["Content-Type": "application/json"],
            Data(#"{"items":[{"count":3}]}"#.utf8)
        )
        #expect(
            new.differences(from: old) == [
                "method: expected POST, found PUT", #"query q: expected "tea", found "coffee""#,
                #"query p: missing, expected "1""#, "query x: not expected, found no value",
                #"header Accept: missing, expected "a""#, "body items.0.count: expected 2, found 3",
            ]
        )
        #expect(old.differences(from: old).isEmpty)
    }

    @Test("Bodies of different formats are both described")
    func formats() {
        let json = BodyContent(Data("{}".utf8), contentType: nil)
        let text = BodyContent(Data("a\nb".utf8), contentType: "text/plain")
        #expect(text.differences(from: json) == ["body: expected JSON: {}, found text: a b"])
        #expect(json.differences(from: .empty) == ["body: expected no body, found JSON: {}"])
        let form = BodyContent(Data("a=1&b=2".utf8), contentType: nil)
        let other = BodyContent(Data("a=1&b=3".utf8), contentType: nil)
        #expect(other.differences(from: form) == [#"body b: expected "2", found "3""#])
    }
}
