// SPDX-License-Identifier: MIT
import Foundation
import _TargetKitFiles
import TargetKitTesting
import TestSupport
import Testing

import PluginsTestSupport
@testable import TargetKit
import TargetKitTransfers

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Downloads: destinations", .throttled, .timeLimit(.minutes(3)))
struct DownloadDestinationTests {
    private let folder: TemporaryFolder
    private let outer: TemporaryFolder

    init() throws {
        outer = try TemporaryFolder()
        folder = try TemporaryFolder()
    }

    private func file(_ name: String) -> URL { folder.url.appendingPathComponent(name) }

    /// Downloads "new" from a server with those fields.
    private func download(
        to destination: DownloadDestination,
        path: RequestPath = "/things",
        body: String = "new",
        _ headers: HTTPHeaders = [:]
    ) async throws -> Response {
        let server = try TestServer { request in
            request.path == "/redirected"
                ? .redirect(to: "/final/name.txt") : TestServer.Response(headers: headers, body: Data(body.utf8))
        }
        let target = TestTarget(server.baseURL).with {
            $0.path = path
            $0.task = .download(to: destination)
            $0.validation = .successCodes
        }
        return try await Provider<TestTarget>(transport: SystemTransport.patient).request(target)
    }

    /// Both ways in which a file is received.
    private static func both(_ destination: DownloadDestination) -> [DownloadDestination] {
        [destination, destination.resumable]
    }

    @Test(
        "The name in a folder is the server's, without anything that leaves the folder",
        arguments: [
            ("attachment; filename=\"report.pdf\"", "report.pdf"),
            ("attachment; filename=../../etc/passwd", "passwd"),
            ("attachment; filename=\"..\\\\..\\\\boot.ini\"", "boot.ini"),
            ("attachment; filename=\"/etc/cron.d/job\"", "job"),
            ("attachment; filename*=UTF-8''..%2F..%2Fevil", "evil"),
            ("attachment; filename=\"..\"", "things"),
            ("attachment; filename=\".\"", "things"),
            ("attachment; filename=\"\"", "things"),
            ("attachment; filename=\".bashrc\"", "bashrc"),
            ("attachment; filename=\"a\u{202E}fdp.exe\"", "afdp.exe"),
            ("attachment; filename=\"con.txt\"", "_con.txt"),
            ("attachment; filename*=UTF-8''%e2%82%ac%20rates.txt", "€ rates.txt"),
            ("inline", "things"),
            ("attachment; filename", "things"),
        ]
    )
    func names(field: String, name: String) async throws {
        for destination in Self.both(.folder(folder.url)) {
            let response = try await download(to: destination, ["Content-Disposition": field])
            #expect(response.file == file(name))
            #expect(folder.names == [name])
            #expect(try Data(contentsOf: file(name)) == Data("new".utf8))
        }
    }

    @Test(
        "Without a name, that of the last URL is used",
        arguments: [("/a/b.txt", "b.txt"), ("/", "download"), ("/redirected", "name.txt"), ("/a/..%2Fb", "b")]
            as [(String, String)]
    )
    func nameOfURL(path: String, name: String) async throws {
        let response = try await download(to: .folder(folder.url), path: RequestPath(stringLiteral: path))
        #expect(response.file == file(name))
        #expect(folder.names == [name])
    }

    @Test("In a folder, a symbolic link is replaced and not followed")
    func link() async throws {
        let victim = try outer.file("victim", Data("old".utf8))
        for destination in Self.both(.folder(folder.url)) {
            try? FileManager.default.removeItem(at: file("report"))
            try FileManager.default.createSymbolicLink(at: file("report"), withDestinationURL: victim)
            _ = try await download(to: destination, ["Content-Disposition": "attachment; filename=report"])
            #expect(try Data(contentsOf: victim) == Data("old".utf8))
            #expect(try Data(contentsOf: file("report")) == Data("new".utf8))
            #expect(folder.names == ["report"])
        }
    }

    @Test("In a folder, another folder of the name is not replaced")
    func folderOfName() async throws {
        try FileManager.default.createDirectory(at: file("report"), withIntermediateDirectories: false)
        let error = try await #require(throws: TargetKitError.self) {
            try await download(to: .folder(folder.url), ["Content-Disposition": "attachment; filename=report"])
        }
        #expect(error.description.contains("a regular file"))
        #expect(folder.names == ["report"])
    }

    @Test("An existing file is replaced with its permissions, kept, or the new one gets a number")
    func existing() async throws {
        for isResumable in [false, true] {
            func destination(_ rule: DownloadDestination.ExistingFile) -> DownloadDestination {
                let destination = DownloadDestination.file(file("report.pdf")).existingFile(rule)
                return isResumable ? destination.resumable : destination
            }
            for name in folder.names { try FileManager.default.removeItem(at: file(name)) }
            _ = try folder.file("report.pdf", Data("old".utf8))
            chmod(file("report.pdf").path, 0o640)
            let error = try await #require(throws: TargetKitError.self) { try await download(to: destination(.keep)) }
            #expect(error.kind == .conflict)
            #expect(error.stage == .request)
            #expect(error.request?.url != nil)
            #expect(try Data(contentsOf: file("report.pdf")) == Data("old".utf8))
            #expect(try await download(to: destination(.number)).file == file("report 2.pdf"))
            #expect(try await download(to: destination(.number)).file == file("report 3.pdf"))
            #expect(try Data(contentsOf: file("report.pdf")) == Data("old".utf8))
            #expect(try await download(to: destination(.replace)).file == file("report.pdf"))
            #expect(try Data(contentsOf: file("report.pdf")) == Data("new".utf8))
            #expect(FileStatus(of: file("report.pdf"))?.permissions == 0o640)
            #expect(folder.names.sorted() == ["report 2.pdf", "report 3.pdf", "report.pdf"])
        }
    }

    @Test("A file whose name is known with the response is kept, too")
    func keptInFolder() async throws {
        _ = try folder.file("report", Data("old".utf8))
        for destination in Self.both(.folder(folder.url).existingFile(.keep)) {
            let error = try await #require(throws: TargetKitError.self) {
                try await download(to: destination, ["Content-Disposition": "attachment; filename=report"])
            }
            #expect(error.kind == .conflict)
            #expect(try Data(contentsOf: file("report")) == Data("old".utf8))
        }
    }

    @Test(
        "A number is put before the extension",
        arguments: [
            ("a.txt", "a 2.txt"), ("a", "a 2"), ("a.tar.gz", "a.tar 2.gz"), (".profile", ".profile 2"),
            (String(repeating: "n", count: 255), String(repeating: "n", count: 253) + " 2"),
        ]
    )
    func numbers(name: String, numbered: String) {
        #expect(DownloadDestination.numbered(file(name), number: 2).lastPathComponent == numbered)
    }

    @Test("A closure chooses the file, on another volume as well")
    func chosen() async throws {
        for base in [folder.url, URL(filePath: "/dev/shm/targetkit-\(UUID().uuidString)")] {
            defer { try? FileManager.default.removeItem(at: base) }
            let names = Recorder<String>()
            let destination = DownloadDestination.choose { head, name in
                names.append("\(head.statusCode) \(name)")
                return base.appendingPathComponent("new/\(name)")
            }
            for destination in Self.both(destination) {
                let response = try await download(to: destination, ["Content-Disposition": "attachment; filename=a/b"])
                #expect(response.file == base.appendingPathComponent("new/b"))
                #expect(try Data(contentsOf: base.appendingPathComponent("new/b")) == Data("new".utf8))
            }
            #expect(names.elements == ["200 b", "200 b"])
        }
    }

    @Test("An error of the closure, or a place that is not a file, fails the call")
    func refusedChoice() async throws {
        let places: [URL?] = [nil, URL(string: "https://example.com/file"), folder.url]
        for place in places {
            let error = try await #require(throws: TargetKitError.self) {
                try await download(
                    to: .choose { _, _ in
                        guard let place else { throw Boom() }
                        return place
                    }
                )
            }
            if place == nil { #expect(error.underlying is Boom) }
            #expect(folder.names.isEmpty)
        }
    }

    @Test("Missing folders are created")
    func folders() async throws {
        for destination in Self.both(.folder(folder.url.appendingPathComponent("a/b"))) {
            #expect(try await download(to: destination).file == folder.url.appendingPathComponent("a/b/things"))
        }
        let response = try await download(to: .file(file("c/d/e")))
        #expect(response.file == file("c/d/e"))
    }

    // MARK: Checksums

    /// Of "new", by `sha256sum`.
    private static let hexadecimal = "11507a0e2f5e69d5dfa40a62a1bd7b6ee57e6bcd85c67c9b8431b36fff21c437"
    private static let base64 = "EVB6Di9eadXfpApiob17buV+a82FxnybhDGzb/8hxDc="
    private static let other = "sha-256=:d435Qo+nKZ+gLcUHn7GQtQ72hiBVAgqoLsZnZPiTGPk=:"

    @Test("A file with the right checksums is stored")
    func rightChecksum() async throws {
        let right = "sha-256=:\(Self.base64):"
        let fields: [HTTPHeaders] = [
            [:], ["Repr-Digest": right], ["Content-Digest": right], ["Repr-Digest": right, "Content-Digest": right],
            ["Repr-Digest": "sha-512=:AAAA:"], ["Repr-Digest": "nonsense"],
        ]
        for fields in fields {
            for destination in Self.both(.file(file("a")).checksum(sha256: Self.hexadecimal.uppercased())) {
                _ = try await download(to: destination, fields)
                #expect(folder.names == ["a"])
            }
        }
    }

    @Test("A file with a wrong checksum is not stored, and the existing one is unchanged")
    func wrongChecksum() async throws {
        _ = try folder.file("a", Data("old".utf8))
        let wrong = String(repeating: "0", count: 64)
        let cases: [(DownloadDestination, HTTPHeaders)] = [
            (.file(file("a")).checksum(sha256: wrong), [:]),
            (.file(file("a")).checksum(), ["Repr-Digest": Self.other]),
            (.file(file("a")).checksum(), ["Content-Digest": Self.other, "ETag": "\"a\""]),
        ]
        for (destination, fields) in cases {
            for destination in Self.both(destination) {
                let error = try await #require(throws: TargetKitError.self) {
                    try await download(to: destination, fields)
                }
                #expect((error.underlying as? URLError)?.code == .badServerResponse)
                #expect(try Data(contentsOf: file("a")) == Data("old".utf8))
                #expect(folder.names == ["a"])
            }
        }
    }

    @Test("The digest of a rest is that of the rest, and Repr-Digest that of the file", arguments: [true, false])
    func digestOfRest(isRight: Bool) async throws {
        let content = ServedFile(size: 300_000)
        @Sendable func digest(_ data: Data) -> String {
            "sha-256=:\(Data(SHA256Hasher.digest(of: Array(data))).base64EncodedString()):"
        }
        let server = try TestServer { request in
            var content = content
            content.validators.add("Repr-Digest", value: digest(content.data))
            if request.index > 0 {
                let rest = isRight ? content.data.dropFirst(100_000) : content.data.dropFirst(1)
                content.validators.add("Content-Digest", value: digest(rest))
            }
            return content.response(to: request, cut: request.index == 0 ? 100_000 : nil)
        }
        let target = TestTarget(server.baseURL).with { $0.task = .download(to: .file(file("a")).resumable) }
        let provider = Provider<TestTarget>(transport: SystemTransport.patient)
        _ = await #expect(throws: TargetKitError.self) { try await provider.request(target) }
        if isRight {
            _ = try await provider.request(target)
            #expect(try Data(contentsOf: file("a")).whole == content.data.whole)
        } else {
            _ = await #expect(throws: TargetKitError.self) { try await provider.request(target) }
            #expect(folder.names.isEmpty)
        }
    }

    @Test(
        "A checksum that is none is refused before anything is sent",
        arguments: ["", "abc", String(repeating: "g", count: 64)]
    )
    func invalidChecksum(text: String) async throws {
        let error = try await #require(throws: TargetKitError.self) {
            try await download(to: .file(file("a")).checksum(sha256: text))
        }
        #expect(error.stage == .request)
        #expect(error.kind == .invalidRequest)
        #expect(folder.names.isEmpty)
    }

    @Test("The text of a task names the destination")
    func texts() {
        #expect(HTTPTask.download(to: .folder(folder.url)).description == "into the folder \(folder.url.path)")
        #expect(HTTPTask.download(to: .choose { _, _ in URL(filePath: "/") }).description == "into a chosen file")
    }
}
