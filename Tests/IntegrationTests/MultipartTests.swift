// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TestSupport
import Testing

/// Forms with files as httpbin reads them.
@Suite("httpbin: multipart forms", .throttled, .needs(.httpbin), .timeLimit(.minutes(2)))
struct MultipartTests {
    /// What a form's name is on the server's side: line ends arrive escaped, as browsers send them, and a line's end is
    /// CR LF. The server takes a backslash for an escape, which it is not by HTML's rules for forms.
    private func received(_ name: String) -> String {
        var received = ""
        for character in name {
            switch character {
            case "\r\n", "\r", "\n": received += "%0D%0A"
            case "\\": break
            default: received.append(character)
            }
        }
        return received
    }

    @Test("Texts with awkward names and values are read as they were", arguments: Engine.allCases)
    func texts(engine: Engine) async throws {
        let form = MultipartForm(parts: Awkward.names.map { .text($0, name: $0) })
        let echo = try await engine.echo(of: .httpbin(.post, "/anything", .multipart(form)))
        #expect(echo.form == Dictionary(uniqueKeysWithValues: Awkward.names.map { (received($0), Echo.Values($0)) }))
        #expect(echo.files.isEmpty)
        #expect(echo.headers["Content-Type"] == form.contentType)
        #expect(echo.headers["Transfer-Encoding"] == nil)
    }

    @Test("Parts of every kind in memory are read", arguments: Engine.allCases)
    func inMemory(engine: Engine) async throws {
        let bytes = Data([0, 0xFF, 0x0D, 0x0A, 0x2D, 0x2D])
        let form: MultipartForm = [
            .text("Holiday", name: "album"),
            .text("second", name: "album"),
            .json(["a": 1], name: "meta"),
            .data(bytes, name: "photo", fileName: #"a "b" 汉字 🫖.png"#),
            .data(Data(), name: "empty", fileName: "empty.bin"),
            .data(Data("plain".utf8), name: "raw"),
        ]
        let echo = try await engine.echo(of: .httpbin(.post, "/anything", .multipart(form)))
        #expect(echo.form == ["album": ["Holiday", "second"], "meta": #"{"a":1}"#, "raw": "plain"])
        #expect(echo.files["photo"] == Echo.Values("data:image/png;base64," + bytes.base64EncodedString()))
        #expect(echo.files["empty"] == "")
        #expect(echo.files.count == 2)
    }

    @Test("A boundary that has to be quoted is read", arguments: Engine.allCases)
    func boundary(engine: Engine) async throws {
        let form = MultipartForm(parts: [.text("tea", name: "drink")], boundary: "a (quoted) boundary:1=2")
        let echo = try await engine.echo(of: .httpbin(.post, "/anything", .multipart(form)))
        #expect(echo.form == ["drink": "tea"])
    }

    @Test("Files and streams are read as they are sent, with the length of the whole", arguments: Engine.allCases)
    func streamed(engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let text = String(repeating: "汉字 \"tea\"\r\n--", count: 30_000)
        let file = try folder.file(#"my "notes" 🫖.txt"#, Data(text.utf8))
        let empty = try folder.file("empty.txt")
        var form: MultipartForm = [.text("before", name: "a")]
        form.parts += Awkward.names.map { .file(file, name: $0) }
        form.parts += [
            .file(empty, name: "none"),
            .stream(Repeated(byte: UInt8(ascii: "x"), count: 100_000), name: "stream", fileName: "x.txt"),
            .text("after", name: "z"),
        ]
        let length = try #require(try form.bodySource().length)
        let echo = try await engine.echo(of: .httpbin(.post, "/anything", .multipart(form)))
        #expect(echo.form == ["a": "before", "z": "after"])
        #expect(echo.headers["Content-Length"] == String(length))
        #expect(echo.headers["Expect"] == nil)
        #expect(Set(echo.files.keys) == Set(Awkward.names.map(received) + ["none", "stream"]))
        for name in Awkward.names { #expect(echo.files[received(name)] == Echo.Values(text)) }
        #expect(echo.files["none"] == "")
        #expect(echo.files["stream"] == Echo.Values(String(repeating: "x", count: 100_000)))
    }

    @Test("A form goes beside a query", arguments: Engine.allCases)
    func query(engine: Engine) async throws {
        let task = HTTPTask.multipart([.text("1", name: "a")]).query(["album": "汉字"])
        let echo = try await engine.echo(of: .httpbin(.put, "/anything", task))
        #expect(echo.form == ["a": "1"])
        #expect(echo.args == ["album": "汉字"])
    }

    @Test("Pictures get their usual names", arguments: Engine.allCases)
    func images(engine: Engine) async throws {
        let picture = Data([0xFF, 0xD8, 0xFF])
        let form = MultipartForm(parts: [.image(picture)] + .images([picture, picture]))
        let echo = try await engine.echo(of: .httpbin(.post, "/anything", .multipart(form)))
        let received: Echo.Values = "data:image/jpeg;base64,/9j/"
        #expect(echo.files == ["photo": received, "file0": received, "file1": received])
    }
}

/// A body of one byte, many times.
private struct Repeated: BodySource, Hashable {
    let byte: UInt8
    let count: Int

    var length: Int64? { Int64(count) }

    func open() throws -> any BodyReader {
        Reader(byte: byte, left: count)
    }

    private final class Reader: BodyReader {
        private let byte: UInt8
        private var left: Int

        init(byte: UInt8, left: Int) {
            self.byte = byte
            self.left = left
        }

        func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
            let count = min(left, buffer.count)
            buffer[..<count].initializeMemory(as: UInt8.self, repeating: byte)
            left -= count
            return count
        }
    }
}
