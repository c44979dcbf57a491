// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing
import _TargetKitStorage

@testable import TargetKitOffline

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The file of an outbox", .throttled, .timeLimit(.minutes(2)))
struct OutboxFileTests {
    private let server = NoteServer()
    private let clock = ManualClock()
    private let connectivity = ManualConnectivity(.offline)
    private let folder: TemporaryFolder
    private var file: URL { folder.url.appendingPathComponent("notes.outbox") }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func outbox(
        _ file: URL? = nil,
        _ connectivity: ManualConnectivity? = nil
    ) throws(OutboxError) -> OfflineOutbox<Note> {
        try OfflineOutbox(
            Provider(transport: server),
            storedIn: file ?? self.file,
            reachability: Reachability(connectivity ?? self.connectivity),
            clock: clock
        )
    }

    @Test("Entries that this version cannot decode stay, are counted, and are not sent")
    func unreadable() async throws {
        do {
            let outbox = try outbox()
            for number in 1...3 { try await outbox.keep(Note(number)) }
        }
        // A record whose target another version has written, and a damaged one.
        let log = try SharedRecordLog<RenamedRecord>(file)
        try log.locked { session throws(RecordLogFailure) in
            guard var record = session.records.first else { return }
            record.call?.target = #"{"title":"x"}"#
            record.id = UUID()
            try session.append([record])
        }
        var data = try Data(contentsOf: file)
        data[20] ^= 1
        // Not the file itself: the outbox that was just released can still look at it, and would write its entries
        // anew.
        let file = try folder.file("copy.outbox", data)
        do {
            let outbox = try outbox(file)
            #expect(outbox.unreadableCount == 2)
            #expect(outbox.shown == ["2 waiting", "3 waiting"])
            // Until the file is rewritten.
            for _ in 1...120 { try await outbox.move(outbox.entries[0].id) }
            connectivity.set(.online(.wifi, isExpensive: false))
            try await outbox.shows([], moving: clock)
        }
        let lineCount = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").count
        #expect(lineCount < 110)
        #expect(try outbox(file).unreadableCount == 2)
        #expect(server.sent.count == 2)
    }

    private struct RenamedRecord: Codable, Sendable {
        struct Call: Codable, Sendable {
            var target: String
            var key: String?
            var policy: String
            var date: Date
        }

        var change: String
        var id: UUID
        var call: Call?
    }

    @Test("Two outboxes with one file send each entry once, and see the changes of the other")
    func two() async throws {
        let (first, second) = (try outbox(), try outbox())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...60 {
                group.addTask { try await (number % 2 == 0 ? first : second).keep(Note(number)) }
            }
            try await group.waitForAll()
        }
        try await first.keep(Note(61))
        try await second.keep(Note(62))
        #expect(second.entries.count == 62)
        try await second.remove(first.entries[0].id)
        first.sendNow()
        try await second.move(second.entries[60].id, before: second.entries[0].id)
        connectivity.set(.online(.wifi, isExpensive: false))
        try await first.shows([], moving: clock)
        try await second.shows([], moving: clock)
        #expect(server.sent.count == 61)
        #expect(Set(server.sent.elements).count == 61)
    }

    @Test("A call is kept behind one that another outbox with the file has kept")
    func otherOutbox() async throws {
        let first = try outbox(nil, ManualConnectivity(.online(.wifi, isExpensive: false)))
        #expect(try await first.send(Note(1)).statusCode == 200)
        // It looks for entries then, and would send one that is kept meanwhile.
        while first.content.value.isRunning {
            try Task.checkCancellation()
            await Task.yield()
        }
        // It has no network.
        let second = try outbox()
        try await second.keep(Note(2))
        #expect(try await first.send(Note(3)).id != nil)
        try await first.shows([], moving: clock)
        #expect(server.numbers == [1, 2, 3])
        second.sendNow()
        try await second.shows([], moving: clock)
        #expect(server.numbers == [1, 2, 3])
    }

    @Test("The file is only for its user, and is refused if it is not a file", arguments: ["pipe", "link", "folder"])
    func kind(_ kind: String) async throws {
        let outbox = try outbox()
        try await outbox.keep(Note(1))
        for name in folder.names {
            let path = folder.url.appendingPathComponent(name).path
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(name)")
        }
        let place = folder.url.appendingPathComponent("place")
        switch kind {
        case "pipe": mkfifo(place.path, 0o600)
        case "link": symlink("elsewhere", place.path)
        default: mkdir(place.path, 0o700)
        }
        #expect(throws: OutboxError.self) { try self.outbox(place) }
    }

    @Test("A target that cannot be encoded is not kept, and its call's error says so")
    func encoding() async throws {
        let outbox = try OfflineOutbox(
            Provider<Measurement>(transport: NoteServer(.failure(.notConnectedToInternet))),
            storedIn: file
        )
        let error = await #expect(throws: TargetKitError.self) { try await outbox.send(Measurement(value: .nan)) }
        #expect(error?.underlying is OutboxError)
        #expect("\(String(describing: error))".contains("can't be encoded"))
        #expect(try await outbox.send(Measurement(value: 1)).id != nil)
    }

    /// A target that JSON cannot represent.
    private struct Measurement: TargetType, Codable {
        var value: Double

        var baseURL: URL { .shop }
        var path: RequestPath { "/" }
    }

    #if os(Linux)
    @Test("A full disk fails the call that has to be kept, and nothing else")
    func fullDisk() async throws {
        let disk = folder.url.appendingPathComponent("disk")
        try FileManager.default.createDirectory(at: disk, withIntermediateDirectories: true)
        guard geteuid() == 0, mount("tmpfs", disk.path, "tmpfs", 0, "size=128k") == 0 else {
            print("skipped: only the superuser can mount a small file system")
            return
        }
        defer { umount2(disk.path, Int32(MNT_DETACH)) }
        let file = disk.appendingPathComponent("notes.outbox")
        let filler = disk.appendingPathComponent("filler")
        let text = String(repeating: "x", count: 6_000)
        do {
            let outbox = try outbox(file)
            try await outbox.keep(Note(1))
            #expect(throws: (any Error).self) { try Data(count: 1 << 20).write(to: filler) }
            fill(filler)
            let long = Note(2).with { $0.text = text }
            let error = await #expect(throws: OutboxError.self) { try await outbox.keep(long) }
            #expect("\(String(describing: error))".contains("No space left"))
            let failure = await #expect(throws: TargetKitError.self) { try await outbox.send(long) }
            #expect(failure?.kind == .storageFull)
            for _ in 0..<70 { _ = await #expect(throws: OutboxError.self) { try await outbox.keep(long) } }
            #expect(outbox.shown == ["1 waiting"])
            // The end of the call cannot be written, and it is not sent again.
            fill(file, end: "\n")
            connectivity.set(.online(.wifi, isExpensive: false))
            try await outbox.shows([], moving: clock)
            #expect(outbox.storageError != nil)
            // Nor by another process, which reads that it waits.
            let other = try self.outbox(file)
            #expect(other.shown == ["1 waiting"])
            try await clock.waitForSleepers(2)
            #expect(server.numbers == [1])
            #expect(try await outbox.send(long).statusCode == 200)
            connectivity.set(.offline)
            unlink(filler.path)
            #expect(try await outbox.send(Note(3)).id != nil)
            #expect(outbox.storageError == nil)
            #expect(outbox.shown == ["3 waiting"])
        }
        let next = try outbox(file)
        #expect(next.shown == ["3 waiting"])
        #expect(server.numbers == [1, 2])
    }

    /// Fills the disk to the last byte, and the last page of a file.
    private func fill(_ file: URL, end: Character? = nil) {
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        let piece = [UInt8](repeating: 0, count: 4_096)
        for size in [4_096, 512, 1] { while write(descriptor, piece, size) == size {} }
        close(descriptor)
        guard let end, let handle = try? FileHandle(forUpdating: file), let size = try? handle.seekToEnd() else {
            return
        }
        try? handle.seek(toOffset: size - 1)
        handle.write(Data("\(end)".utf8))
    }
    #endif
}
