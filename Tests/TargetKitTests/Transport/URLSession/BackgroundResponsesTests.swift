// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@testable import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The responses of a background session")
struct BackgroundResponsesTests {
    private let folder: TemporaryFolder
    private let responses: BackgroundResponses
    private let head = ResponseHead(statusCode: 201, headers: ["ETag": "\"1\"", "Set-Cookie": "a=1"])

    init() throws {
        folder = try TemporaryFolder()
        responses = BackgroundResponses(in: folder.url.appendingPathComponent("background"))
    }

    private func request(_ path: String, _ body: TransportRequest.Body = .none) -> TransportRequest {
        TransportRequest(urlRequest: URLRequest(url: URL.example.appendingPathComponent(path)), body: body)
    }

    @Test("A response is taken once, into memory or a file", arguments: [true, false])
    func taken(isFile: Bool) throws {
        try Data("film".utf8).write(to: responses.file("body", of: "key"))
        try responses.store(head, of: "key")
        let file = folder.url.appendingPathComponent("film")
        let destination = isFile ? TransportRequest.Destination.file(file) : .memory()
        let response = try #require(try responses.take("key", to: destination))
        #expect(response.head.statusCode == 201)
        #expect(response.head.headers[.eTag] == "\"1\"")
        switch response.body {
        case .data(let data): #expect(!isFile && data == Data("film".utf8))
        case .file(let url): #expect(try isFile && Data(contentsOf: url) == Data("film".utf8))
        case .stream: Issue.record("a stream")
        }
        #expect(try responses.take("key", to: destination).map(\.head.statusCode) == nil)
        #expect(
            try FileManager.default.contentsOfDirectory(
                atPath: responses.file("x", of: "x").deletingLastPathComponent().path
            ).isEmpty
        )
    }

    @Test("A body without a head is no response yet")
    func incomplete() throws {
        try Data("film".utf8).write(to: responses.file("body", of: "key"))
        #expect(try responses.take("key", to: .memory()).map(\.head.statusCode) == nil)
    }

    @Test("A response over the limit of memory is an error, and is removed")
    func tooLarge() throws {
        try Data("film".utf8).write(to: responses.file("body", of: "key"))
        try responses.store(head, of: "key")
        #expect(throws: URLError(.dataLengthExceedsMaximum)) { try responses.take("key", to: .memory(limit: 3)) }
        #expect(try responses.take("key", to: .memory()).map(\.head.statusCode) == nil)
    }

    @Test("Requests with the same method, URL and body have the same key")
    func keys() throws {
        let requests = [
            request("a"), request("b"), request("a", .data(Data("1".utf8))), request("a", .data(Data("2".utf8))),
            request("a", .file(folder.url)), request("a", .stream(Source())),
        ]
        let keys = try requests.map { try BackgroundResponses.key(of: $0) }
        #expect(Set(keys).count == keys.count)
        #expect(try requests.map { try BackgroundResponses.key(of: $0) } == keys)
    }

    @Test("Old files are removed")
    func old() throws {
        try Data().write(to: responses.file("body", of: "key"))
        responses.removeOld(now: Date(timeIntervalSinceNow: 6 * 24 * 3600))
        #expect(FileManager.default.fileExists(atPath: responses.file("body", of: "key").path))
        responses.removeOld(now: Date(timeIntervalSinceNow: 8 * 24 * 3600))
        #expect(!FileManager.default.fileExists(atPath: responses.file("body", of: "key").path))
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
