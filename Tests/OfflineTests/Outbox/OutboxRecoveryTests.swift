// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTransfers
import TargetKitOffline
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What an outbox does after its file was damaged, removed or locked by something else.
@Suite("The file of an outbox: recovery", .throttled, .timeLimit(.minutes(2)))
struct OutboxRecoveryTests {
    private let server = NoteServer()
    private let clock = ManualClock()
    private let connectivity = ManualConnectivity(.offline)
    private let online = Reachability.Status.online(.wifi, isExpensive: false)
    private let folder: TemporaryFolder
    private var file: URL { folder.url.appendingPathComponent("box/notes.outbox") }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func outbox(_ file: URL? = nil) throws(OutboxError) -> OfflineOutbox<Note> {
        try OfflineOutbox(
            Provider(transport: server),
            storedIn: file ?? self.file,
            reachability: Reachability(connectivity),
            clock: clock
        )
    }

    /// Keeps notes in an outbox that is then released.
    private func keep(_ numbers: ClosedRange<Int>) async throws {
        let outbox = try outbox()
        for number in numbers { try await outbox.keep(Note(number)) }
    }

    /// A damaged copy of the file. An outbox that was just released can still look at its own file, and would write its
    /// entries anew.
    private func copy(_ data: Data, _ name: String = "copy") throws -> URL {
        try folder.file("\(name).outbox", data)
    }

    @Test("A call that the server still processes is sent again with its key, after the time in Retry-After")
    func inProgress() async throws {
        server.answer(1, .failure(.timedOut), .status(409, ["Retry-After": "7"]), .status(201))
        let outbox = try outbox()
        try await outbox.keep(Note(1))
        try await outbox.keep(Note(2))
        connectivity.set(online)
        try await outbox.shows([], moving: clock)
        #expect(server.numbers == [1, 1, 1, 2])
        #expect(Set(server.sent.elements.prefix(3).map(\.key)).count == 1)
    }

    @Test("A conflict is final without Retry-After, or for a call without a key", arguments: [false, true])
    func conflict(hasKey: Bool) async throws {
        server.answer(.status(409, hasKey ? [:] : ["Retry-After": "7"]))
        let outbox = try outbox()
        try await outbox.keep(Note(1, policy: hasKey ? .ifUnanswered : .ifUnsent))
        connectivity.set(online)
        try await outbox.shows(["1 failed"])
        #expect(server.numbers == [1])
    }

    @Test(
        "Waiting entries are written anew when something else has removed or emptied their file",
        arguments: ["removed", "emptied", "recreated", "folder"]
    )
    func lost(how: String) async throws {
        weak var first: OfflineOutbox<Note>?
        do {
            let outbox = try outbox()
            first = outbox
            for number in 1...4 { try await outbox.keep(Note(number)) }
            try await outbox.remove(outbox.entries[1].id)
            switch how {
            case "removed": unlink(file.path)
            case "emptied": truncate(file.path, 0)
            case "recreated":
                unlink(file.path)
                try await self.outbox().keep(Note(9))
            default:
                // At once, because the outbox can create a lock file while the folder is emptied.
                rename(file.deletingLastPathComponent().path, folder.url.appendingPathComponent("removed").path)
            }
            try await outbox.keep(Note(5))
            let numbers = outbox.entries.map(\.target.number)
            // Either outbox can be the first to write the new file.
            #expect(how == "recreated" ? numbers.sorted() == [1, 3, 4, 5, 9] : numbers == [1, 3, 4, 5])
            #expect(outbox.storageError == nil)
        }
        // A task of it may hold the right to send in the removed folder.
        while first != nil {
            try Task.checkCancellation()
            await Task.yield()
        }
        let next = try outbox()
        #expect(Set(next.entries.map(\.target.number)).isSuperset(of: [1, 3, 4, 5]))
        connectivity.set(online)
        try await next.shows([], moving: clock)
        #expect(Set(server.sent.elements).count == server.sent.count)
    }

    @Test("Entries that another outbox has ended don't return when it shortens the file")
    func shortened() async throws {
        let (first, second) = (try outbox(), try outbox())
        for number in 1...3 { try await first.keep(Note(number)) }
        second.sendNow()
        try await second.keep(Note(4))
        #expect(second.entries.count == 4)
        for entry in first.entries { try await first.remove(entry.id) }
        // Until the file is shortened.
        for _ in 1...130 {
            let id = try await first.keep(Note(7))
            try await first.remove(id)
        }
        try await first.removeAll()
        let id = try await second.keep(Note(8))
        #expect(second.entries.map(\.id) == [id])
    }

    @Test("An outbox opens while another process holds the lock, and sends when it is free")
    func locked() async throws {
        try await keep(1...3)
        let lock = open(file.path + ".lock", O_RDWR | O_CLOEXEC)
        #expect(flock(lock, LOCK_EX) == 0)
        let start = ContinuousClock.now
        let outbox = try outbox()
        #expect(start.duration(to: .now) < .seconds(8))
        #expect(outbox.shown == ["1 waiting", "2 waiting", "3 waiting"])
        flock(lock, LOCK_UN)
        close(lock)
        connectivity.set(online)
        try await outbox.shows([], moving: clock)
        #expect(server.numbers == [1, 2, 3])
    }

    @Test("A file that others can read becomes private when it is opened")
    func mode() async throws {
        try await keep(1...1)
        chmod(file.path, 0o644)
        _ = try outbox()
        #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o600)
    }

    @Test("No bit of a line feed loses an entry", arguments: 0..<8)
    func lineFeed(bit: Int) async throws {
        try await keep(1...3)
        let data = try Data(contentsOf: file)
        let feeds = data.indices.filter { data[$0] == 10 }
        #expect(feeds.count == 3)
        for feed in feeds {
            var changed = data
            changed[feed] ^= 1 << bit
            let file = try copy(changed, "\(feed)")
            do {
                let outbox = try outbox(file)
                #expect(outbox.entries.map(\.target.number) == [1, 2, 3])
                #expect(outbox.unreadableCount == 0)
                try await outbox.keep(Note(4))
            }
            #expect(try outbox(file).entries.map(\.target.number) == [1, 2, 3, 4])
        }
    }

    @Test("An entry whose line feed was not written is complete")
    func missingLineFeed() async throws {
        try await keep(1...2)
        let file = try copy(Data(contentsOf: file).dropLast())
        do {
            let outbox = try outbox(file)
            #expect(outbox.entries.map(\.target.number) == [1, 2])
            try await outbox.keep(Note(3))
        }
        #expect(try outbox(file).entries.map(\.target.number) == [1, 2, 3])
    }

    @Test(
        "A file of another kind is refused and stays as it is",
        arguments: [
            "SQLite format 3\0 and more", "{\"a\": 1}", "line\nanother line\nno end",
            "da39a3ee5e6b4b0d3255bfef95601890afd80709  a",
        ]
    )
    func foreign(text: String) async throws {
        let place = folder.url.appendingPathComponent("other")
        try Data(text.utf8).write(to: place)
        #expect(throws: OutboxError.self) { try outbox(place) }
        #expect(throws: TransferQueueError.self) { try TransferQueue(Provider<Note>(), storedIn: place) }
        #expect(try Data(contentsOf: place) == Data(text.utf8))
    }

    @Test(
        "A failure has its kind, stage and text after every later launch",
        arguments: [NoteServer.Answer.status(404), .status(409), .status(422), .failure(.badURL)]
    )
    func failure(answer: NoteServer.Answer) async throws {
        server.answer(answer)
        var expected: TargetKitError?
        do {
            let outbox = try outbox()
            try await outbox.keep(Note(1))
            connectivity.set(online)
            try await outbox.shows(["1 failed"], moving: clock)
            if case .failed(let error) = outbox.entries[0].state { expected = error }
        }
        for _ in 1...3 {
            let next = try outbox()
            // Until the file is rewritten.
            for _ in 1...120 { try await next.move(next.entries[0].id) }
            guard case .failed(let error) = next.entries[0].state else {
                Issue.record("\(next.shown)")
                return
            }
            #expect("\(error)" == expected.map { "\($0)" })
            #expect(error.kind == expected?.kind)
            #expect(error.stage == expected?.stage)
            #expect(error.localizedDescription == expected?.localizedDescription)
        }
    }
}
