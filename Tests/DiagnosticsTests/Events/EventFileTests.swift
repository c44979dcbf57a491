// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitDiagnostics
import TargetKitJSON
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Event file", .throttled, .timeLimit(.minutes(2)))
struct EventFileTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "events-\(UUID())")
    private var file: URL { folder.appending(path: "network.jsonl") }

    /// Writes the events of some calls to each of the files at the same time.
    private func write(_ count: Int, to files: EventFile..., path: RequestPath = "/a") async {
        await withTaskGroup(of: Void.self) { group in
            for file in files {
                group.addTask {
                    let provider = Provider<PluginTarget>.stubbed(EventLogPlugin(output: file.append))
                    for _ in 0..<count { _ = await provider.result(PluginTarget(path: path)) }
                }
            }
        }
        for file in files { await file.flush() }
    }

    private func lines(_ file: URL) throws -> [JSONValue] {
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        #expect(text.hasSuffix("\n"))
        return try text.split(separator: "\n").map { try JSONValue(parsing: Data($0.utf8)) }
    }

    @Test("Events are appended as lines of JSON, and a later writer continues")
    func append() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        for _ in 0..<2 { await write(3, to: EventFile(file)) }
        let lines = try lines(file)
        #expect(lines.count == 30)
        #expect(lines.filter { $0["step"].string == "finished" }.count == 6)
        #expect(EventFile(file).files == [file])
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(FileStatus(of: folder)?.isPrivateFolder == true)
    }

    @Test("A file that cannot be renamed does not grow beyond its limit")
    func noRotation() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let obstacle = folder.appending(path: "network.1.jsonl/a")
        try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: true)
        await write(40, to: EventFile(file, sizeLimit: 2000))
        #expect(try Data(contentsOf: file).count <= 2000)
        #expect(try lines(file).last?["step"].string == "finished")
    }

    @Test("A file at its limit is renamed, so that at most twice the limit is kept, with the last events")
    func rotation() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let events = EventFile(file, sizeLimit: 2000)
        await write(40, to: events)
        #expect(events.files.map(\.lastPathComponent) == ["network.1.jsonl", "network.jsonl"])
        let sizes = try events.files.map { try Data(contentsOf: $0).count }
        #expect(sizes.allSatisfy { $0 <= 2000 })
        let kept = try events.files.flatMap { try lines($0) }
        #expect(kept.count > 5)
        #expect(kept.last?["step"].string == "finished")
    }

    @Test("An event larger than the limit is written to a file of its own")
    func large() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let events = EventFile(file, sizeLimit: 10)
        await write(1, to: events)
        #expect(try events.files.flatMap { try lines($0) }.count == 2)
    }

    @Test("Two writers of one file neither mix nor lose lines")
    func twoWriters() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        await write(100, to: EventFile(file), EventFile(file))
        #expect(try lines(file).count == 1000)
        await write(100, to: EventFile(file, sizeLimit: 50_000), EventFile(file, sizeLimit: 50_000))
        for file in EventFile(file).files { #expect(try lines(file).count > 100) }
    }

    @Test("A line that a crash has cut off is ended before the next one")
    func torn() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(#"{"step":"se"#.utf8).write(to: file)
        await write(1, to: EventFile(file))
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        let lines = text.split(separator: "\n")
        #expect(lines.count == 6)
        #expect(lines.dropFirst().allSatisfy { (try? JSONValue(parsing: Data($0.utf8))) != nil })
    }

    @Test("A file that is removed is created again, and one that cannot be written drops events")
    func removed() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let events = EventFile(file)
        await write(1, to: events)
        try FileManager.default.removeItem(at: folder)
        await write(1, to: events)
        #expect(try lines(file).count == 5)
        await write(1, to: EventFile(folder), EventFile(URL(string: "https://h.example/a") ?? .shop))
        #expect(try lines(file).count == 5)
    }

    @Test("A link in the place of the file is not followed")
    func link() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let other = folder.appending(path: "other")
        try Data("x".utf8).write(to: other)
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: other)
        await write(1, to: EventFile(file))
        #expect(try Data(contentsOf: other) == Data("x".utf8))
    }

    @Test("No secret is written", arguments: [SecretPlace.urls, SecretPlace.headers].joined().map { $0 })
    func secrets(_ place: SecretPlace) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let events = EventFile(file)
        let provider = Provider<TestTarget>.stubbed(EventLogPlugin(output: events.append))
        for name in ["access_token", "X-Session-Key", "clientSecret"] {
            _ = await provider.result(place.make(name, "s3cret").with { $0.validation = .codes([299]) })
        }
        await events.flush()
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        #expect(text.contains("finished"))
        #expect(!text.contains("s3cret"))
    }
}
