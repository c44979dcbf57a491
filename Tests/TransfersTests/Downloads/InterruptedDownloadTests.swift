// SPDX-License-Identifier: MIT
import Foundation
import TargetKitTesting
import TestSupport
import Testing

@testable import TargetKit
@testable import TargetKitTransfers

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Downloads that are interrupted at random moments. `TARGETKIT_DOWNLOAD_SERVER` makes this program the process that is
/// killed.
@Suite("Downloads: interruptions", .throttled, .serialized, .timeLimit(.minutes(5)))
struct InterruptedDownloadTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let size = 24 << 20
    private static let content = ServedFile(size: size)

    /// A server of the file that sends at most a piece a millisecond.
    private static func server(_ content: ServedFile) throws -> TestServer {
        var content = content
        content.pace = .milliseconds(1)
        return try TestServer { [content] request in content.response(to: request) }
    }

    private static func target(_ url: URL, to file: URL, segments: Int = 1) -> TestTarget {
        TestTarget(url).with {
            // Without segments, it cannot be continued.
            $0.task = .download(to: segments == 0 ? .file(file) : .file(file).segments(segments))
            $0.validation = .successCodes
        }
    }

    /// The numbers of bytes that were there when each request was sent.
    private static func positions(_ server: TestServer) -> [Int] {
        server.requests.map { $0.headers["range"].flatMap(ServedFile.first) ?? 0 }
    }

    @Test("A download that is cancelled 50 times is identical, and nothing that was stored is fetched twice")
    func cancelled() async throws {
        let server = try Self.server(Self.content)
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("file")
        let provider = Provider<TestTarget>(transport: SystemTransport.patient)
        var random = SeededGenerator(seed: 11)
        let stored = Recorder<Int>()
        for _ in 0..<50 {
            // Cancelled by the number of bytes that have been sent, not by time.
            let before = server.bytesSent
            let call = Task { try await provider.request(Self.target(server.baseURL, to: file)) }
            let byteCount = before + Int.random(in: 1...(400 << 10), using: &random)
            let cancelling = Task {
                await server.waitForBytes(sent: byteCount)
                call.cancel()
            }
            // A download that is complete before that begins again.
            if case .success = await call.result { stored.append(0) } else { stored.append(Self.partSize(in: folder)) }
            cancelling.cancel()
        }
        #expect(stored.count == 50)
        _ = try await provider.request(Self.target(server.baseURL, to: file))
        #expect(try Data(contentsOf: file).whole == Self.content.data.whole)
        // Of a file whose bytes are all there, the last one is requested.
        let expected = stored.elements.map { min($0, Self.content.data.count - 1) }
        #expect(Array(Self.positions(server).dropFirst()) == expected)
        #expect(folder.names == ["file"])
    }

    @Test("A file that changes between two attempts is noticed every time")
    func changing() async throws {
        let versions = (1...20).map { ServedFile(size: 400_000 + ($0 % 3), seed: UInt64($0)) }
        let version = Locked(0)
        let server = try TestServer { request in
            let number = version.withLock(\.self)
            guard number < versions.count else { return versions[versions.count - 1].response(to: request) }
            return versions[number].response(to: request, cut: 200_000)
        }
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("file")
        let provider = Provider<TestTarget>(transport: SystemTransport.patient)
        for number in versions.indices {
            version.withLock { $0 = number }
            _ = await #expect(throws: TargetKitError.self) {
                try await provider.request(Self.target(server.baseURL, to: file))
            }
        }
        version.withLock { $0 = versions.count }
        _ = try await provider.request(Self.target(server.baseURL, to: file))
        #expect(try Data(contentsOf: file).whole == versions.last?.data.whole)
        #expect(Self.positions(server).last == 200_000)
    }

    private static func partSize(in folder: TemporaryFolder) -> Int {
        guard let name = folder.names.first(where: { $0.hasSuffix(".download") }),
            let status = FileStatus(of: folder.url.appendingPathComponent(name))
        else { return 0 }
        return Int(status.size)
    }

    #if os(Linux)
    @Test("A process that is killed while it downloads continues when it is started again", arguments: [1, 4])
    func killed(segments: Int) async throws {
        // So that no process has ended when it is killed.
        let limit = Locked<Int?>(nil)
        var content = Self.content
        content.pace = .milliseconds(5)
        let server = try TestServer { [content] in content.response(to: $0, cut: limit.withLock(\.self)) }
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("file")
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path
        let words = [
            "TARGETKIT_DOWNLOAD_SERVER=\(server.baseURL)", "TARGETKIT_DOWNLOAD_FILE=\(file.path)",
            "TARGETKIT_DOWNLOAD_SEGMENTS=\(segments)", program, "--testing-library", "swift-testing", "--filter",
            "InterruptedDownloadTests.process",
        ]
        var random = SeededGenerator(seed: 5)
        for _ in 0..<8 {
            let (before, heads) = (server.bytesSent, server.headCount)
            let count = Int.random(in: 1...(2 << 20), using: &random)
            limit.withLock { $0 = count + (128 << 10) }
            let child = try ChildProcess("/usr/bin/env", words)
            await server.waitForHeads(heads + 1)
            await server.waitForBytes(sent: before + count)
            kill(child.id, SIGKILL)
            #expect(child.wait() == 128 + SIGKILL)
        }
        limit.withLock { $0 = nil }
        let (status, output, _) = try await ChildProcess.finished("/usr/bin/env", words)
        #expect(status == 0, "\(String(decoding: output, as: UTF8.self))")
        #expect(try Data(contentsOf: file).whole == Self.content.data.whole)
        #expect(folder.names == ["file"])
        let positions = Self.positions(server)
        if segments == 1 { #expect(positions == positions.sorted()) }
        #expect(positions.last ?? 0 > 0)
        // What the process had received and not stored is sent again.
        #expect(server.bytesSent < Self.size + 8 * segments * (1 << 20))
    }

    @Test(
        "A process that is killed while it downloads leaves the file, and a hidden one that the next download removes",
        arguments: [false, true]
    )
    func leftovers(replaces: Bool) async throws {
        let content = Self.content
        let server = try TestServer { _ in
            let head = content.validators.merging(["Content-Length": "\(Self.size)"])
            return [.head(status: 200, headers: head), .body(content.data.prefix(4 << 20)), .hang]
        }
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("file")
        if replaces { try Data("old".utf8).write(to: file) }
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path
        let words = [
            "TARGETKIT_DOWNLOAD_SERVER=\(server.baseURL)", "TARGETKIT_DOWNLOAD_FILE=\(file.path)",
            "TARGETKIT_DOWNLOAD_SEGMENTS=0", program, "--testing-library", "swift-testing", "--filter",
            "InterruptedDownloadTests.process",
        ]
        for round in 1...2 {
            let child = try ChildProcess("/usr/bin/env", words)
            await server.waitForBytes(sent: round * (4 << 20))
            kill(child.id, SIGKILL)
            #expect(child.wait() == 128 + SIGKILL)
            let hidden = folder.names.filter { $0 != "file" }
            #expect(hidden.count == round)
            for name in hidden {
                #expect(FileStatus(of: folder.url.appendingPathComponent(name))?.permissions == 0o600)
            }
        }
        // Without the minute for which a transport that replaces its file is given time.
        PartialFile.removeLeftovers(of: file, unchangedFor: 0)
        #expect(folder.names == (replaces ? ["file"] : []))
        if replaces { #expect(try Data(contentsOf: file) == Data("old".utf8)) }
    }

    @Test("The process that is killed", .enabled(if: environment["TARGETKIT_DOWNLOAD_SERVER"] != nil))
    func process() async throws {
        let url = try #require(Self.environment["TARGETKIT_DOWNLOAD_SERVER"].flatMap { URL(string: $0) })
        let file = URL(filePath: try #require(Self.environment["TARGETKIT_DOWNLOAD_FILE"]))
        let segments = Self.environment["TARGETKIT_DOWNLOAD_SEGMENTS"].flatMap { Int($0) } ?? 1
        let response = try await Provider<TestTarget>().request(Self.target(url, to: file, segments: segments))
        #expect(response.file == file)
    }

    /// A file system in memory of 2 MiB, which only the superuser can make.
    private final class SmallDisk: Sendable {
        let folder: URL
        private let parent: TemporaryFolder

        init?() throws {
            parent = try TemporaryFolder()
            folder = parent.url.appendingPathComponent("disk")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            guard geteuid() == 0, mount("tmpfs", folder.path, "tmpfs", 0, "size=2m") == 0 else { return nil }
        }

        deinit { umount(folder.path) }
    }

    @Test("A full disk is a clear error and keeps what can be continued", arguments: [nil, 1, 3])
    func full(segments: Int?) async throws {
        guard let disk = try SmallDisk() else {
            print("skipped: only the superuser can mount a small file system")
            return
        }
        let content = ServedFile(size: 3 << 20)
        let server = try TestServer { content.response(to: $0) }
        let file = disk.folder.appendingPathComponent("file")
        let filler = disk.folder.appendingPathComponent("filler")
        try Data(count: 1 << 20).write(to: filler)
        var target = Self.target(server.baseURL, to: file, segments: segments ?? 1)
        if segments == nil { target.task = .download(to: file) }
        let provider = Provider<TestTarget>(transport: SystemTransport.patient)
        let error = try await #require(throws: TargetKitError.self) { try await provider.request(target) }
        #expect(error.kind == .storageFull)
        #expect("\(error)".contains("check the free disk space"))
        #expect((error.underlying as? URLError)?.localizedDescription.contains("No space left on device") == true)
        try FileManager.default.removeItem(at: filler)
        #expect(FileManager.default.subpaths(atPath: disk.folder.path)?.count == [nil: 0, 1: 2, 3: 3][segments])
        guard let segments else { return }
        let again = try await #require(throws: TargetKitError.self) { try await provider.request(target) }
        #expect(again.kind == .storageFull)
        let positions = Self.positions(server)
        if segments == 1 { #expect(positions.count == 2) }
        #expect(positions.last ?? 0 > 500_000)
    }

    @Test("Of a write that the disk has no space for, what fits is kept, with its position")
    func partlyWritten() throws {
        guard let disk = try SmallDisk() else {
            print("skipped: only the superuser can mount a small file system")
            return
        }
        let part = try #require(DownloadPart.open(disk.folder.appendingPathComponent("part"), permissions: nil))
        let whole = PartSegments.Segment(start: 0, end: nil, position: 0)
        let segments = PartSegments(part, record: nil, segments: [whole], length: nil, progress: nil)
        try segments.begin()
        let bytes = [UInt8](repeating: 7, count: 3 << 20)
        #expect(throws: URLError.self) { try bytes.withUnsafeBytes { try segments.write($0, to: 0) } }
        #expect(segments.storedByteCount >= (2 << 20) - (256 << 10))
        #expect(segments.storedByteCount <= part.size)
    }
    #endif
}
