// SPDX-License-Identifier: MIT
import Foundation
@testable import TargetKit
import TestSupport
import Testing

@Suite("Header fields of a part", .throttled)
struct MultipartHeaderTests {
    private static func head(_ part: MultipartForm.Part) throws -> String {
        let body = String(decoding: try MultipartForm(parts: [part], boundary: "B").data(), as: UTF8.self)
        let disposition = "--B\r\nContent-Disposition: form-data; name=\"n\"\r\n"
        let end = try #require(body.range(of: "\r\nv\r\n--B--\r\n"))
        #expect(body.hasPrefix(disposition))
        return String(body[..<end.lowerBound].dropFirst(disposition.count))
    }

    static let written: [(HTTPHeaders, String)] = [
        ([:], ""), (["X-A": "1"], "X-A: 1\r\n"), (["X-B": "2", "X-A": "1"], "X-B: 2\r\nX-A: 1\r\n"),
        (["X-A": "1", "X-A": "2"], "X-A: 1\r\nX-A: 2\r\n"), (["x-lower": "v"], "x-lower: v\r\n"),
        (["Content-Transfer-Encoding": "binary"], "Content-Transfer-Encoding: binary\r\n"),
        (["Content-ID": "<a@b>"], "Content-ID: <a@b>\r\n"), (["Content-Length": "1"], "Content-Length: 1\r\n"),
        (["X-Empty": ""], "X-Empty: \r\n"), (["X-U": "汉字 😀"], "X-U: 汉字 😀\r\n"), (["X-T": "a\tb"], "X-T: a\tb\r\n"),
        (["!#$%&'*+-.^_`|~09azAZ": "v"], "!#$%&'*+-.^_`|~09azAZ: v\r\n"),
        (["X-C": "a: b; c=\"d\""], "X-C: a: b; c=\"d\"\r\n"),
    ]

    @Test("Extra fields follow Content-Disposition in their order, as they are", arguments: written)
    func writes(headers: HTTPHeaders, wire: String) throws {
        #expect(try Self.head(.text("v", name: "n", headers: headers)) == wire)
    }

    @Test(
        "A Content-Type among the fields stands in for the part's own",
        arguments: ["Content-Type", "content-type", "CONTENT-TYPE"]
    )
    func contentTypeOnce(name: String) throws {
        let headers = HTTPHeaders([name: "text/csv"])
        let part = MultipartForm.Part.data(Data("v".utf8), name: "n", mimeType: "text/plain", headers: headers)
        #expect(try Self.head(part) == "\(name): text/csv\r\n")
    }

    static let badNames = [
        "", " ", "A B", "A:", ":", "A\r\nB", "A\n", "A\u{0}", "A\t", "A\"", "A(B)", "A,B", "A/B", "A;B", "A<B", "A=B",
        "A>B",
        "A?B", "A@B", "A[B", "A\\B", "A]B", "A{B", "A}B", "é", "汉", "😀", "A\u{7F}",
        "Content-Disposition", "content-disposition",
    ]

    @Test(
        "A field whose name is no token, or Content-Disposition, is an error that names the part",
        arguments: badNames
    )
    func refusesName(name: String) {
        var headers = HTTPHeaders()
        headers.add(HTTPHeaderName(rawValue: name), value: "v")
        let form = MultipartForm(parts: [.text("a", name: "first"), .text("v", name: "bad \"one\"", headers: headers)])
        let error = multipartError { _ = try form.data() }
        #expect(error?.reason == .headerName(name))
        #expect(error?.partIndex == 1)
        #expect(error?.partName == "bad \"one\"")
        #expect(error?.description.hasPrefix(#"multipart form, part 2 "bad \"one\"": "#) == true)
        #expect(multipartError { _ = try form.bodySource() } == error)
    }

    static let badValues = ["a\r\nb", "a\nb", "a\rb", "\r", "\n", "a\u{0}b", "\u{0}", "v\r\n\r\n<script>", "a\r\n b"]

    @Test("A field whose value breaks out of its line is an error that names the part", arguments: badValues)
    func refusesValue(value: String) {
        let form = MultipartForm(parts: [.text("v", name: "n", headers: ["X-A": value])])
        let error = multipartError { _ = try form.data() }
        #expect(error?.reason == .headerValue(name: "X-A"))
        #expect(error?.partName == "n")
        #expect(error?.description.contains(value) == false)
    }

    @Test("A MIME type that breaks out of its line is an error that names the part", arguments: badValues)
    func refusesMIMEType(value: String) {
        let form = MultipartForm(parts: [.data(Data(), name: "n", mimeType: value)])
        #expect(multipartError { _ = try form.bodySource() }?.reason == .headerValue(name: "Content-Type"))
    }
}
