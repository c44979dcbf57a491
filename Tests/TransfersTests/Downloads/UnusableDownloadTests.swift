// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTransfers
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Downloads: responses without the file, and folders that cannot be written", .throttled, .timeLimit(.minutes(2)))
struct UnusableDownloadTests {
    private let folder: TemporaryFolder
    private let file: URL
    private let provider = Provider<TestTarget>(transport: SystemTransport.patient)

    init() throws {
        folder = try TemporaryFolder()
        file = try folder.file("file", Data("old".utf8))
    }

    private func target(_ server: TestServer, _ destination: DownloadDestination) -> TestTarget {
        TestTarget(server.baseURL).with {
            $0.task = .download(to: destination)
            $0.validation = .successCodes
        }
    }

    @Test(
        "A success without the file fails a download, and the old file is unchanged",
        arguments: [202, 204, 205],
        [false, true]
    )
    func withoutFile(status: Int, isResumable: Bool) async throws {
        let server = try TestServer { _ in
            TestServer.Response(status: status, body: status == 202 ? Data("{\"state\":\"queued\"}".utf8) : Data())
        }
        let destination: DownloadDestination = isResumable ? .file(file).resumable : .file(file)
        let error = try await #require(throws: TargetKitError.self) {
            try await provider.request(target(server, destination))
        }
        #expect(error.stage == .status)
        #expect(error.response?.statusCode == status)
        #expect(error.response?.file == nil)
        #expect(try Data(contentsOf: file) == Data("old".utf8))
        #expect(folder.names == ["file"])
        for validation in [StatusValidation.none, .codes([200, status])] {
            let target = target(server, destination).with { $0.validation = validation }
            let response = try await provider.request(target)
            #expect(response.statusCode == status && response.file == nil)
            #expect(try Data(contentsOf: file) == Data("old".utf8))
        }
    }

    @Test(
        "A part that the target has not requested is not the file",
        arguments: [
            ("application/pdf", nil, false), ("application/pdf", "bytes=0-9", true),
            ("multipart/byteranges; boundary=a", "bytes=0-9", false),
            ("multipart/byteranges; boundary=a", "bytes=0-1,5-9", true),
        ] as [(String, String?, Bool)]
    )
    func parts(type: String, range: String?, isAccepted: Bool) async throws {
        let server = try TestServer { _ in
            let headers: HTTPHeaders = ["Content-Type": type, "Content-Range": "bytes 0-9/100"]
            return TestServer.Response(status: 206, headers: headers, body: Data(count: 10))
        }
        let target = target(server, .file(file)).with { if let range { $0.headers = ["Range": range] } }
        if isAccepted {
            #expect(try await provider.request(target).file == file)
        } else {
            let error = try await #require(throws: TargetKitError.self) { try await provider.request(target) }
            #expect((error.underlying as? URLError)?.code == .badServerResponse)
            #expect(try Data(contentsOf: file) == Data("old".utf8))
        }
        #expect(folder.names == ["file"])
    }

    @Test("A rest as multipart/byteranges is refused, although its Content-Range is right")
    func multipartRest() async throws {
        let content = ServedFile(size: 300_000)
        let server = try TestServer { request in
            if request.index != 1 { return content.response(to: request, cut: request.index == 0 ? 1000 : nil) }
            let headers: HTTPHeaders = [
                "Content-Type": "Multipart/ByteRanges; boundary=a", "Content-Range": "bytes 1000-299999/300000",
            ]
            return content.response(status: 206, Data(count: 299_000), headers)
        }
        let target = target(server, .file(file).resumable)
        _ = await #expect(throws: TargetKitError.self) { try await provider.request(target) }
        _ = try await provider.request(target)
        #expect(server.requests.map { $0.headers["Range"] } == [nil, "bytes=1000-", nil])
        #expect(try Data(contentsOf: file).whole == content.data.whole)
    }

    @Test("A folder that cannot be written is named, and nothing is sent", arguments: [false, true])
    func readOnly(isFolder: Bool) async throws {
        let server = try TestServer { _ in TestServer.Response(body: Data("new".utf8)) }
        guard let disk = try ReadOnlyFolder() else { return }
        let place = disk.folder
        for isResumable in [false, true] {
            let destination: DownloadDestination = isFolder ? .folder(place) : .file(place.appending(path: "file"))
            let error = try await #require(throws: TargetKitError.self) {
                try await provider.request(target(server, isResumable ? destination.resumable : destination))
            }
            #expect(error.stage == .request)
            #expect(error.description.contains(place.path))
            #expect(error.description.contains(disk.reason))
        }
        let missing = place.appending(path: "new/folder")
        let error = try await #require(throws: TargetKitError.self) {
            try await provider.request(target(server, .folder(missing)))
        }
        #expect(error.description.contains(disk.reason))
        #expect(server.requestCount == 0)
    }

    /// A folder of a read-only file system, which only the superuser can make; else one without the permission.
    private final class ReadOnlyFolder: Sendable {
        let folder: URL
        let reason: String
        private let parent: TemporaryFolder

        init?() throws {
            parent = try TemporaryFolder()
            folder = parent.url.appendingPathComponent("disk")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            guard geteuid() == 0 else {
                reason = "Permission denied"
                chmod(folder.path, 0o500)
                return
            }
            reason = "Read-only file system"
            #if os(Linux)
            guard mount("tmpfs", folder.path, "tmpfs", UInt(MS_RDONLY), "size=1m") == 0 else {
                print("skipped: only the superuser can mount a file system")
                return nil
            }
            #else
            return nil
            #endif
        }

        deinit {
            #if os(Linux)
            umount(folder.path)
            #endif
            chmod(folder.path, 0o700)
        }
    }
}
