// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import TargetKit
import TargetKitPlugins
import TargetKitOffline
import TargetKitTesting
import TestSupport
import Testing

/// Outboxes whose processes are killed at random moments, and share a file. `TARGETKIT_OUTBOX` makes this program such
/// a process. `TARGETKIT_OUTBOX_KILLS` is the number of processes that are killed, `TARGETKIT_OUTBOX_SECONDS` how long
/// two share a file.
@Suite("An outbox: interruptions", .throttled, .serialized, .timeLimit(.minutes(20)))
struct InterruptedOutboxTests {
    private static let environment = ProcessInfo.processInfo.environment

    /// A server that counts how often it has received each note, with which keys, and that sometimes closes the
    /// connection after it has processed a note.
    private final class NoteCounter: Sendable {
        struct Received: Sendable {
            /// The keys of each note.
            var keys: [String: Set<String>] = [:]
            /// The notes in the order in which they were processed: the first request with each key.
            var processed: [String] = []
            var seen: Set<String> = []
            var count = 0
        }

        let received = Locked(Received())

        func respond(to request: TestServer.Request) -> TestServer.Response {
            let key = request.headers["Idempotency-Key"] ?? ""
            let count = received.withLock { received in
                received.keys[request.path, default: []].insert(key)
                if received.seen.insert(key).inserted { received.processed.append(request.path) }
                received.count += 1
                return received.count
            }
            switch count % 11 {
            case 3: return .reset
            case 7: return TestServer.Response(status: 503)
            default: return TestServer.Response(status: 201)
            }
        }
    }

    /// A process that keeps notes until it is killed, or for a number of seconds, and writes the number of each to its
    /// output when it is kept.
    private struct Writer {
        let child: ChildProcess
        let output: FileHandle

        init(_ server: TestServer, _ file: URL, first: Int, seconds: Int, in folder: TemporaryFolder) throws {
            let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path
            output = try FileHandle(forUpdating: folder.file("output-\(first)"))
            let settings = "\(server.baseURL) \(file.path) \(first) \(seconds) \(output.fileDescriptor)"
            child = try ChildProcess(
                "/usr/bin/env",
                [
                    "TARGETKIT_OUTBOX=\(settings)", "TARGETKIT_OUTBOX_LIST=\(folder.url.path)/output-\(first)", program,
                    "--testing-library", "swift-testing", "--filter", "InterruptedOutboxTests.process",
                ]
            )
        }
    }

    @Test("The process that keeps notes", .enabled(if: environment["TARGETKIT_OUTBOX"] != nil))
    func process() async throws {
        let words = try #require(Self.environment["TARGETKIT_OUTBOX"]).split(separator: " ").map(String.init)
        let list = open(try #require(Self.environment["TARGETKIT_OUTBOX_LIST"]), O_WRONLY | O_APPEND)
        let url = try #require(URL(string: words[0]))
        let outbox = try OfflineOutbox(Provider<Note>(), storedIn: URL(filePath: words[1]), maximumCount: 100_000)
        let end = ContinuousClock.now + .seconds(try #require(Int(words[3])))
        var number = try #require(Int(words[2]))
        while ContinuousClock.now < end {
            try await outbox.keep(Note(number, group: "\(number % 3)").with { $0.baseURL = url })
            // One call of write(2), which a signal does not divide.
            let line = "\(number)\n"
            _ = line.withCString { write(list, $0, strlen($0)) }
            number += 1
            if number % 5 == 0 {
                // Without further delay after the server's failures.
                outbox.sendNow()
                try await Task.sleep(for: .milliseconds(outbox.entries.count > 200 ? 100 : 3))
            }
            if number % 50 == 0, let id = outbox.entries.last?.id, let first = outbox.entries.first?.id {
                try? await outbox.move(id, before: first)
            }
        }
    }

    /// Sends what is left, and checks what the server has received.
    private func check(_ file: URL, _ counter: NoteCounter, in folder: TemporaryFolder) async throws {
        let outbox = try OfflineOutbox(Provider<Note>(), storedIn: file)
        #expect(outbox.unreadableCount == 0)
        while !outbox.entries.isEmpty {
            try Task.checkCancellation()
            outbox.sendNow()
            try await Task.sleep(for: .milliseconds(20))
        }
        var kept: Set<String> = []
        for name in folder.names where name.hasPrefix("output-") {
            let text = try String(contentsOf: folder.url.appendingPathComponent(name), encoding: .utf8)
            kept.formUnion(text.split(separator: "\n").map { "/notes/\($0)" })
        }
        let received = counter.received.withLock(\.self)
        // Nothing that was acknowledged is lost, and every note has one key at all tries.
        #expect(kept.subtracting(received.keys.keys).isEmpty)
        #expect(received.keys.values.allSatisfy { $0.count == 1 && $0 != [""] })
        #expect(received.processed.count == received.keys.count)
        print("\(kept.count) notes were kept, \(received.processed.count) processed, in \(received.count) requests")
    }

    @Test("Nothing is lost, and nothing has two keys, when processes are killed at random moments")
    func killed() async throws {
        let count = Self.environment["TARGETKIT_OUTBOX_KILLS"].flatMap { Int($0) } ?? 6
        let counter = NoteCounter()
        let server = try TestServer { counter.respond(to: $0) }
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("notes.outbox")
        var random = SeededGenerator(seed: 3)
        for number in 1...count {
            let before = server.headCount
            let writer = try Writer(server, file, first: number * 100_000, seconds: 600, in: folder)
            // Killed by what it has sent, and a few milliseconds later.
            let requestCount = before + Int.random(in: 1...12, using: &random)
            while server.headCount < requestCount {
                try Task.checkCancellation()
                try await Task.sleep(for: .milliseconds(1))
            }
            try await Task.sleep(for: .microseconds(Int.random(in: 0...8_000, using: &random)))
            kill(writer.child.id, SIGKILL)
            #expect(writer.child.wait() == 128 + SIGKILL)
        }
        try await check(file, counter, in: folder)
        withExtendedLifetime(server) {}
    }

    @Test("Two processes share a file")
    func shared() async throws {
        let seconds = Self.environment["TARGETKIT_OUTBOX_SECONDS"].flatMap { Int($0) } ?? 3
        let counter = NoteCounter()
        let server = try TestServer { counter.respond(to: $0) }
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("notes.outbox")
        let writers = try (1...2).map {
            try Writer(server, file, first: $0 * 1_000_000, seconds: seconds, in: folder)
        }
        let statuses = await withTaskGroup(of: Int32.self) { group in
            for writer in writers {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        Thread.detachNewThread { continuation.resume(returning: writer.child.wait()) }
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == [0, 0])
        try await check(file, counter, in: folder)
        withExtendedLifetime(server) {}
    }
}
#endif
