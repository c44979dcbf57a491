// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

@Suite("Shared outcomes", .throttled, .timeLimit(.minutes(1)))
struct SharedOutcomeTests {
    @Test("A task that is cancelled at any time stops waiting, and the others receive the value", arguments: 0..<100)
    func cancelling(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let outcome = SharedOutcome<Int>()
        let cancelled = Set((0..<8).filter { _ in Bool.random(using: &random) })
        let waits = (0..<8).map { _ in Task { try await outcome.value() } }
        for _ in 0..<Int.random(in: 0...20, using: &random) { await Task.yield() }
        for number in cancelled { waits[number].cancel() }
        for number in cancelled { await #expect(throws: CancellationError.self) { try await waits[number].value } }
        outcome.settle(1)
        outcome.settle(2)
        for number in 0..<8 where !cancelled.contains(number) { #expect(try await waits[number].value == 1) }
        #expect(outcome.waiterCount == 0)
        #expect(try await outcome.value() == 1)
    }

    @Test("A value and a cancellation at the same time end each wait once", arguments: 0..<100)
    func racing(_ seed: UInt64) async throws {
        let outcome = SharedOutcome<Int>()
        let waits = (0..<8).map { _ in Task { try? await outcome.value() } }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { outcome.settle(1) }
            for wait in waits { group.addTask { wait.cancel() } }
        }
        for wait in waits { #expect([1, nil].contains(await wait.value)) }
        #expect(outcome.waiterCount == 0)
    }
}
