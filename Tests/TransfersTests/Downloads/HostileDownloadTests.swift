// SPDX-License-Identifier: MIT
import Foundation
import TargetKitTesting
import TestSupport
import Testing

import PluginsTestSupport
@testable import TargetKit
import TargetKitTransfers

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Downloads: faults of servers, folders, and other programs", .throttled, .timeLimit(.minutes(2)))
struct HostileDownloadTests {
    private static let size = 300_000

    private let content = ServedFile(size: size)
    private let folder: TemporaryFolder
    private let provider = Provider<TestTarget>(transport: SystemTransport.patient)

    private var file: URL { folder.url.appendingPathComponent("file.bin") }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func target(_ server: TestServer, _ destination: DownloadDestination? = nil) -> TestTarget {
        TestTarget(server.baseURL).with {
            $0.task = .download(to: destination ?? .file(file).resumable)
            $0.validation = .successCodes
        }
    }

    /// A server that sends at most a number of bytes of each range.
    private func server(rangeSize: Int) throws -> TestServer {
        let content = content
        return try TestServer { request in
            guard let first = request.headers["range"].flatMap(ServedFile.first) else {
                return content.response(to: request, cut: 1000)
            }
            let body = content.data[first..<min(first + rangeSize, content.data.count)]
            let range = "bytes \(first)-\(first + body.count - 1)/\(content.data.count)"
            return content.response(status: 206, body, ["Content-Range": range])
        }
    }

    // MARK: Servers

    @Test("A server that divides the rest into long ranges is followed, without asking plugins")
    func longRanges() async throws {
        struct Asked: Plugin {
            let results = Recorder<Bool>()
            func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
                if case .success = result { results.append(true) } else { results.append(false) }
                return .doNotRetry
            }
        }
        let server = try server(rangeSize: 64 << 10)
        let asked = Asked()
        let provider = Provider<TestTarget>(transport: SystemTransport.patient, plugins: [asked])
        _ = await #expect(throws: TargetKitError.self) { try await provider.request(target(server)) }
        _ = try await provider.request(target(server))
        #expect(try Data(contentsOf: file).whole == content.data.whole)
        #expect(server.requestCount == 6)
        #expect(asked.results.elements == [false, true])
    }

    @Test("A server that sends one byte of each range is given up, and what has arrived stays")
    func shortRanges() async throws {
        let server = try server(rangeSize: 1)
        _ = await #expect(throws: TargetKitError.self) { try await provider.request(target(server)) }
        let error = try await #require(throws: TargetKitError.self) { try await provider.request(target(server)) }
        #expect(error.underlying is DownloadFailure)
        #expect(server.requestCount == 102)
        #expect(folder.names.count == 2)
    }

    @Test("The limit of an exchange includes the body", arguments: [true, false])
    func timeout(isResumable: Bool) async throws {
        let content = content
        let server = try TestServer { _ in
            let head = content.validators.merging(["Content-Length": "\(Self.size)"])
            return [.head(status: 200, headers: head), .body(content.data.prefix(1000)), .hang]
        }
        let target = target(server, isResumable ? nil : .file(file))
        let error = try await #require(throws: TargetKitError.self) {
            try await provider.request(target, options: .setting(\.timeout, .exchange(.seconds(10))))
        }
        #expect(error.kind == .timedOut)
        #expect(folder.names.count == (isResumable ? 2 : 0))
    }

    @Test("Over HTTP/1.0, a download continues as well")
    func oldProtocol() async throws {
        let content = content
        let server = try TestServer { request in
            let first = request.headers["range"].flatMap(ServedFile.first)
            let head =
                first.map { "206 Partial Content\r\nContent-Range: bytes \($0)-\(Self.size - 1)/\(Self.size)" }
                ?? "200 OK"
            let fields = "HTTP/1.0 \(head)\r\nETag: \"v1\"\r\n\r\n"
            let body = TestServer.Step.body(content.data.dropFirst(first ?? 0).prefix(first == nil ? 1000 : Self.size))
            return [.text(fields), body, first == nil ? .reset : .close]
        }
        _ = await #expect(throws: TargetKitError.self) { try await provider.request(target(server)) }
        _ = try await provider.request(target(server))
        #expect(try Data(contentsOf: file).whole == content.data.whole)
    }

    @Test("A rest that was refused with a status continues with renewed credentials of the same user")
    func renewed() async throws {
        struct Renewing: Plugin {
            let place = PluginPlace.authentication
            func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
                var request = request
                request.setValue("Bearer \(context.attempt)", forHTTPHeaderField: "Authorization")
                context.credentialOwner = CredentialOwner(identifier: "alice", fields: [.authorization])
                return request
            }
            func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
                guard case .failure = result, context.attempt < 3 else { return .doNotRetry }
                return .retry(after: .zero)
            }
        }
        let content = content
        let server = try TestServer { request in
            switch request.index {
            case 0: content.response(to: request, cut: 1000)
            case 1: .text(String(repeating: "no", count: 1000), status: 401)
            case 2: .text(String(repeating: "no", count: 1000), status: 403)
            default: content.response(to: request)
            }
        }
        let provider = Provider<TestTarget>(transport: SystemTransport.patient, plugins: [Renewing()])
        _ = try await provider.request(target(server))
        #expect(try Data(contentsOf: file).whole == content.data.whole)
        #expect(server.requests.map { $0.headers["Range"] } == [nil] + Array(repeating: "bytes=1000-", count: 3))
        #expect(server.requests.map { $0.headers["Authorization"] } == (0...3).map { "Bearer \($0)" })
    }

    // MARK: What stays

    @Test("A request that is not sent leaves nothing behind")
    func unsent() async throws {
        struct Refusing: Plugin {
            let place = PluginPlace.signing
            func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
                throw URLError(.userAuthenticationRequired)
            }
        }
        let content = content
        let server = try TestServer { content.response(to: $0) }
        let provider = Provider<TestTarget>(transport: SystemTransport.patient, plugins: [Refusing()])
        _ = await #expect(throws: TargetKitError.self) { try await provider.request(target(server)) }
        #expect(server.requestCount == 0)
        #expect(folder.names.isEmpty)
    }

    @Test("A complete file that cannot be moved stays, and the next call requests its last byte")
    func refusedPlace() async throws {
        struct Refusal: Error {}
        let (content, isRefused) = (content, Locked(true))
        let server = try TestServer { content.response(to: $0) }
        let destination = DownloadDestination.choose { [file] _, _ in
            if isRefused.withLock(\.self) { throw Refusal() }
            return file
        }
        let target = target(server, destination.resumable)
        let error = try await #require(throws: TargetKitError.self) { try await provider.request(target) }
        #expect(error.underlying is Refusal)
        isRefused.withLock { $0 = false }
        #expect(try await provider.request(target).file == file)
        #expect(server.requests.map { $0.headers["Range"] } == [nil, "bytes=\(Self.size - 1)-"])
        #expect(try Data(contentsOf: file).whole == content.data.whole)
    }

    @Test("The files of an incomplete download tell nothing of the URL's secrets, and its record is this user's")
    func secrets() async throws {
        let content = content
        let server = try TestServer { content.response(to: $0, cut: 1000) }
        for destination in [DownloadDestination.file(file), .folder(folder.url)] {
            let target = target(server, destination.resumable).with {
                $0.path = "/files/s3cret"
                $0.task = $0.task.query(["token": "t0ken"])
            }
            _ = await #expect(throws: TargetKitError.self) { try await provider.request(target) }
        }
        let names = folder.names
        #expect(names.count == 4)
        for name in names {
            let place = folder.url.appendingPathComponent(name)
            let text = String(decoding: try Data(contentsOf: place), as: UTF8.self)
            #expect(!name.contains("s3cret") && !text.contains("s3cret") && !text.contains("t0ken"))
            if name.hasSuffix(".json") { #expect(FileStatus(of: place)?.permissions == 0o600) }
        }
    }

    @Test("The parts of files without a place are in a folder that only this user can read")
    func hiddenFolder() throws {
        let destination = DownloadDestination.choose { _, _ in URL(filePath: "/") }
        let download = try PendingDownload(to: destination)
        let parts = [download.part, destination.part(for: try #require(URL(string: "https://example.com/a")))]
        for part in parts {
            let status = try #require(FileStatus(of: part.deletingLastPathComponent()))
            #expect(status.isPrivateFolder)
        }
    }

    // MARK: Folders and other programs

    @Test("A link to nothing is refused before anything is sent", arguments: [true, false])
    func danglingLink(isResumable: Bool) async throws {
        let outside = folder.url.appendingPathComponent("outside/none")
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: outside)
        let content = content
        let server = try TestServer { content.response(to: $0) }
        let target = target(server, isResumable ? .file(file).resumable : .file(file))
        let error = try await #require(throws: TargetKitError.self) { try await provider.request(target) }
        #expect(error.underlying as? InvalidRequest == .notAFile(path: file.path))
        #expect(server.requestCount == 0)
        #expect(folder.names == ["file.bin"])
    }

    /// A server that waits at a gate after the first 1,000 bytes.
    private func server(pausingAt gate: Gate) throws -> TestServer {
        try TestServer { [content] _ in
            let head = content.validators.merging(["Content-Length": "\(Self.size)"])
            return [
                .head(status: 200, headers: head), .body(content.data.prefix(1000)), .pause(until: gate),
                .body(content.data.dropFirst(1000)),
            ]
        }
    }

    @Test("A folder that is removed during the download is an error, and nothing is created", arguments: [true, false])
    func removedFolder(isResumable: Bool) async throws {
        let gate = Gate()
        let server = try server(pausingAt: gate)
        let inner = folder.url.appendingPathComponent("inner")
        let place = inner.appendingPathComponent("file")
        let target = target(server, isResumable ? .file(place).resumable : .file(place))
        let call = Task { try await provider.request(target) }
        await server.waitForHeads(1)
        while (FileManager.default.subpaths(atPath: inner.path) ?? []).isEmpty { await Task.yield() }
        await server.waitForBytes(sent: 1000)
        try FileManager.default.removeItem(at: inner)
        gate.open()
        let error = await #expect(throws: TargetKitError.self) { try await call.value }
        let code = try #require((error?.underlying as? URLError)?.code)
        #expect([.cannotMoveFile, .cannotCreateFile].contains(code))
        #expect(folder.names.isEmpty)
    }

    /// Puts a link in the place of a file, in one step.
    private func link(_ file: URL, to other: URL) throws {
        let link = folder.url.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: other)
        #expect(rename(link.path, file.path) == 0)
    }

    @Test(
        "A hidden file that another program removes, or replaces by a link, never empties the old file",
        arguments: [true, false]
    )
    func removedPart(isLinked: Bool) async throws {
        let gate = Gate()
        let server = try server(pausingAt: gate)
        let place = try folder.file("file", Data("old".utf8))
        let other = try folder.file("other", Data("other".utf8))
        let call = Task { [target = target(server, .file(place))] in try await provider.request(target) }
        await server.waitForHeads(1)
        var part: String?
        while part == nil {
            await Task.yield()
            part = folder.names.first { $0 != "file" && $0 != "other" }
        }
        await server.waitForBytes(sent: 1000)
        let url = folder.url.appendingPathComponent(try #require(part))
        if isLinked { try link(url, to: other) } else { try FileManager.default.removeItem(at: url) }
        gate.open()
        let result = await call.result
        let content = try Data(contentsOf: place)
        if case .failure = result {
            #expect(content == Data("old".utf8))
        } else {
            // The file was removed before its first bytes, so it was created again.
            #expect(!isLinked)
            #expect(content.count > 1000)
        }
        #expect(try Data(contentsOf: other) == Data("other".utf8))
    }

    @Test("A part that another program replaces during the download is not moved to the destination")
    func replacedPart() async throws {
        let gate = Gate()
        let server = try server(pausingAt: gate)
        let call = Task { [target = target(server)] in try await provider.request(target) }
        var part: String?
        while part == nil {
            await Task.yield()
            part = folder.names.first { $0.hasSuffix(".download") }
        }
        let place = folder.url.appendingPathComponent(try #require(part))
        let other = try folder.file("other", Data("mine".utf8))
        try link(place, to: other)
        gate.open()
        _ = await #expect(throws: TargetKitError.self) { try await call.value }
        #expect(!FileManager.default.fileExists(atPath: file.path))
        #expect(try Data(contentsOf: other) == Data("mine".utf8))
    }

    @Test("Of calls that take a name at once, one keeps it, and numbers are given once", arguments: [true, false])
    func names(isNumbered: Bool) async throws {
        let content = content
        let server = try TestServer { content.response(to: $0) }
        let destination = DownloadDestination.folder(folder.url).existingFile(isNumbered ? .number : .keep)
        let target = target(server, destination).with { $0.path = "/report.pdf" }
        let places = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<8 { group.addTask { try? await provider.request(target).file?.lastPathComponent } }
            return await group.reduce(into: [String]()) { if let name = $1 { $0.append(name) } }
        }
        let expected = isNumbered ? ["report.pdf"] + (2...8).map { "report \($0).pdf" } : ["report.pdf"]
        #expect(Set(places) == Set(expected) && places.count == expected.count)
        #expect(Set(folder.names) == Set(expected))
        for name in expected {
            #expect(try Data(contentsOf: folder.url.appendingPathComponent(name)).whole == content.data.whole)
        }
    }
}
