// SPDX-License-Identifier: MIT
import Foundation
@testable import TargetKit
import TestSupport
import Testing

@Suite("A file as a body", .throttled)
struct FileBodySourceTests {
    /// The code of the error, whose text has the words.
    private func code(_ words: String, _ body: () throws -> Void) -> URLError.Code? {
        let error = #expect(throws: URLError.self, performing: body)
        #expect(error?.localizedDescription.contains(words) == true)
        return error?.code
    }

    @Test(
        "It reads the file's bytes and fills each buffer",
        arguments: [0, 1, 999, 1000, 1001, 70_000],
        [1, 7, 1000, 65_536]
    )
    func reads(size: Int, bufferSize: Int) throws {
        let folder = try TemporaryFolder()
        let bytes = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let source = try FileBodySource(folder.file("f", bytes))
        #expect(source.length == Int64(size))
        let reader = try source.open()
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = try reader.readSome(bufferSize)
            #expect(piece == rest.prefix(bufferSize))
            try #require(!piece.isEmpty)
            rest = rest.dropFirst(piece.count)
        }
        #expect(try reader.readSome(bufferSize).isEmpty)
    }

    @Test("Links are followed, and names with spaces, %, 汉字 and emoji are found")
    func names() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("a b%20 汉字 😀?#", Data("x".utf8))
        let link = folder.url.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        #expect(try FileBodySource(file).readAll() == Data("x".utf8))
        #expect(try FileBodySource(link).readAll() == Data("x".utf8))
    }

    @Test("Anything but a readable regular file is refused when the source is created")
    func refused() throws {
        let folder = try TemporaryFolder()
        let loop = folder.url.appendingPathComponent("loop")
        try FileManager.default.createSymbolicLink(at: loop, withDestinationURL: loop)
        let pipe = folder.url.appendingPathComponent("pipe")
        #expect(mkfifo(pipe.path, 0o600) == 0)
        let web = try #require(URL(string: "https://example.com/a"))
        let device = URL(fileURLWithPath: "/dev/null")
        #expect(
            code("\"\(folder.url.path)\" isn't a regular file") { _ = try FileBodySource(folder.url) }
                == .fileIsDirectory
        )
        #expect(code("\"\(pipe.path)\" isn't a regular file") { _ = try FileBodySource(pipe) } == .cannotOpenFile)
        #expect(code("\"/dev/null\" isn't a regular file") { _ = try FileBodySource(device) } == .cannotOpenFile)
        #expect(code("\"\(loop.path)\" can't be read") { _ = try FileBodySource(loop) } == .cannotOpenFile)
        #expect(code("\"https://example.com/a\" isn't a file URL") { _ = try FileBodySource(web) } == .cannotOpenFile)
    }

    @Test("A path with a NUL does not open the file named before the NUL")
    func nul() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("f", Data("x".utf8))
        let url = try #require(URL(string: file.absoluteString + "%00.txt"))
        #expect(throws: URLError.self) { _ = try FileBodySource(url) }
    }

    @Test("A file that grows while its last bytes are read is an error in that read")
    func grows() throws {
        let folder = try TemporaryFolder()
        let url = try folder.file("f", Data(count: 100))
        let reader = try FileBodySource(url).open()
        #expect(try reader.readSome(50).count == 50)
        try Data(count: 150).write(to: url)
        #expect(code("from 100 to 150 bytes") { _ = try reader.readSome(50) } == .cannotOpenFile)
    }

    @Test("A request's body is read from one source, whatever it is, and a file's failures are URL errors")
    func requestBody() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("f", Data("file".utf8))
        #expect(try TransportRequest.Body.none.source() == nil)
        #expect(try TransportRequest.Body.data(Data("data".utf8)).source()?.readAll() == Data("data".utf8))
        #expect(try TransportRequest.Body.stream(FileBodySource(file)).source()?.readAll() == Data("file".utf8))
        let source = try #require(try TransportRequest.Body.file(file).source())
        #expect(source.length == 4)
        #expect(try source.readAll() == Data("file".utf8))
        try FileManager.default.removeItem(at: file)
        #expect((#expect(throws: URLError.self) { try source.open() })?.code == .fileDoesNotExist)
        let missing = #expect(throws: URLError.self) { try TransportRequest.Body.file(file).source() }
        #expect(missing?.code == .fileDoesNotExist)
        #expect(
            (#expect(throws: URLError.self) { try TransportRequest.Body.file(folder.url).source() })?.code
                == .fileIsDirectory
        )
    }
}
