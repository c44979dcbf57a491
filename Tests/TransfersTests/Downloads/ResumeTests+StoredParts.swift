// SPDX-License-Identifier: MIT
import Foundation
import _TargetKitFiles
import TargetKitTesting
import TestSupport
import Testing

@testable import TargetKit
@testable import TargetKitTransfers

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What happens to the files of an incomplete download between two calls.
extension ResumeTests {
    /// The part's and the record's files.
    private func parts() throws -> (part: URL, record: URL) {
        let names = folder.names
        let part = try #require(names.first { $0.hasSuffix(".download") })
        let record = try #require(names.first { $0.hasSuffix(".json") })
        return (folder.url.appendingPathComponent(part), folder.url.appendingPathComponent(record))
    }

    /// Something that happens to the part or its record between two calls.
    enum Damage: String, CaseIterable, Sendable {
        case noRecord, emptyRecord, halfRecord, changedRecord, otherVersion, otherURL, otherBoot, noPart, emptyPart,
            longPart
        case linkedPart, folderAsPart, partOfTwoNames
        case pipeAsRecord, linkAsRecord, recordOfTwoNames, folderAsRecord, longRecord, linkAsNewRecord
    }

    @Test("A part whose record is not exactly right is not used", arguments: Damage.allCases)
    func damage(_ damage: Damage) async throws {
        let content = ServedFile(size: Self.size)
        let server = try server(content) { content.response(to: $0) }
        try await fail(provider, server)
        let (part, file) = try parts()
        let text = try String(contentsOf: file, encoding: .utf8)
        var record = try #require(PartRecord(try Data(contentsOf: file)))
        switch damage {
        case .noRecord: try FileManager.default.removeItem(at: file)
        case .emptyRecord: try Data().write(to: file)
        case .halfRecord: try Data(text.utf8.prefix(text.utf8.count / 2)).write(to: file)
        case .changedRecord:
            #expect(text.contains("\"length\":\(Self.size)"))
            try Data(text.replacingOccurrences(of: "\(Self.size)", with: "\(Self.size + 1)").utf8).write(to: file)
        case .otherVersion:
            try Data(text.replacingOccurrences(of: "\"version\":1", with: "\"version\":2").utf8).write(to: file)
        case .otherURL:
            record.identity = SHA256Hasher.hexadecimal(of: "http://other")
            try record.data.write(to: file)
        case .otherBoot:
            record.boot = "other"
            try record.data.write(to: file)
        case .noPart: try FileManager.default.removeItem(at: part)
        case .emptyPart: try Data().write(to: part)
        case .longPart: try (content.data + content.data).write(to: part)
        case .linkedPart:
            let bytes = try Data(contentsOf: part)
            try FileManager.default.removeItem(at: part)
            let other = try folder.file("other", bytes)
            try FileManager.default.createSymbolicLink(at: part, withDestinationURL: other)
        case .folderAsPart:
            try FileManager.default.removeItem(at: part)
            try FileManager.default.createDirectory(at: part, withIntermediateDirectories: false)
        case .partOfTwoNames:
            try FileManager.default.linkItem(at: part, to: folder.url.appendingPathComponent("other"))
        case .pipeAsRecord:
            try FileManager.default.removeItem(at: file)
            #expect(mkfifo(file.path, 0o600) == 0)
        case .linkAsRecord:
            let other = try folder.file("other", Data(text.utf8))
            try FileManager.default.removeItem(at: file)
            try FileManager.default.createSymbolicLink(at: file, withDestinationURL: other)
        case .recordOfTwoNames:
            try FileManager.default.linkItem(at: file, to: folder.url.appendingPathComponent("other"))
        case .folderAsRecord:
            try FileManager.default.removeItem(at: file)
            try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        case .longRecord: try Data((text + String(repeating: " ", count: 70_000)).utf8).write(to: file)
        case .linkAsNewRecord:
            try FileManager.default.removeItem(at: file)
            let other = try folder.file("other", Data("mine".utf8))
            let new = file.appendingPathExtension("new")
            try FileManager.default.createSymbolicLink(at: new, withDestinationURL: other)
        }
        let other = folder.url.appendingPathComponent("other")
        let before = try? Data(contentsOf: other)
        _ = try await provider.request(target(server))
        #expect(server.requests[1].headers["Range"] == nil)
        #expect(try Data(contentsOf: self.file).whole == content.data.whole)
        #expect((try? Data(contentsOf: other)) == before)
    }

    @Test("After another boot, only what was flushed counts")
    func boot() async throws {
        let content = ServedFile(size: Self.size)
        let server = try server(content) { content.response(to: $0) }
        try await fail(provider, server)
        let (part, file) = try parts()
        var record = try #require(PartRecord(try Data(contentsOf: file)))
        record.boot = "other"
        record.syncedByteCount = 1000
        try record.data.write(to: file)
        // What was not flushed is zeros.
        try (content.data.prefix(1000) + Data(count: Self.cut - 1000)).write(to: part)
        _ = try await provider.request(target(server))
        #expect(server.requests[1].headers["Range"] == "bytes=1000-")
        #expect(try Data(contentsOf: self.file).whole == content.data.whole)
    }

    @Test("A complete part needs one byte to be sure of its version", arguments: [1, 2] as [UInt64])
    func completePart(seed: UInt64) async throws {
        let (old, now) = (ServedFile(size: Self.size), ServedFile(size: Self.size, seed: seed))
        let server = try server(old) { now.response(to: $0) }
        try await fail(provider, server)
        try old.data.write(to: try parts().part)
        _ = try await provider.request(target(server))
        #expect(server.requests[1].headers["Range"] == "bytes=\(Self.size - 1)-")
        #expect(server.requestCount == 2)
        #expect(try Data(contentsOf: file).whole == now.data.whole)
    }
}
