// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@testable import _TargetKitStorage

@Suite("The shared log of records", .throttled)
struct SharedRecordLogTests {
    private struct Entry: Codable, Sendable, Hashable {
        var name: String
    }

    private typealias Log = SharedRecordLog<Entry>

    private let folder: TemporaryFolder
    private var file: URL { folder.url.appendingPathComponent("a/log") }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func append(_ names: String..., to log: Log) throws {
        try log.locked { session throws(RecordLogFailure) in try session.append(names.map { Entry(name: $0) }) }
    }

    /// The names that an operation reads.
    private func read(_ log: Log) throws -> (names: [String], isReplaced: Bool, unreadableCount: Int) {
        try log.locked { session throws(RecordLogFailure) in
            (session.records.map(\.name), session.isReplaced, session.unreadableCount)
        }
    }

    @Test("Each log reads what the others have appended or replaced, once")
    func twoLogs() throws {
        let (first, second) = (try Log(file), try Log(file))
        try append("a", "b", to: first)
        #expect(try read(second).names == ["a", "b"])
        try append("c", to: second)
        #expect(try read(second).names == [])
        #expect(try read(first).names == ["c"])
        try first.locked { session throws(RecordLogFailure) in try session.replace(with: [Entry(name: "d")]) }
        try append("e", to: first)
        let (names, isReplaced, _) = try read(second)
        #expect(names == ["d", "e"])
        #expect(isReplaced)
        try append("f", to: second)
        #expect(try read(first).names == ["f"])
        #expect(try read(first).isReplaced == false)
        #expect(try read(Log(file)).names == ["d", "e", "f"])
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test("A record is one line, whatever it contains")
    func lines() throws {
        let log = try Log(file)
        try append("line\nbreak", "ü", to: log)
        #expect(try read(Log(file)).names == ["line\nbreak", "ü"])
        try log.locked { session throws(RecordLogFailure) in try session.replace(with: [Entry(name: "c")]) }
        try append("d", to: log)
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.split(separator: "\n").map { $0.dropFirst(17) } == [#"{"name":"c"}"#, #"{"name":"d"}"#])
    }

    @Test("A long file is compacted to the records that are needed, unless it would not be shorter")
    func compaction() throws {
        let log = try Log(file)
        let entry = Entry(name: "a")
        let longest = try (1...400).reduce(0) { longest, number in
            try log.locked { session throws(RecordLogFailure) in
                try session.append([entry])
                session.compactIfLong(1) { number < 200 ? [entry] : Array(repeating: entry, count: 200) }
            }
            return max(longest, try String(contentsOf: file, encoding: .utf8).split(separator: "\n").count)
        }
        // Beyond three for the entry, 100 records at first, and twice as many after each failure.
        #expect(longest == 203)
        #expect(try read(Log(file)).names.count < 203)
    }

    @Test("A line that a killed process has left incomplete is removed at every length")
    func truncated() throws {
        do { try append("first", "second", to: Log(file)) }
        let data = try Data(contentsOf: file)
        for size in 0..<data.count {
            try data.prefix(size).write(to: file)
            let log = try Log(file)
            // A record that lacks only its line feed is complete.
            let lineCount = data.prefix(size + 1).filter { $0 == 10 }.count
            #expect(try read(log).names.count == lineCount)
            try append("next", to: log)
            #expect(try Data(contentsOf: file).filter { $0 == 10 }.count == lineCount + 1)
            #expect(try read(Log(file)).unreadableCount == 0)
        }
    }

    @Test("A changed byte damages one record, which stays in the file when the others are replaced")
    func damaged() throws {
        do { try append("first", "second", to: Log(file)) }
        let data = try Data(contentsOf: file)
        for index in data.indices where data[index] != 10 {
            var changed = data
            changed[index] ^= 1
            try changed.write(to: file)
            let log = try Log(file)
            let records = try log.locked { session throws(RecordLogFailure) in session.records }
            #expect(records.count < 2)
            try log.locked { session throws(RecordLogFailure) in try session.replace(with: records) }
            #expect(try Data(contentsOf: file).count == data.count)
            #expect(try read(log).unreadableCount >= 1)
        }
    }

    @Test("A turn belongs to one log at a time")
    func turn() throws {
        let (first, second) = (try Log(file), try Log(file))
        var turn = try first.lock(named: "sending")
        #expect(turn != nil)
        #expect(try second.lock(named: "sending") == nil)
        #expect(try second.lock(named: "other") != nil)
        try append("a", to: second)
        turn = nil
        #expect(try second.lock(named: "sending") != nil)
    }

    #if os(Linux)
    @Test("A turn that is released is free, although a process that is just being started has its descriptor")
    func copiedTurn() throws {
        let log = try Log(file)
        let turn = try #require(try log.lock(named: "sending"))
        // Such a process has copies of all descriptors.
        let links = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap(Int32.init)
        let copies = links.filter { link in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(link)"))
                == file.appendingPathExtension("sending").resolvingSymlinksInPath().path
        }
        .map { dup($0) }
        defer { for copy in copies { close(copy) } }
        #expect(copies.count == 1)
        turn.release()
        #expect(try log.lock(named: "sending") != nil)
    }
    #endif

    @Test("A pipe, a link or a folder in the place of the file is refused", arguments: ["pipe", "link", "folder"])
    func notAFile(kind: String) throws {
        let place = folder.url.appendingPathComponent("place")
        switch kind {
        case "pipe": mkfifo(place.path, 0o600)
        case "link": symlink("elsewhere", place.path)
        default: mkdir(place.path, 0o700)
        }
        let log = try Log(place)
        #expect(throws: RecordLogFailure.self) { try read(log) }
    }

    @Test("Threads append without losing a record")
    func threads() async throws {
        let file = file
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...8 {
                group.addTask {
                    let log = try Log(file)
                    for index in 1...25 {
                        let entry = Entry(name: "\(number).\(index)")
                        try log.locked { session throws(RecordLogFailure) in
                            try session.append([entry])
                            if index % 10 == 0 {
                                // What it has read itself is not complete.
                                let all = try Self.all(in: file)
                                try session.replace(with: all)
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(Set(try read(Log(file)).names).count == 200)
    }

    private static func all(in file: URL) throws(RecordLogFailure) -> [Entry] {
        RecordLines<Entry>((try? Data(contentsOf: file)) ?? Data()).records
    }
}
