// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TargetKitTransfers
import TestSupport
import Testing

@Suite("A queue of transfers: calls that an outbox could send", .throttled, .timeLimit(.minutes(2)))
struct QueuedNoteTests {
    private let clock = ManualClock()

    /// Ends the next delay, if there is one.
    private func endDelay() async throws {
        try Task.checkCancellation()
        if !clock.remainingSleeps.isEmpty { clock.advanceToNextDeadline() }
        await Task.yield()
    }

    @Test("A call that the server may have processed is not sent again, unless it has a key", arguments: [false, true])
    func unsafe(hasKey: Bool) async throws {
        let server = NoteServer(.failure(.networkConnectionLost))
        let retry = RetryPlugin(policy: RetryPolicy(attempts: 1))
        let queue = try TransferQueue(Provider<Note>(transport: server, plugins: [retry], clock: clock))
        let id = try await queue.add(Note(1).with { $0.key = hasKey ? "k" : nil })
        await server.sent.waitForCount(1)
        if hasKey {
            while server.sent.count < 2 { try await endDelay() }
        } else {
            await #expect(throws: TargetKitError.self) { try await queue.response(of: id) }
        }
        queue.remove(id)
    }

    @Test("A call of which nothing was sent is sent again, whatever its method")
    func unsent() async throws {
        let server = NoteServer()
        server.answer(1, .failure(.cannotConnectToHost), .status(201))
        let queue = try TransferQueue(Provider<Note>(transport: server, clock: clock))
        let id = try await queue.add(Note(1))
        while queue[id]?.state.hasEnded != true { try await endDelay() }
        #expect(try await queue.response(of: id).statusCode == 201)
        #expect(server.numbers == [1, 1])
    }
}
