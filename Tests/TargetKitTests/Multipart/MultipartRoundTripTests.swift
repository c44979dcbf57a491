// SPDX-License-Identifier: MIT
import Foundation
@testable import TargetKit
import TestSupport
import Testing

@Suite("What is written can be read back", .throttled)
struct MultipartRoundTripTests {
    /// Random forms that are the same for the same seed.
    struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            // SplitMix64.
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }

        mutating func text() -> String {
            let pieces = [
                "a", "Z", " ", "\"", "\r", "\n", "\r\n", "é", "汉", "😀", ";", "=", "\\", "--", ":", "\u{0}", "/", ".",
            ]
            return (0..<Int.random(in: 0...12, using: &self)).map { _ in pieces[Int.random(in: 0..<18, using: &self)] }
                .joined()
        }

        mutating func bytes(boundary: String) -> Data {
            let pieces = [
                Data([0]), Data([0xFF, 0xFE]), Data("\r\n".utf8), Data("\r\n--".utf8), Data("--\r\n".utf8),
                Data("\r\n--\(boundary.dropLast())".utf8), Data("text".utf8), Data("\r".utf8), Data("\n".utf8), Data(),
                Data(repeating: 0x2D, count: 300),
            ]
            return (0..<Int.random(in: 0...9, using: &self)).reduce(into: Data()) { result, _ in
                result += pieces[Int.random(in: 0..<pieces.count, using: &self)]
            }
        }

        mutating func part(boundary: String, in folder: TemporaryFolder) throws -> (MultipartForm.Part, Data) {
            let bytes = bytes(boundary: boundary)
            let fileName = Bool.random(using: &self) ? text() : nil
            let mimeType = Bool.random(using: &self) ? "application/x-\(Int.random(in: 0...99, using: &self))" : nil
            switch Int.random(in: 0..<4, using: &self) {
            case 0:
                let file = try folder.file("f\(next())", bytes)
                return (.file(file, name: text(), fileName: fileName, mimeType: mimeType), bytes)
            case 1:
                let step = Int.random(in: 1...9, using: &self)
                let source = SteppedSource(bytes, length: Int64(bytes.count), step: step)
                return (.stream(source, name: text(), fileName: fileName, mimeType: mimeType), bytes)
            case 2:
                let value = text()
                return (.text(value, name: text(), headers: ["X-A": "b"]), Data(value.utf8))
            default:
                return (.data(bytes, name: text(), fileName: fileName, mimeType: mimeType), bytes)
            }
        }
    }

    @Test(
        "Random forms come back as they were, read through buffers of random sizes",
        arguments: 0..<24 as Range<UInt64>
    )
    func random(seed: UInt64) throws {
        var generator = Generator(state: seed)
        let folder = try TemporaryFolder()
        for _ in 0..<25 {
            var form = MultipartForm(parts: [], boundary: MultipartForm.randomBoundary(using: &generator))
            var contents: [Data] = []
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let (part, bytes) = try generator.part(boundary: form.boundary, in: folder)
                form.parts.append(part)
                contents.append(bytes)
            }
            let largest = [1, 2, 16, 300, 5000][Int.random(in: 0..<5, using: &generator)]
            let source = try form.bodySource()
            let body = try source.readAll { Int.random(in: 1...largest, using: &generator) }
            #expect(source.length == Int64(body.count))
            #expect(try source.readAll() == body)
            if form.isInMemory { #expect(try form.data() == body) }
            try check(MultipartParser.parse(body, contentType: form.contentType), against: form, contents)
        }
    }

    private func check(_ parsed: [MultipartParser.Part], against form: MultipartForm, _ contents: [Data]) throws {
        try #require(parsed.count == form.parts.count)
        for (index, part) in form.parts.enumerated() {
            #expect(parsed[index].content == contents[index])
            #expect(parsed[index].parameter("name") == escaped(part.name, isFileName: false))
            #expect(parsed[index].parameter("filename") == part.fileName.map { escaped($0, isFileName: true) })
            #expect(parsed[index].header("Content-Type") == part.mimeType)
            #expect(parsed[index].header("X-A") == part.headers["X-A"])
        }
    }

    /// HTML's rule in its own words: by replacing scalars, not by walking over bytes.
    private func escaped(_ text: String, isFileName: Bool) -> String {
        var text = text
        if !isFileName {
            text = text.replacingOccurrences(of: "\r\n", with: "\n", options: .literal)
                .replacingOccurrences(of: "\r", with: "\n", options: .literal)
                .replacingOccurrences(of: "\n", with: "\r\n", options: .literal)
        }
        return text.unicodeScalars.map { scalar in
            ["\"": "%22", "\r": "%0D", "\n": "%0A"][scalar] ?? String(scalar)
        }.joined()
    }
}
