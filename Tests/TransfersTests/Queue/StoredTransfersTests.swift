// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTransfers
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("A queue of transfers with a file", .throttled, .timeLimit(.minutes(2)))
struct StoredTransfersTests {
    private let folder: TemporaryFolder
    private var file: URL { folder.url.appendingPathComponent("media.queue") }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func queue(_ transport: ControlledTransport, maxConcurrent: Int = 1) throws -> TransferQueue<Media> {
        try TransferQueue(Provider(transport: transport), storedIn: file, maxConcurrent: maxConcurrent)
    }

    @Test("goes on with the transfers of the last launch, in their order and with their states")
    func relaunch() async throws {
        let copy = folder.url.appendingPathComponent("copy.queue")
        do {
            let transport = ControlledTransport()
            let queue = try queue(transport)
            try await queue.add(.film(1))
            let paused = try await queue.add(.film(2))
            try await queue.add(.film(3), priority: .high)
            let failed = try await queue.add(.film(4))
            let cancelled = try await queue.add(.film(5))
            queue.pause(paused)
            queue.cancel(cancelled)
            await transport.begun.waitForCount(1)
            queue.setPriority(.high, of: failed)
            queue.pauseAll()
            queue.resume(failed)
            await transport.begun.waitForCount(2)
            transport.finish(.film(4), with: .failure(URLError(.badServerResponse)))
            await #expect(throws: TargetKitError.self) { try await queue.response(of: failed) }
            queue.resumeAll()
            queue.pause(paused)
            try await queue.add(.film(6))
            // What a killed process leaves behind.
            try FileManager.default.copyItem(at: file, to: copy)
        }
        let transport = ControlledTransport()
        let queue = try TransferQueue(Provider<Media>(transport: transport), storedIn: copy, maxConcurrent: 1)
        #expect(queue.transfers.map(\.target) == [.film(1), .film(2), .film(3), .film(4), .film(6)])
        #expect(queue.transfers.map(\.priority) == [.normal, .normal, .high, .high, .normal])
        #expect(queue.transfers[1].state.name == "paused")
        #expect(await transport.begun.waitForCount(1) == ["/film/3"])
    }

    @Test("keeps the reason of a failure, and not a transfer that is finished")
    func failure() async throws {
        let transport = ControlledTransport()
        do {
            let queue = try queue(transport, maxConcurrent: 2)
            let first = try await queue.add(.film(1))
            let second = try await queue.add(.film(2))
            await transport.begun.waitForCount(2)
            transport.finish(.film(1))
            transport.finish(.film(2), with: .success(404))
            _ = try await queue.response(of: first)
            await #expect(throws: TargetKitError.self) { try await queue.response(of: second) }
            // Written after what came before it.
            let third = try await queue.add(.film(3))
            queue.cancel(third)
            while queue.transfers.contains(where: { !$0.state.hasEnded }) {
                try Task.checkCancellation()
                await Task.yield()
            }
            try await queue.add(.film(4))
            queue.cancelAll()
        }
        let stored = try await reopened()
        #expect(stored.transfers.count == 1)
        guard case .failed(let error)? = stored.transfers.first?.state else {
            Issue.record("\(stored.transfers)")
            return
        }
        #expect("\(error)".contains("404"))
    }

    @Test("has the kind, the stage and the text of a failure after every later launch", arguments: [404, 409])
    func failureText(status: Int) async throws {
        let transport = ControlledTransport()
        var expected: TargetKitError?
        do {
            let queue = try queue(transport)
            let id = try await queue.add(.film(1))
            await transport.begun.waitForCount(1)
            transport.finish(.film(1), with: .success(status))
            expected = await #expect(throws: TargetKitError.self) { try await queue.response(of: id) }
        }
        for _ in 1...3 {
            let next = try await reopened()
            let id = try #require(next.transfers.first?.id)
            // Until the file is rewritten.
            for _ in 1...60 {
                next.setPriority(.high, of: id)
                next.remove(try await next.add(.film(2)))
            }
            let error = await #expect(throws: TargetKitError.self) { try await next.response(of: id) }
            #expect(error.map { "\($0)" } == expected.map { "\($0)" })
            #expect(error?.kind == expected?.kind)
            #expect(error?.stage == expected?.stage)
        }
    }

    @Test("writes its transfers anew when something else has removed or emptied the file", arguments: [false, true])
    func lost(isRemoved: Bool) async throws {
        do {
            let queue = try queue(ControlledTransport())
            for number in 1...3 { try await queue.add(.film(number)) }
            queue.cancel(queue.transfers[1].id)
            try await queue.add(.film(4))
            if isRemoved { unlink(file.path) } else { truncate(file.path, 0) }
            try await queue.add(.film(5))
            queue.pauseAll()
        }
        #expect(try await reopened().transfers.map(\.target) == [.film(1), .film(3), .film(4), .film(5)])
    }

    /// The queue of the next launch, when the calls of this one have ended.
    private func reopened() async throws -> TransferQueue<Media> {
        while true {
            do {
                return try queue(ControlledTransport())
            } catch TransferQueueError.fileInUse {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
    }

    @Test("refuses a file that another queue uses")
    func twoQueues() async throws {
        let first = try queue(ControlledTransport())
        #expect(throws: TransferQueueError.fileInUse(path: file.path)) { try queue(ControlledTransport()) }
        withExtendedLifetime(first) {}
    }

    @Test("stores a transfer that something else cancels, for the next launch")
    func cancelAll() async throws {
        let transport = ControlledTransport()
        let provider = Provider<Media>(transport: transport)
        do {
            let queue = try TransferQueue(provider, storedIn: file)
            let id = try await queue.add(.film(1))
            await transport.begun.waitForCount(1)
            provider.cancelAll()
            await #expect(throws: TargetKitError.self) { try await queue.response(of: id) }
        }
        let next = try await reopened()
        #expect(next.transfers.map(\.target) == [.film(1)])
    }

    @Test("reports entries that it cannot read, and keeps them")
    func unreadable() async throws {
        do {
            let queue = try queue(ControlledTransport())
            let id = try await queue.add(.film(1))
            queue.pause(id)
            try await queue.add(.film(2))
            queue.pauseAll()
        }
        _ = try await reopened()
        var lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        lines[0] = lines[0].replacingOccurrences(of: "film", with: "song")
        try Data((lines.joined(separator: "\n") + "\n0123456789abcdef {\"cut").utf8).write(to: file)
        let queue = try await reopened()
        #expect(queue.unreadableCount == 1)
        #expect(try String(contentsOf: file, encoding: .utf8).hasPrefix(lines[0] + "\n"))
        #expect(try String(contentsOf: file, encoding: .utf8).hasSuffix("\n"))
    }

    @Test("says why a file cannot be used", arguments: ["folder", "missing/link"])
    func unusable(_ name: String) throws {
        let place = folder.url.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let error = #expect(throws: TransferQueueError.self) {
            try TransferQueue(Provider<Media>(transport: ControlledTransport()), storedIn: place)
        }
        guard case .unusableFile? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("keeps the file short")
    func compaction() async throws {
        do {
            let queue = try queue(ControlledTransport())
            let id = try await queue.add(.film(1))
            for _ in 1...200 {
                queue.pause(id)
                queue.resume(id)
                try await queue.add(.film(2))
                queue.remove(queue.transfers[1].id)
            }
            queue.pauseAll()
        }
        let next = try await reopened()
        #expect(next.transfers.count == 1)
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        #expect(lines.count <= 110)
    }

    /// A target that JSON cannot represent.
    private struct Measurement: TargetType, Codable {
        var value: Double

        var baseURL: URL { URL(string: "https://media.example") ?? URL(filePath: "/") }
        var path: RequestPath { "/" }
    }

    @Test("A target that cannot be encoded fails its own call only")
    func encoding() async throws {
        do {
            let provider = Provider<Measurement>(transport: ControlledTransport())
            // One at a time, because all of them have the same path.
            let queue = try TransferQueue(provider, storedIn: file, maxConcurrent: 1)
            await withTaskGroup(of: Bool.self) { group in
                for number in 1...40 {
                    group.addTask { (try? await queue.add(Measurement(value: number % 4 == 0 ? .nan : 1))) != nil }
                }
                #expect(await group.reduce(into: 0) { $0 += $1 ? 1 : 0 } == 30)
            }
            #expect(queue.transfers.count == 30)
            queue.pauseAll()
        }
        while true {
            do {
                let next = try TransferQueue(Provider<Measurement>(transport: ControlledTransport()), storedIn: file)
                #expect(next.transfers.count == 30)
                return
            } catch TransferQueueError.fileInUse {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
    }

    @Test("The file has what the queue has, whichever thread changes a transfer")
    func concurrentChanges() async throws {
        do {
            let provider = Provider<Media>(stubClosure: { _ in .immediate })
            let queue = try TransferQueue(provider, storedIn: file, maxConcurrent: 8)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...200 {
                    group.addTask {
                        let id = try await queue.add(.film(number))
                        for _ in 1...3 { queue.setPriority(.high, of: id) }
                        _ = try await queue.response(of: id)
                    }
                }
                try await group.waitForAll()
            }
            #expect(queue.storageError == nil)
        }
        #expect(try await reopened().transfers.isEmpty)
    }
}
