// SPDX-License-Identifier: MIT
import Fixtures
import Foundation
import TargetKitTesting
import TestSupport
import Testing

@testable import TargetKit

/// A form and the file that holds its bytes.
struct GoldenForm: Sendable, CustomTestStringConvertible {
    var file: String
    var boundary: String
    var parts: [MultipartForm.Part]

    var testDescription: String { file }
    var form: MultipartForm { MultipartForm(parts: parts, boundary: boundary) }
    func bytes() throws -> Data { try Fixture(shared: file).data() }

    private struct User: Encodable {
        var name = "汉字"
        var id = 7
    }

    private static func bytes(_ text: String) -> Data { Data(text.utf8) }

    static let all: [GoldenForm] = [
        GoldenForm(
            file: "multipart-html4.bin",
            boundary: "AaB03x",
            parts: [
                .text("Larry", name: "submit-name"),
                .data(bytes("... contents of file1.txt ..."), name: "files", fileName: "file1.txt"),
            ]
        ),
        GoldenForm(
            file: "multipart-rfc7578-charset.bin",
            boundary: "AaB03x",
            parts: [
                .text("UTF-8", name: "_charset_"),
                .text("Joe owes €100.", name: "field1"),
                .text(
                    "Joe owes =E2=82=AC100.",
                    name: "field1",
                    mimeType: "text/plain;charset=UTF-8",
                    headers: ["content-transfer-encoding": "quoted-printable"]
                ),
            ]
        ),
        GoldenForm(
            file: "multipart-rfc7578-same-name.bin",
            boundary: "AaB03x",
            parts: [
                .data(bytes("first"), name: "pics", fileName: "file1.txt"),
                .data(bytes("GIF89a\u{0}") + [0xFF], name: "pics", fileName: "file2.gif"),
                .data(Data(), name: "pics", fileName: "three"),
            ]
        ),
        GoldenForm(
            file: "multipart-rfc2046-quoted.bin",
            boundary: "gc0pJq0M:08jU534c0p",
            parts: [
                .text(
                    "This is implicitly typed plain US-ASCII text.\r\nIt does NOT end with a linebreak.",
                    name: "a"
                ),
                .text(
                    "This is explicitly typed plain US-ASCII text.\r\nIt DOES end with a linebreak.\r\n",
                    name: "b",
                    mimeType: "text/plain; charset=us-ascii"
                ),
            ]
        ),
        GoldenForm(
            file: "multipart-browser.bin",
            boundary: "----WebKitFormBoundary7MA4YWxkTrZu0gW",
            parts: [
                .text("Café & crème", name: "title"),
                .text("", name: "empty"),
                .data(Data(), name: "upload", fileName: ""),
                .data(Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), name: "upload", fileName: "pixel.png"),
            ]
        ),
        GoldenForm(
            file: "multipart-html-escapes.bin",
            boundary: "B",
            parts: [
                .text("quote", name: "a\"b"),
                .text("line break", name: "a\nb"),
                .text("汉字 😀", name: "汉字 😀"),
                .text("kept", name: "a\\b;c=d%25"),
                .data(bytes("x"), name: "file", fileName: "汉字\"\r\n\n👨‍👩‍👧.txt"),
            ]
        ),
        GoldenForm(
            file: "multipart-alamofire.bin",
            boundary: "alamofire.boundary.0123456789abcdef",
            parts: [
                .data(bytes("français"), name: "french"),
                .data(bytes("日本語"), name: "japanese", mimeType: "text/plain"),
                .data(bytes("😃👍🏻🍻🎉"), name: "emoji", fileName: "emoji.txt", mimeType: "text/plain"),
            ]
        ),
        GoldenForm(
            file: "multipart-images.bin",
            boundary: "B",
            parts: [.image([0xFF, 0xD8, 0xFF, 0xE0] + bytes("one"))]
                + .images([[0xFF, 0xD8, 0xFF, 0xE0] + bytes("two"), [0xFF, 0xD8, 0xFF, 0xE0] + bytes("three")])
        ),
        GoldenForm(
            file: "multipart-json.bin",
            boundary: "B",
            parts: [
                .json(User(), name: "user"),
                .json(
                    [1, 2, 3],
                    name: "meta",
                    fileName: "meta.json",
                    mimeType: "application/merge-patch+json",
                    headers: ["X-Checksum": "abc"]
                ),
            ]
        ),
        GoldenForm(
            file: "multipart-bytes.bin",
            boundary: "B",
            parts: [
                .data(Data((0...255).map { UInt8($0) }), name: "bytes", fileName: "all.bin"),
                .data(bytes("--\r\n--\r\n--A--\r\n-B\r\n"), name: "tricky", fileName: "t"),
            ]
        ),
    ]
}

@Suite("Golden bodies", .throttled)
struct MultipartGoldenTests {
    @Test("A form in memory has the bytes of the fixture", arguments: GoldenForm.all)
    func inMemory(golden: GoldenForm) throws {
        #expect(golden.form.isInMemory)
        #expect(try golden.form.data() == golden.bytes())
    }

    @Test(
        "A form that is read as it is sent has the same bytes, whatever the buffer's size",
        arguments: GoldenForm.all,
        [1, 2, 3, 7, 16, 61, 4096, 1 << 20]
    )
    func streamed(golden: GoldenForm, bufferSize: Int) throws {
        let source = try golden.form.bodySource()
        let expected = try golden.bytes()
        #expect(source.length == Int64(expected.count))
        #expect(try source.readAll { bufferSize } == expected)
    }

    @Test("Every read but the last fills its buffer", arguments: GoldenForm.all)
    func fillsBuffers(golden: GoldenForm) throws {
        let expected = try golden.bytes()
        let reader = try golden.form.bodySource().open()
        for start in stride(from: 0, to: expected.count, by: 50) {
            #expect(try reader.readSome(50) == expected.dropFirst(start).prefix(50))
        }
        #expect(try reader.readSome(50).isEmpty)
        #expect(try reader.readSome(50).isEmpty)
    }

    @Test("Parts that are files have the bytes of parts that are data")
    func files() throws {
        let folder = try TemporaryFolder()
        let pixel = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        let form = MultipartForm(
            parts: [
                .text("Café & crème", name: "title"),
                .data(Data(), name: "empty"),
                .file(try folder.file("nothing"), name: "upload", fileName: ""),
                .file(try folder.file("pixel.png", pixel), name: "upload"),
            ],
            boundary: "----WebKitFormBoundary7MA4YWxkTrZu0gW"
        )
        let expected = try Fixture(shared: "multipart-browser.bin").data()
        let source = try form.bodySource()
        #expect(source.length == Int64(expected.count))
        #expect(try source.readAll { 5 } == expected)
        #expect(try source.readAll() == expected)
    }

    @Test("A slice of data is sent from its own start to its own end")
    func slices() throws {
        let slice = Data("0123456789".utf8)[3..<6]
        let form = MultipartForm(parts: [.data(slice, name: "n"), .data(slice.prefix(0), name: "e")], boundary: "B")
        let head = "--B\r\nContent-Disposition: form-data; name="
        let expected = Data("\(head)\"n\"\r\n\r\n345\r\n\(head)\"e\"\r\n\r\n\r\n--B--\r\n".utf8)
        #expect(try form.data() == expected)
        #expect(try form.bodySource().readAll { 4 } == expected)
    }
}
