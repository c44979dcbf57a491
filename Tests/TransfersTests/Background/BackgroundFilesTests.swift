// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@testable import TargetKit
@testable import TargetKitTransfers

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The files of a background session", .throttled)
struct BackgroundFilesTests {
    private let folder: TemporaryFolder
    private let files: BackgroundFiles
    private let task = BackgroundTask.Name(transfer: "key", attempt: "1")
    private let head = ResponseHead(statusCode: 201, headers: ["ETag": "\"1\"", "Set-Cookie": "a=1"])

    init() throws {
        folder = try TemporaryFolder()
        files = BackgroundFiles(in: folder.url.appendingPathComponent("background"))
    }

    private func request(_ path: String, _ body: TransportRequest.Body = .none) -> TransportRequest {
        TransportRequest(urlRequest: URLRequest(url: URL.example.appendingPathComponent(path)), body: body)
    }

    @Test("A response is taken once, into memory or a file", arguments: [true, false])
    func taken(isFile: Bool) throws {
        try Data("film".utf8).write(to: files.file("body", of: task))
        try files.store(head, of: task)
        let file = folder.url.appendingPathComponent("film")
        let destination = isFile ? TransportRequest.Destination.file(file) : .memory()
        let response = try #require(try files.take("key", to: destination))
        #expect(response.head.statusCode == 201)
        #expect(response.head.headers[.eTag] == "\"1\"")
        switch response.body {
        case .data(let data): #expect(!isFile && data == Data("film".utf8))
        case .file(let url): #expect(try isFile && Data(contentsOf: url) == Data("film".utf8))
        case .stream, .upgraded: Issue.record("neither data nor a file")
        }
        #expect(try files.take("key", to: destination).map(\.head.statusCode) == nil)
        #expect(
            try FileManager.default.contentsOfDirectory(
                atPath: files.file("x", of: "x").deletingLastPathComponent().path
            ).isEmpty
        )
    }

    @Test("A body without a head is no response yet")
    func incomplete() throws {
        try Data("film".utf8).write(to: files.file("body", of: task))
        #expect(try files.take("key", to: .memory()).map(\.head.statusCode) == nil)
    }

    @Test("A response over the limit of memory is an error, and is removed")
    func tooLarge() throws {
        try Data("film".utf8).write(to: files.file("body", of: task))
        try files.store(head, of: task)
        #expect(throws: URLError(.dataLengthExceedsMaximum)) { try files.take("key", to: .memory(limit: 3)) }
        #expect(try files.take("key", to: .memory()).map(\.head.statusCode) == nil)
    }

    @Test("A response that cannot be moved to its destination remains")
    func remains() throws {
        try Data("film".utf8).write(to: files.file("body", of: task))
        try files.store(head, of: task)
        let missing = folder.url.appendingPathComponent("missing/film")
        #expect(throws: URLError.self) { try files.take("key", to: .file(missing)) }
        let response = try #require(try files.take("key", to: .memory()))
        guard case .data(let data) = response.body else { throw URLError(.badServerResponse) }
        #expect(data == Data("film".utf8))
    }

    @Test(
        "The response of a download that the system has continued describes the whole file",
        arguments: [true, false]
    )
    func continued(isContinued: Bool) throws {
        let part = ResponseHead(
            statusCode: 206,
            headers: [
                "Content-Range": "bytes 2-3/4", "Content-Length": "2", "Content-Digest": "sha-256=:AA==:",
                "ETag": "\"1\"",
            ]
        )
        try Data("film".utf8).write(to: files.file("body", of: task))
        try files.store(part, of: task, isContinued: isContinued)
        let whole = try #require(try files.take("key", to: .memory())).head
        #expect(whole.statusCode == (isContinued ? 200 : 206))
        #expect(whole.headers[.contentLength] == (isContinued ? "4" : "2"))
        #expect(whole.headers.contains("Content-Range") == !isContinued)
        #expect(whole.headers.contains("Content-Digest") == !isContinued)
        #expect(whole.headers[.eTag] == "\"1\"")
    }

    @Test("A part whose file has another length than it states does not become the whole file")
    func shortContinuation() throws {
        let part = ResponseHead(statusCode: 206, headers: ["Content-Range": "bytes 2-3/9"])
        try Data("film".utf8).write(to: files.file("body", of: task))
        try files.store(part, of: task, isContinued: true)
        #expect(try #require(try files.take("key", to: .memory())).head.statusCode == 206)
    }

    @Test("The identifier of a transfer is its key, whatever the request")
    func identifiers() throws {
        var form = request("a", .data(Data("boundary 1".utf8)))
        var next = request("a?time=2", .data(Data("boundary 2".utf8)))
        #expect(try BackgroundFiles.key(of: form) != BackgroundFiles.key(of: next))
        form.transferID = "1"
        next.transferID = "1"
        #expect(try BackgroundFiles.key(of: form) == BackgroundFiles.key(of: next))
        next.transferID = "2"
        #expect(try BackgroundFiles.key(of: form) != BackgroundFiles.key(of: next))
    }

    @Test("A file in the app's container has the same key when the container moves")
    func container() throws {
        let keys = try ["/containers/1", "/containers/2"].map { home in
            try BackgroundFiles.key(of: request("a", .file(URL(fileURLWithPath: home + "/film"))), home: home)
        }
        #expect(keys[0] == keys[1])
    }

    @Test("Requests for different ranges have different keys")
    func ranges() throws {
        var first = request("a")
        first.urlRequest.setValue("bytes=0-1", forHTTPHeaderField: "Range")
        var second = request("a")
        second.urlRequest.setValue("bytes=2-3", forHTTPHeaderField: "Range")
        #expect(try BackgroundFiles.key(of: first) != BackgroundFiles.key(of: second))
    }

    @Test("Requests with the same method, URL and body have the same key")
    func keys() throws {
        let requests = [
            request("a"), request("b"), request("a", .data(Data("1".utf8))), request("a", .data(Data("2".utf8))),
            request("a", .file(folder.url)), request("a", .stream(Source())),
        ]
        let keys = try requests.map { try BackgroundFiles.key(of: $0) }
        #expect(Set(keys).count == keys.count)
        #expect(try requests.map { try BackgroundFiles.key(of: $0) } == keys)
    }

    @Test("Old files are removed")
    func old() throws {
        try Data().write(to: files.file("body", of: task))
        files.removeOld(now: Date(timeIntervalSinceNow: 6 * 24 * 3600))
        #expect(FileManager.default.fileExists(atPath: files.file("body", of: task).path))
        files.removeOld(now: Date(timeIntervalSinceNow: 8 * 24 * 3600))
        #expect(!FileManager.default.fileExists(atPath: files.file("body", of: task).path))
    }
}

/// A body of one byte, which is read as it is sent.
private struct Source: BodySource {
    private final class Reader: BodyReader {
        private var isRead = false

        func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
            if isRead || buffer.isEmpty { return 0 }
            buffer[0] = 51
            isRead = true
            return 1
        }
    }

    var length: Int64? { 1 }

    func open() -> any BodyReader { Reader() }
}
