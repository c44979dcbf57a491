// SPDX-License-Identifier: MIT
import Foundation
@testable import TargetKit
import TestSupport
import Testing

@Suite("Forms that are read as they are sent", .throttled)
struct MultipartStreamingTests {
    private func form(_ file: URL) -> MultipartForm {
        MultipartForm(parts: [.text("t", name: "title"), .file(file, name: "upload")], boundary: "B")
    }

    /// The code of the file's error, whose text has the words.
    private func fileFailure(
        _ url: URL,
        _ words: String = "",
        _ body: () throws -> Void
    ) throws -> URLError.Code {
        let thrown = multipartError(body)
        let error = try #require(thrown)
        #expect(error.partIndex == 1)
        #expect(error.partName == "upload")
        guard case .file(let failure, let path) = error.reason else {
            Issue.record("not about a file: \(error)")
            return .unknown
        }
        #expect(path == (url.isFileURL ? url.path : url.absoluteString))
        #expect(error.filePath == path)
        #expect(error.description.contains(path.debugDescription))
        #expect(words.isEmpty || error.description.contains(words))
        return failure.code
    }

    @Test("It can be opened again, also while another reader is half way, and gives the same bytes")
    func opensAgain() throws {
        let folder = try TemporaryFolder()
        let bytes = Data((0..<10_000).map { UInt8(truncatingIfNeeded: $0) })
        let source = try form(folder.file("f", bytes)).bodySource()
        let first = try source.open()
        let start = try first.readSome(5000)
        let whole = try source.readAll { 777 }
        #expect(start.count == 5000)
        #expect(try start + first.readAll() == whole)
        #expect(try source.readAll() == whole)
        #expect(source.length == Int64(whole.count))
    }

    @Test(
        "A file that is longer than a large buffer begins in one of its own; no byte is lost",
        arguments: [16 << 10, 64 << 10]
    )
    func longFile(bufferSize: Int) throws {
        let folder = try TemporaryFolder()
        let bytes = Data((0..<(3 * bufferSize + 5)).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let source = try form(folder.file("f", bytes)).bodySource()
        let reader = try source.open()
        let head = try reader.readSome(bufferSize)
        let start = try reader.readSome(bufferSize)
        #expect(head.count < bufferSize && head.suffix(4) == Data("\r\n\r\n".utf8))
        #expect(start == bytes.prefix(bufferSize))
        let whole = try source.readAll { 777 }
        #expect(try head + start + reader.readAll() == whole)
        #expect(source.length == Int64(whole.count))
    }

    @Test("A missing file is an error with its path when the body is made")
    func missing() throws {
        let folder = try TemporaryFolder()
        let url = folder.url.appendingPathComponent("no such 汉字")
        #expect(try fileFailure(url) { _ = try form(url).bodySource() } == .fileDoesNotExist)
        let below = try folder.file("file").appendingPathComponent("child")
        #expect(try fileFailure(below) { _ = try form(below).bodySource() } == .fileDoesNotExist)
    }

    @Test("A directory is an error with its path when the body is made")
    func directory() throws {
        let folder = try TemporaryFolder()
        #expect(try fileFailure(folder.url) { _ = try form(folder.url).bodySource() } == .fileIsDirectory)
    }

    @Test(
        "A URL that is no file's is an error that quotes it",
        arguments: ["https://example.com/a.txt", "data:,a", "a.txt"]
    )
    func notAFile(text: String) throws {
        let url = try #require(URL(string: text))
        #expect(try fileFailure(url, "isn't a file URL") { _ = try form(url).bodySource() } == .cannotOpenFile)
    }

    @Test("A file that goes between making the body and reading it is an error with its path")
    func goesBefore() throws {
        let folder = try TemporaryFolder()
        let url = try folder.file("f", Data(count: 100))
        let reader = try form(url).bodySource().open()
        try FileManager.default.removeItem(at: url)
        #expect(try fileFailure(url) { _ = try reader.readAll() } == .fileDoesNotExist)
        #expect(try fileFailure(url) { _ = try reader.readSome(1) } == .fileDoesNotExist)
    }

    @Test(
        "A file with another size than was promised is an error before its first byte",
        arguments: [0, 99, 101, 5000]
    )
    func changesBefore(size: Int) throws {
        let folder = try TemporaryFolder()
        let url = try folder.file("f", Data(count: 100))
        let source = try form(url).bodySource()
        try Data(count: size).write(to: url)
        let code = try fileFailure(url, "changed size from 100 to \(size) bytes") { _ = try source.readAll() }
        #expect(code == .cannotOpenFile)
    }

    @Test(
        "A file that shrinks or grows while it is sent is an error by its last byte",
        arguments: [0, 10, 1999, 2001, 9000]
    )
    func changesWhile(size: UInt64) throws {
        let folder = try TemporaryFolder()
        let url = try folder.file("f", Data(count: 2000))
        let source = try form(url).bodySource()
        let reader = try source.open()
        _ = try reader.readSome(500)
        let handle = try FileHandle(forWritingTo: url)
        try handle.truncate(atOffset: size)
        try handle.close()
        let code = try fileFailure(url, "changed size from 2000 to ") { _ = try reader.readAll { 64 } }
        #expect(code == .cannotOpenFile)
    }

    @Test("A file that cannot be read is an error with the system's reason")
    func unreadable() throws {
        let name = String(repeating: "x", count: 300)
        let url = URL(fileURLWithPath: "/tmp/\(name)")
        let code = try fileFailure(url, "too long") { _ = try form(url).bodySource() }
        #expect(code == .cannotOpenFile)
    }

    @Test("A stream's bytes stand where its part does")
    func stream() throws {
        let source = SteppedSource(Data("0123456789".utf8))
        let form = MultipartForm(
            parts: [.stream(source, name: "s", fileName: "s.txt"), .text("t", name: "t")],
            boundary: "B"
        )
        #expect(!form.isInMemory)
        let head = "--B\r\nContent-Disposition: form-data; name="
        let stream = "\(head)\"s\"; filename=\"s.txt\"\r\nContent-Type: text/plain\r\n\r\n0123456789\r\n"
        #expect(try form.bodySource().readAll { 7 } == Data("\(stream)\(head)\"t\"\r\n\r\nt\r\n--B--\r\n".utf8))
    }

    struct Broken: Error, CustomStringConvertible {
        var description: String { "wire cut" }
    }

    static let ten = Data("0123456789".utf8)
    static let streams: [(SteppedSource, MultipartError.Reason)] = [
        (SteppedSource(ten, length: nil), .unknownLength), (SteppedSource(ten, length: -1), .unknownLength),
        (SteppedSource(ten, length: 0), .wrongLength(expected: 0)),
        (SteppedSource(ten, length: 9), .wrongLength(expected: 9)),
        (SteppedSource(ten, length: 11), .wrongLength(expected: 11)),
        (SteppedSource(Data(), length: 1), .wrongLength(expected: 1)), (SteppedSource(ten, length: .max), .tooLong),
        (SteppedSource(ten, length: 20, failure: Broken()), .stream("Broken")),
        (SteppedSource(ten, length: 20, lastCount: -1), .stream("it returned a count of -1 for a buffer of 10 bytes")),
        (SteppedSource(ten, length: 20, lastCount: 99), .stream("it returned a count of 99 for a buffer of 10 bytes")),
    ]

    @Test("A stream that does not keep its length, or fails, is an error that names the part", arguments: streams)
    func brokenStream(source: SteppedSource, reason: MultipartError.Reason) {
        let form = MultipartForm(parts: [.text("t", name: "t"), .stream(source, name: "s")])
        let error = multipartError { _ = try form.bodySource().readAll() }
        #expect(error?.reason == reason)
        #expect(error?.partIndex == 1)
        #expect(error?.partName == "s")
    }

    @Test("Lengths that add up to more than Int64 holds are an error")
    func lengthsOverflow() {
        let source = SteppedSource(Data(), length: .max / 3)
        let form = MultipartForm(parts: (0..<4).map { .stream(source, name: "s\($0)") })
        #expect(multipartError { _ = try form.bodySource() }?.reason == .tooLong)
    }

    @Test("A stream's cancellation comes through as it is")
    func cancelledStream() throws {
        let source = SteppedSource(Data(), length: 5, failure: CancellationError())
        let body = try MultipartForm(parts: [.stream(source, name: "s")]).bodySource()
        #expect(throws: CancellationError.self) { try body.readAll() }
    }

    @Test("Data of a form with files or streams is refused, and says which part is in the way")
    func notInMemory() throws {
        let folder = try TemporaryFolder()
        let form = form(try folder.file("f"))
        #expect(!form.isInMemory)
        let error = multipartError { _ = try form.data() }
        #expect(error?.reason == .notInMemory)
        #expect(error?.partIndex == 1)
    }
}
