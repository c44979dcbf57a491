// SPDX-License-Identifier: MIT
import Foundation
import TargetKitTesting
import TestSupport
import Testing

import PluginsTestSupport
@testable import TargetKit
@testable import TargetKitTransfers

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Uploads: tus", .throttled, .timeLimit(.minutes(2)))
struct TusUploadTests {
    private static let size = 300_000
    private let fixture: UploadFixture

    init() throws {
        fixture = try UploadFixture(size: Self.size)
    }

    @Test("A file is created with its length and metadata, sent in parts, and its URL is the response's Location")
    func wholeUpload() async throws {
        let server = try TusServer()
        let upload = ResumableUpload.tus.metadata(["filename": "é.mp4", "private": ""]).chunkSize(128_000)
        let response = try await fixture.provider().request(fixture.target(server.baseURL, upload, method: .put))
        #expect(response.statusCode == 204)
        #expect(response.headers["Location"] == server.baseURL.absoluteString + "/files/1")
        #expect(server.content?.whole == fixture.content.whole)
        #expect(server.methods == ["OPTIONS", "POST", "PATCH", "PATCH", "PATCH"])
        let requests = server.server.requests
        #expect(requests.dropFirst().allSatisfy { $0.headers["Tus-Resumable"] == "1.0.0" })
        #expect(requests[1].headers["Upload-Length"] == "\(Self.size)")
        #expect(
            requests[1].headers["Upload-Metadata"] == "filename \(Data("é.mp4".utf8).base64EncodedString()),private"
        )
        #expect(requests[1].bodyByteCount == 0)
        #expect(requests[1].headers["Content-Type"] == nil)
        #expect(requests.dropFirst(2).map { $0.headers["Upload-Offset"] } == ["0", "128000", "256000"])
        #expect(requests.allSatisfy { !$0.isChunked })
        #expect(fixture.stateNames.isEmpty)
    }

    @Test("Data in memory is uploaded in the same way")
    func data() async throws {
        let server = try TusServer()
        let upload = ResumableUpload.tus.stateFolder(fixture.states).chunkSize(70_000)
        let target = fixture.target(server.baseURL, upload)
            .with { $0.task = .data(fixture.content).resumable(upload) }
        _ = try await fixture.provider().request(target)
        #expect(server.content?.whole == fixture.content.whole)
        #expect(server.methods.count { $0 == "PATCH" } == 5)
    }

    @Test("An empty file needs no request for its content")
    func empty() async throws {
        let fixture = try UploadFixture(size: 0)
        let server = try TusServer()
        let response = try await fixture.provider().request(fixture.target(server.baseURL, .tus))
        #expect(response.statusCode == 201)
        #expect(server.methods == ["OPTIONS", "POST"])
        #expect(fixture.stateNames.isEmpty)
        #expect(response.headers["Location"] == server.baseURL.absoluteString + "/files/1")
    }

    @Test("A small file is sent with its creation if the server supports that")
    func creationWithUpload() async throws {
        let server = try TusServer(options: ["Tus-Extension": "creation,creation-with-upload"])
        let response = try await fixture.provider().request(fixture.target(server.baseURL, .tus))
        #expect(response.statusCode == 201)
        #expect(server.methods == ["OPTIONS", "POST"])
        #expect(server.content?.whole == fixture.content.whole)
        #expect(response.headers["Location"] == server.baseURL.absoluteString + "/files/1")
        #expect(server.server.requests[1].headers["Content-Type"] == "application/offset+octet-stream")
    }

    @Test(
        "An upload that exists at a URL continues there, and its credentials stay at their origin",
        arguments: [true, false]
    )
    func givenURL(isSameOrigin: Bool) async throws {
        let (server, api) = (try TusServer(), try TestServer(response: .status(500)))
        server.state.withLock { state in
            state.uploads["/made"] = TusServer.Upload(length: Self.size, data: fixture.content.prefix(1000))
        }
        let url = server.baseURL.appendingPathComponent("made")
        let target = fixture.target(isSameOrigin ? server.baseURL : api.baseURL, .tus.url(url).chunkSize(200_000))
            .with { $0.headers = ["Authorization": "secret"] }
        let response = try await fixture.provider().request(target)
        #expect(server.methods == ["HEAD", "PATCH", "PATCH"])
        #expect(server.content?.whole == fixture.content.whole)
        #expect(response.headers["Location"] == url.absoluteString)
        #expect(server.server.requests.allSatisfy { ($0.headers["Authorization"] != nil) == isSameOrigin })
        #expect(api.requestCount == 0)
        #expect(fixture.stateNames.isEmpty)
    }

    @Test("An upload that the server does not have at the URL fails, and none is created", arguments: [404, 410])
    func missingURL(status: Int) async throws {
        let server = try TusServer { _, _ in .status(status) }
        let target = fixture.target(server.baseURL, .tus.url(server.baseURL.appendingPathComponent("made")))
        for _ in 0..<2 {
            let error = await #expect(throws: TargetKitError.self) { try await fixture.provider().request(target) }
            #expect(error?.kind == .notFound)
        }
        #expect(server.methods == ["HEAD", "HEAD"])
    }

    @Test("A changed file does not continue the upload at a URL")
    func changedContent() async throws {
        let server = try TusServer { request, number in number == 1 ? .status(500) : nil }
        server.state.withLock { $0.uploads["/made"] = TusServer.Upload(length: Self.size) }
        let target = fixture.target(server.baseURL, .tus.url(server.baseURL.appendingPathComponent("made")))
        _ = await #expect(throws: TargetKitError.self) { try await fixture.provider().request(target) }
        try Data(fixture.content.reversed()).write(to: fixture.file)
        let count = server.methods.count
        let error = await #expect(throws: TargetKitError.self) { try await fixture.provider().request(target) }
        #expect(error?.kind == .notFound)
        #expect(server.methods.count == count)
    }

    @Test("Without discovery, the upload is created at once, also behind a gateway that responds to OPTIONS")
    func withoutDiscovery() async throws {
        let server = try TusServer { request, _ in request.method.rawValue == "OPTIONS" ? .status(204) : nil }
        _ = try await fixture.provider().request(fixture.target(server.baseURL, .tus.withoutDiscovery))
        #expect(server.methods == ["POST", "PATCH"])
        #expect(server.content?.whole == fixture.content.whole)
    }

    @Test("Only tus has these options, and the URL is an http URL")
    func invalidOptions() async throws {
        let server = try TusServer()
        let url = server.baseURL
        for upload in [ResumableUpload.http.url(url), .http.withoutDiscovery, .tus.url(URL(filePath: "/made"))] {
            let error = await #expect(throws: TargetKitError.self) {
                try await fixture.provider().request(fixture.target(url, upload))
            }
            #expect(error?.kind == .invalidRequest)
        }
        #expect(server.methods.isEmpty)
    }

    @Test(
        "A server that does not speak tus receives one plain upload with the target's method",
        arguments: [200, 204, 400, 403, 404, 405, 501]
    )
    func plain(status: Int) async throws {
        let server = try TestServer { request in
            request.method.rawValue == "OPTIONS" ? .status(status) : .text("stored", status: 201)
        }
        let response = try await fixture.provider().request(fixture.target(server.baseURL, .tus, method: .put))
        #expect(response.statusCode == 201)
        #expect(server.requests.map(\.method.rawValue) == ["OPTIONS", "PUT"])
        #expect(server.requests[1].body.whole == fixture.content.whole)
        #expect(server.requests[1].headers["Content-Type"] == "video/mp4")
        #expect(server.requests[1].headers["Tus-Resumable"] == nil)
        #expect(fixture.stateNames.isEmpty)
    }

    @Test("A cancelled upload keeps its state in a private file, and the next call sends the rest")
    func cancelled() async throws {
        let server = try TusServer { request, number in number == 4 ? .hang : nil }
        let target = fixture.target(server.baseURL, .tus.chunkSize(100_000))
        let provider = fixture.provider()
        let call = Task { try await provider.request(target) }
        await server.server.waitForRequests(5)
        call.cancel()
        guard case .failure(let error as TargetKitError) = await call.result else {
            Issue.record("the call was not cancelled")
            return
        }
        #expect(error.stage == .cancelled)
        #expect(fixture.stateNames.sorted().map { $0.drop { $0 != "." } } == [".upload.json", ".upload.lock"])
        for name in fixture.stateNames {
            let status = FileStatus(of: fixture.states.appendingPathComponent(name))
            #expect(status?.permissions == 0o600)
        }
        #expect(FileStatus(of: fixture.states)?.permissions == 0o700)
        let response = try await provider.request(target)
        #expect(response.statusCode == 204)
        #expect(server.content?.whole == fixture.content.whole)
        #expect(Array(server.methods.dropFirst(5)) == ["HEAD", "PATCH"])
        #expect(server.server.requests[6].headers["Upload-Offset"] == "200000")
        #expect(fixture.stateNames.isEmpty)
    }

    @Test("A file that has changed begins a new upload, and the old one is deleted")
    func changed() async throws {
        let server = try TusServer { request, number in number == 3 ? .reset : nil }
        let target = fixture.target(server.baseURL, .tus.chunkSize(100_000))
        _ = await #expect(throws: TargetKitError.self) { try await fixture.provider().request(target) }
        let other = ServedFile(size: Self.size, seed: 9).data
        try other.write(to: fixture.file)
        _ = try await fixture.provider().request(target)
        #expect(server.content == other)
        #expect(Array(server.methods.dropFirst(4)) == ["DELETE", "OPTIONS", "POST", "PATCH", "PATCH", "PATCH"])
    }

    @Test("A file that changes during its upload fails the call")
    func changedMeanwhile() async throws {
        let file = fixture.file
        let server = try TusServer { request, number in
            if number == 2 { try? Data("other".utf8).write(to: file) }
            return nil
        }
        let error = await #expect(throws: TargetKitError.self) {
            try await fixture.provider().request(fixture.target(server.baseURL, .tus.chunkSize(100_000)))
        }
        #expect(error?.underlying as? UploadFailure == .fileChanged(path: fixture.file.path))
        #expect(error?.kind == .unreadableFile)
        #expect(fixture.stateNames.count == 2)
    }

    @Test("After a conflict the server is asked for the offset")
    func conflict() async throws {
        let server = try TusServer { request, number in
            number == 3 ? .status(409, headers: ["Tus-Resumable": "1.0.0"]) : nil
        }
        _ = try await fixture.provider().request(fixture.target(server.baseURL, .tus.chunkSize(200_000)))
        #expect(server.content?.whole == fixture.content.whole)
        #expect(server.methods == ["OPTIONS", "POST", "PATCH", "PATCH", "HEAD", "PATCH"])
    }

    @Test("A server that stores less than it receives gets the rest again, and one that stores nothing is an error")
    func storedPart() async throws {
        let server = try TusServer()
        server.state.withLock { $0.storedPart = 130_000 }
        let target = fixture.target(server.baseURL, .tus)
        _ = try await fixture.provider().request(target)
        #expect(server.content?.whole == fixture.content.whole)
        server.state.withLock { $0.storedPart = 0 }
        let error = await #expect(throws: TargetKitError.self) { try await fixture.provider().request(target) }
        #expect(error?.kind == .server)
        #expect(server.methods.count < 20)
    }

    @Test("A server that stores one byte of each request is given up")
    func shortParts() async throws {
        let server = try TusServer()
        server.state.withLock { $0.storedPart = 1 }
        let target = fixture.target(server.baseURL, .tus)
        let error = await #expect(throws: TargetKitError.self) { try await fixture.provider().request(target) }
        #expect(error?.kind == .server)
        #expect(server.methods.count { $0 == "PATCH" } == 101)
    }

    @Test(
        "A checksum is sent if the server checks it, and what arrived damaged is sent again",
        arguments: ["sha1", "sha256,md5"]
    )
    func checksum(algorithms: String) async throws {
        let options: HTTPHeaders = ["Tus-Extension": "creation,checksum", "Tus-Checksum-Algorithm": algorithms]
        let server = try TusServer(options: options) { request, number in number == 3 ? .status(460) : nil }
        _ = try await fixture.provider().request(fixture.target(server.baseURL, .tus.chunkSize(200_000)))
        #expect(server.content?.whole == fixture.content.whole)
        #expect(server.methods == ["OPTIONS", "POST", "PATCH", "PATCH", "PATCH"])
        let fields = server.server.requests.dropFirst(2).compactMap { $0.headers["Upload-Checksum"] }
        let name = algorithms == "sha1" ? UploadChecksum.sha1 : .sha256
        let parts = [
            fixture.content.prefix(200_000), fixture.content.dropFirst(200_000), fixture.content.dropFirst(200_000),
        ]
        #expect(try fields == parts.map { try name.field(of: .data($0)) })
    }

    @Test("A checksum that is never accepted is an error")
    func endlessDamage() async throws {
        let options: HTTPHeaders = ["Tus-Extension": "creation,checksum", "Tus-Checksum-Algorithm": "sha1"]
        let server = try TusServer(options: options) { request, _ in request.method == .patch ? .status(460) : nil }
        let error = await #expect(throws: TargetKitError.self) {
            try await fixture.provider().request(fixture.target(server.baseURL, .tus))
        }
        #expect(error?.underlying is UploadFailure)
        #expect(server.methods.count == 6)
    }

    @Test("An upload that the server no longer has is created again", arguments: [403, 404, 410])
    func gone(status: Int) async throws {
        let server = try TusServer { request, number in
            if number == 3 { return .reset }
            return number == 4 ? .status(status, headers: ["Tus-Resumable": "1.0.0"]) : nil
        }
        let target = fixture.target(server.baseURL, .tus.chunkSize(100_000))
        _ = await #expect(throws: TargetKitError.self) { try await fixture.provider().request(target) }
        _ = try await fixture.provider().request(target)
        #expect(Array(server.methods.dropFirst(4).prefix(3)) == ["HEAD", "OPTIONS", "POST"])
        #expect(server.state.withLock { $0.uploads["/files/2"]?.data }?.whole == fixture.content.whole)
    }

    @Test("An upload that disappears after its last byte was sent is not sent twice")
    func uncertain() async throws {
        let server = try TusServer { request, number in
            number == 2 ? .reset : number == 3 ? .status(404) : nil
        }
        let retry = RetryingPlugin { error, context in
            context.isRepeatable && context.attempt < 5 && error.kind == .connectionLost
        }
        let error = await #expect(throws: TargetKitError.self) {
            try await fixture.provider([retry]).request(fixture.target(server.baseURL, .tus))
        }
        #expect(error?.kind == .notFound)
        #expect(server.methods == ["OPTIONS", "POST", "PATCH", "HEAD"])
        #expect(fixture.stateNames.isEmpty)
    }

    @Test("An upload that is lost again and again is an error")
    func lostOften() async throws {
        let server = try TusServer { request, _ in request.method == .patch ? .status(404) : nil }
        let error = await #expect(throws: TargetKitError.self) {
            try await fixture.provider().request(fixture.target(server.baseURL, .tus.chunkSize(1000)))
        }
        #expect(error?.kind == .notFound)
        #expect(server.methods.count == 9)
    }

    @Test("A locked upload is retried by a plugin, after asking for the offset")
    func locked() async throws {
        let server = try TusServer { request, number in number == 3 ? .status(423) : nil }
        let attempts = Recorder<Int>()
        let retry = RetryingPlugin { error, context in
            attempts.append(context.attempt)
            return context.isRepeatable && error.response?.statusCode == 423
        }
        _ = try await fixture.provider([retry]).request(fixture.target(server.baseURL, .tus.chunkSize(200_000)))
        #expect(server.content?.whole == fixture.content.whole)
        #expect(server.methods == ["OPTIONS", "POST", "PATCH", "PATCH", "HEAD", "PATCH"])
        #expect(attempts.elements == [0])
    }

    @Test("The server's largest size is an error before the upload is created")
    func maximumSize() async throws {
        let server = try TusServer(options: ["Tus-Max-Size": "1000"])
        let error = await #expect(throws: TargetKitError.self) {
            try await fixture.provider().request(fixture.target(server.baseURL, .tus))
        }
        #expect(error?.underlying as? UploadFailure == .tooLarge(length: Int64(Self.size), limit: 1000))
        #expect(server.methods == ["OPTIONS"])
    }

    @Test(
        "A server with another version of tus, or without creation, is an error",
        arguments: [
            ["Tus-Version": "2.0.0"], ["Tus-Version": "0.2.2, 1.1.0"], ["Tus-Extension": "termination"],
        ] as [HTTPHeaders]
    )
    func unsupported(options: HTTPHeaders) async throws {
        let server = try TusServer(options: options)
        let error = await #expect(throws: TargetKitError.self) {
            try await fixture.provider().request(fixture.target(server.baseURL, .tus))
        }
        guard case .unsupported = error?.underlying as? UploadFailure else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(server.methods == ["OPTIONS"])
    }

    @Test("Two calls do not continue the same upload")
    func twice() async throws {
        let server = try TusServer { request, number in number == 2 ? .hang : nil }
        let target = fixture.target(server.baseURL, .tus)
        let first = Task { try await fixture.provider().request(target) }
        await server.server.waitForRequests(3)
        let error = await #expect(throws: TargetKitError.self) { try await fixture.provider().request(target) }
        #expect(error?.kind == .conflict)
        #expect(server.methods.count == 3)
        first.cancel()
        _ = await first.result
    }

    @Test("A cancelled upload is deleted if the app wants that")
    func terminated() async throws {
        let server = try TusServer { request, number in number == 3 ? .hang : nil }
        let target = fixture.target(server.baseURL, .tus.chunkSize(100_000).terminatedOnCancel)
            .with { $0.headers = ["Authorization": "Bearer t"] }
        let call = Task { try await fixture.provider().request(target) }
        await server.server.waitForRequests(4)
        call.cancel()
        _ = await call.result
        await server.server.waitForResponses(4)
        let request = server.server.requests[4]
        #expect(request.method == .delete)
        #expect(request.headers["Authorization"] == "Bearer t")
        #expect(request.headers["Upload-Offset"] == nil)
        #expect(server.state.withLock { $0.uploads.isEmpty })
        #expect(fixture.stateNames.isEmpty)
    }
}
