// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitDiagnostics
import TargetKitJSON
import TargetKitTesting
import TestSupport
import Testing

@Suite("HAR file", .throttled, .timeLimit(.minutes(2)))
struct HARFileTests {
    private let folder: TemporaryFolder
    private let problems = Recorder<String>()

    init() throws {
        folder = try TemporaryFolder()
    }

    private var url: URL { folder.url.appending(path: "a/traffic.har") }

    private func file(sizeLimit: Int = 1 << 20) -> HARFile {
        HARFile(url, sizeLimit: sizeLimit) { [problems] in problems.append($0) }
    }

    private func entries(of file: URL) throws -> [JSONValue] {
        let archive = try JSONValue(parsing: Data(contentsOf: file))
        #expect(archive["log"]["version"].string == "1.2")
        return try #require(archive["log"]["entries"].array)
    }

    private func call(_ file: HARFile, body: String = "{}", path: RequestPath = "/things") async {
        let sample = SampleResponse.response(status: 200, data: Data(body.utf8))
        let provider = Provider<PluginTarget>.stubbed(HARPlugin(to: file))
        _ = await provider.result(PluginTarget(path: path, sampleResponse: sample))
    }

    @Test("The file is an archive after each entry")
    func growth() async throws {
        let file = file()
        for count in 1...5 {
            await call(file)
            await file.flush()
            #expect(try entries(of: url).count == count)
        }
        #expect(file.files == [url])
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(problems.elements.isEmpty)
    }

    @Test("An entry that was updated is replaced, whether the new one is longer or shorter")
    func updates() async throws {
        let transport = StreamingTransport()
        let file = file()
        let provider = Provider<PluginTarget>(transport: transport, plugins: [HARPlugin(to: file)])
        let stream = try await provider.stream(PluginTarget())
        await call(file)
        await file.flush()
        #expect(try entries(of: url)[0]["_isOpen"].bool == true)
        transport.gate.open()
        _ = try await stream.reduce(into: Data()) { $0 += $1 }
        await #expect(throws: TargetKitError.self) {
            try await Provider<PluginTarget>.stubbed(HARPlugin(to: file)).request(PluginTarget(), as: [Int].self)
        }
        await call(file)
        await file.flush()
        let entries = try entries(of: url)
        #expect(entries.count == 4)
        #expect(entries[0]["_isOpen"].bool == nil)
        #expect(entries[0]["response"]["content"]["size"].int == 10)
        #expect(entries[2]["_failure"].string == "decoding")
    }

    @Test("An entry is updated where it is, even if the file has reached its size")
    func updateAtLimit() async throws {
        let file = file(sizeLimit: 3_000)
        let sample = SampleResponse.response(status: 200, data: Data(repeating: 0x61, count: 1_000))
        await #expect(throws: TargetKitError.self) {
            try await Provider<PluginTarget>.stubbed(HARPlugin(to: file))
                .request(PluginTarget(sampleResponse: sample), as: [Int].self)
        }
        await file.flush()
        #expect(file.files.count == 1)
        let entries = try entries(of: url)
        #expect(entries.map { $0["_failure"].string } == ["decoding"])
        let size = try #require(FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int)
        // Otherwise, the test would pass without the change.
        #expect((1_501..<3_000).contains(size), "\(size) bytes")
    }

    @Test("An archive is continued, for example after a crash")
    func continued() async throws {
        await call(file())
        await file().flush()
        // The first file and its lock are released by now, or shared.
        let file = file()
        await call(file)
        await file.flush()
        #expect(try entries(of: url).count == 2)
    }

    @Test("An archive of another version of TargetKit is continued", arguments: ["0.0.1", "12.34.56-beta.7"])
    func otherVersion(version: String) async throws {
        let head = #"{"log":{"version":"1.2","creator":{"name":"TargetKit","version":"\#(version)"},"entries":["#
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("\(head)\n{}\n]}}\n".utf8).write(to: url)
        let file = file()
        await call(file)
        await file.flush()
        #expect(try entries(of: url).count == 2)
        #expect(problems.elements == [])
    }

    @Test("An archive whose last write a kill has cut short is continued after its complete entries")
    func cutShort() async throws {
        let file = file()
        for _ in 0..<3 { await call(file) }
        await file.flush()
        let whole = try Data(contentsOf: url)
        let separator = try #require(whole.range(of: Data(",\n".utf8), options: .backwards))
        let (start, end) = (separator.lowerBound, separator.upperBound)
        for size in [start - 1, start + 1, end, end + 100, whole.count - 5, whole.count - 1] {
            let copy = folder.url.appending(path: "\(size).har")
            try whole.prefix(size).write(to: copy)
            let file = HARFile(copy) { [problems] in problems.append($0) }
            await call(file)
            await file.flush()
            #expect(try entries(of: copy).count == (size < end ? 2 : 3), "\(size) of \(whole.count) bytes")
        }
        #expect(problems.elements == [])
    }

    @Test("Two plugins with one path write to it together")
    func together() async throws {
        let (first, second) = (file(), HARFile(folder.url.appending(path: "a/../a/traffic.har")))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask { await call(first) }
                group.addTask { await call(second) }
            }
        }
        await first.flush()
        #expect(try entries(of: url).count == 100)
    }

    @Test("Another file is left as it is, and the problem is reported once", arguments: ["notes", "{}", "\n]}}\n"])
    func otherFile(content: String) async throws {
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(content.utf8).write(to: url)
        let file = file()
        for _ in 0..<3 { await call(file) }
        await file.flush()
        #expect(try String(contentsOf: url, encoding: .utf8) == content)
        #expect(problems.count == 1)
        #expect(problems.elements[0].contains("isn't an archive written by HARFile; move it, or use another file"))
    }

    @Test("A file that another process has is not written to, until it is released")
    func otherProcess() async throws {
        let first = file()
        await call(first)
        await first.flush()
        let lock = folder.url.appending(path: "other.har")
        let descriptor = open(lock.path, O_RDWR | O_CREAT, 0o600)
        #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        let file = HARFile(lock) { [problems] in problems.append($0) }
        for _ in 0..<2 { await call(file) }
        await file.flush()
        #expect(problems.elements.count == 1)
        #expect(problems.elements.first?.contains("another process is recording into it") == true)
        flock(descriptor, LOCK_UN)
        close(descriptor)
        await call(file)
        await file.flush()
        let entries = try entries(of: lock)
        #expect(entries.count == 1)
        #expect(entries[0]["_dropped"].int == 2)
    }

    @Test("A file that cannot be created fails no call", arguments: ["file", "pipe", "folder", "link"])
    func unwritable(kind: String) async throws {
        let place = folder.url.appending(path: "place")
        switch kind {
        case "file": try Data().write(to: place)
        case "pipe": mkfifo(place.path, 0o600)
        case "folder": try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        default: try FileManager.default.createSymbolicLink(at: place, withDestinationURL: url)
        }
        let file = HARFile(kind == "file" ? place.appending(path: "x.har") : place) { [problems] in
            problems.append($0)
        }
        for _ in 0..<2 { await call(file) }
        await file.flush()
        #expect(problems.count == 1)
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }

    @Test("A full file is renamed, and a new one is started")
    func rotation() async throws {
        let file = file(sizeLimit: 5_000)
        for _ in 0..<20 {
            await call(file, body: String(repeating: "tea ", count: 200))
            await file.flush()
            for file in file.files { #expect(try Data(contentsOf: file).count <= 5_000) }
        }
        #expect(file.files.map(\.lastPathComponent) == ["traffic.1.har", "traffic.har"])
        #expect(try file.files.allSatisfy { try !entries(of: $0).isEmpty })
    }

    @Test("A file that was removed or moved is created again")
    func removed() async throws {
        let file = file()
        await call(file)
        await file.flush()
        try FileManager.default.removeItem(at: url)
        await call(file)
        await file.flush()
        #expect(try entries(of: url).count == 1)
        #expect(FileStatus(of: url.deletingLastPathComponent())?.isPrivateFolder == true)
    }

    @Test("More entries than can wait are dropped and counted")
    func burst() async throws {
        let file = file(sizeLimit: 64 << 20)
        let entries = Recorder<HAREntry>()
        _ = await Provider<PluginTarget>.stubbed(HARPlugin { entries.append($0) }).result(PluginTarget())
        let entry = try #require(entries.elements.first)
        for _ in 0..<20_000 { file.append(entry) }
        await file.flush()
        file.append(entry)
        await file.flush()
        let written = try self.entries(of: url)
        let dropped = written.compactMap { $0["_dropped"].int }.reduce(0, +)
        #expect(written.count + dropped == 20_001)
    }

    @Test("The calls in a file are replayed, and a body that was cut or not recorded is an error")
    func replay() async throws {
        let file = file()
        let secret = SampleResponse.json(#"{"token":"s3cr3t","number":1001}"#, status: 201)
        let image = SampleResponse.response(
            status: 200,
            headers: ["Content-Type": "image/png"],
            data: Data([0x89, 0xFF])
        )
        let long = SampleResponse.json("[\(String(repeating: "1,", count: 200))1]")
        let calls = [
            PluginTarget(path: "/a", sampleResponse: .json("[1]")), PluginTarget(path: "/b", sampleResponse: secret),
            PluginTarget(path: "/a", sampleResponse: .json("[2]")), PluginTarget(path: "/c", sampleResponse: image),
            PluginTarget(path: "/long", sampleResponse: long),
        ]
        let recorded = Provider<PluginTarget>.stubbed(HARPlugin(to: file, bodyLimit: 100))
        for call in calls { _ = try await recorded.request(call) }
        await file.flush()
        let replaying = Provider<PluginTarget>(transport: CassetteTransport(har: url))
        let texts = [try await replaying.request(calls[0]), try await replaying.request(calls[2])].map(\.data)
        #expect(texts == [Data("[1]".utf8), Data("[2]".utf8)])
        let redacted = try await replaying.request(calls[1])
        #expect(redacted.statusCode == 201)
        #expect(try JSONValue(parsing: redacted.data) == ["token": "<redacted>", "number": 1001])
        #expect(try await replaying.request(calls[3]).data == Data([0x89, 0xFF]))
        let error = await #expect(throws: TargetKitError.self) { try await replaying.request(calls[4]) }
        #expect(
            "\(error.map { "\($0)" } ?? "")".contains("isn't complete in the archive (The first 100 of 403 bytes.)")
        )
    }
}
