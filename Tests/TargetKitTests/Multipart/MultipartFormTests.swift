// SPDX-License-Identifier: MIT
import Foundation
@testable import TargetKit
import TestSupport
import Testing

@Suite("Making forms", .throttled)
struct MultipartFormTests {
    @Test("A form without parts is an error", arguments: [MultipartForm(parts: []), []])
    func empty(form: MultipartForm) {
        #expect(multipartError { _ = try form.data() }?.reason == .emptyForm)
        #expect(multipartError { _ = try form.bodySource() }?.reason == .emptyForm)
        #expect(form.isInMemory)
    }

    @Test("An array literal is a form with a random boundary")
    func literal() throws {
        let form: MultipartForm = [.text("a", name: "n"), .text("b", name: "m")]
        let body = try form.data()
        #expect(body.starts(with: Data("--\(form.boundary)\r\n".utf8)))
        #expect(form.contentType == "multipart/form-data; boundary=\(form.boundary)")
        #expect(
            try MultipartParser.parse(body, contentType: form.contentType).map(\.content) == [
                Data("a".utf8), Data("b".utf8),
            ]
        )
    }

    @Test("One image is photo.jpg, several are file0, file1, …, and each name can be another")
    func images() {
        let one = MultipartForm.Part.image(Data([1]))
        #expect([one.name, one.fileName, one.mimeType] == ["photo", "photo.jpg", "image/jpeg"])
        let other = MultipartForm.Part.image(Data([1]), name: "avatar", fileName: "me.png", mimeType: "image/png")
        #expect([other.name, other.fileName, other.mimeType] == ["avatar", "me.png", "image/png"])
        let several: [MultipartForm.Part] = .images([Data([1]), Data([2]), Data([3])])
        #expect(several.map(\.name) == ["file0", "file1", "file2"])
        #expect(several.map(\.fileName) == ["file0.jpg", "file1.jpg", "file2.jpg"])
        let named: [MultipartForm.Part] = .images(
            [Data(), Data()],
            name: "pics[{i}]",
            fileName: "{i}.png",
            mimeType: "image/png"
        )
        #expect(named.map(\.name) == ["pics[0]", "pics[1]"])
        #expect(named.map(\.fileName) == ["0.png", "1.png"])
        #expect(named.map(\.mimeType) == ["image/png", "image/png"])
        #expect([MultipartForm.Part].images([]).isEmpty)
    }

    @Test(
        "The type of an image is the one of its file name's extension, or JPEG",
        arguments: [
            ("me.png", "image/png"), ("{i}.HEIC", "image/heic"), ("a.b.webp", "image/webp"), ("me", "image/jpeg"),
            ("me.unknown", "image/jpeg"),
        ]
    )
    func imageTypes(fileName: String, type: String) {
        #expect(MultipartForm.Part.image(Data([1]), fileName: fileName).mimeType == type)
        #expect([MultipartForm.Part].images([Data([1])], fileName: fileName).map(\.mimeType) == [type])
    }

    private struct Rates: Encodable {
        var name: String
        var values: [Double]
    }

    private struct Refusing: Encodable {
        struct Refusal: Error, CustomStringConvertible {
            var description: String { "not on Sundays" }
        }

        func encode(to encoder: any Encoder) throws { throw Refusal() }
    }

    @Test("JSON that cannot be encoded is an error that says which part, where and why, without the value")
    func notEncodable() throws {
        let rates = Rates(name: "secret", values: [1, .infinity])
        let form: MultipartForm = [.text("t", name: "t"), .json(["a": rates], name: "rates")]
        let error = try #require(multipartError { _ = try form.data() })
        #expect(error.partIndex == 1)
        #expect(error.partName == "rates")
        #expect(error.description.hasPrefix("multipart form, part 2 \"rates\": the value can't be encoded, a Double "))
        #expect(error.description.contains("at a.values[1];"))
        #expect(!error.description.contains("secret"))
        #expect(multipartError { _ = try form.bodySource() } == error)
        let refusing: MultipartForm = [.json(Refusing(), name: "r")]
        #expect(multipartError { _ = try refusing.data() }?.reason == .notEncodable("Refusal"))
    }

    @Test("JSON is written by the given encoder")
    func encoder() throws {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "+",
            negativeInfinity: "-",
            nan: "?"
        )
        struct Value: Encodable { var someKey = Double.nan }
        let form: MultipartForm = [.json(Value(), name: "v", encoder: encoder)]
        let parts = try MultipartParser.parse(form.data(), contentType: form.contentType)
        #expect(parts.map(\.content) == [Data(#"{"some_key":"?"}"#.utf8)])
    }

    @Test("An error is one line, whatever the names in it")
    func oneLine() {
        let form: MultipartForm = [.file(URL(fileURLWithPath: "/no\nsuch\r\nfile"), name: "a\nb\r\nc")]
        let description = multipartError { _ = try form.bodySource() }?.description
        #expect(description?.contains(where: \.isNewline) == false)
    }
}
