// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@testable import TargetKit

@Suite("The log of records", .throttled)
struct RecordLogTests {
    private struct Entry: Codable, Sendable, Hashable {
        var name: String
    }

    private let folder: TemporaryFolder
    private var file: URL { folder.url.appendingPathComponent("a/log") }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func entries(_ names: String...) -> [Entry] { names.map { Entry(name: $0) } }

    private func lines(_ names: String...) throws -> [Data] {
        try names.map { try RecordLog.line(of: Entry(name: $0)) }
    }

    @Test("Records are there when the file is opened again")
    func reopened() throws {
        do {
            let log = try RecordLog<Entry>(file)
            #expect(log.records.isEmpty)
            try log.append(lines("a", "line\nbreak"))
            try log.append(lines("ü"))
        }
        #expect(try RecordLog<Entry>(file).records == entries("a", "line\nbreak", "ü"))
    }

    @Test("Every prefix of a file is read up to its last complete record")
    func truncated() throws {
        do { try RecordLog<Entry>(file).append(lines("first", "second", "third")) }
        let data = try Data(contentsOf: file)
        for size in 0..<data.count {
            try data.prefix(size).write(to: file)
            let log = try RecordLog<Entry>(file)
            // A record that lacks only its line feed is complete.
            let lineCount = data.prefix(size + 1).filter { $0 == 10 }.count
            #expect(log.records == Array(entries("first", "second", "third").prefix(lineCount)))
            #expect(log.unreadableCount == 0)
            try log.append(lines("next"))
            #expect(try Data(contentsOf: file).filter { $0 == 10 }.count == lineCount + 1)
        }
    }

    @Test("A changed byte damages one record, which stays in the file")
    func damaged() throws {
        do { try RecordLog<Entry>(file).append(lines("first", "second", "third")) }
        let data = try Data(contentsOf: file)
        for index in data.indices where data[index] != 10 {
            var changed = data
            changed[index] ^= 1
            try changed.write(to: file)
            let log = try RecordLog<Entry>(file)
            #expect(log.records.count + log.unreadableCount >= 3)
            #expect(log.unreadableCount >= 1)
            try log.replace(with: log.records.map { try RecordLog.line(of: $0) })
            #expect(try Data(contentsOf: file).count == data.count)
        }
    }

    @Test("One log at a time has the file open")
    func inUse() throws {
        let log = try RecordLog<Entry>(file)
        #expect(throws: RecordLogFailure.inUse(path: file.path)) { try RecordLog<Entry>(file) }
        try log.append(lines("a"))
    }

    @Test("Replacing keeps the new records only, and the file's mode 0600")
    func replaced() throws {
        let log = try RecordLog<Entry>(file)
        try log.append(lines("a", "b"))
        try log.replace(with: lines("c"))
        try log.append(lines("d"))
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.split(separator: "\n").map { $0.dropFirst(17) } == [#"{"name":"c"}"#, #"{"name":"d"}"#])
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test("A link or a folder in the file's place is refused")
    func notAFile() throws {
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
        #expect(throws: RecordLogFailure.self) { try RecordLog<Entry>(file) }
        let link = folder.url.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.url.appendingPathComponent("x"))
        #expect(throws: RecordLogFailure.self) { try RecordLog<Entry>(link) }
    }
}
