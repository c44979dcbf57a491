// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Idempotency key", .timeLimit(.minutes(1)))
struct IdempotencyKeyTests {
    private let clock = ManualClock()

    private func keys(sentFor targets: SturdyTarget..., answers: SampleResponse = .status(503)) async -> [[String?]] {
        var keys: [[String?]] = []
        for target in targets {
            let script = ScriptedTransport(answers)
            let provider = Provider<SturdyTarget>(
                transport: script.transport,
                plugins: [RetryPlugin(clock: clock)],
                clock: clock
            )
            _ = await clock.stepping { await provider.result(target) }
            keys.append(script.requests.elements.map { $0.value(forHTTPHeaderField: "Idempotency-Key") })
        }
        return keys
    }

    @Test("A POST with a key is repeated, with one key for all attempts and another for the next call")
    func oneKeyPerCall() async {
        let asked = Tally()
        let target = SturdyTarget(method: .post) {
            asked.add()
            return "key-\(asked.value)"
        }
        let keys = await keys(sentFor: target, target)
        #expect(keys == [["key-1", "key-1", "key-1"], ["key-2", "key-2", "key-2"]])
    }

    @Test("A POST whose headers hold a key is repeated, and keeps that one")
    func ownField() async {
        let own = SturdyTarget(method: .post, headers: ["idempotency-key": "own"])
        #expect(
            await keys(sentFor: own, own.with { $0.key = { "other" } }) == [
                ["own", "own", "own"], ["own", "own", "own"],
            ]
        )
    }

    @Test("No key, or an empty one, is no field, and the POST is not repeated", arguments: [nil, ""])
    func noKey(_ key: String?) async {
        #expect(await keys(sentFor: SturdyTarget(method: .post) { key }) == [[nil]])
    }

    @Test("The key is sent where it was not needed too")
    func idempotentMethod() async {
        #expect(await keys(sentFor: SturdyTarget(method: .put) { "k" }, answers: .status(200)) == [["k"]])
    }

    @Test("A key that would end its field ends the call", arguments: ["a\r\nX: b", "a\nb", "a\0b"])
    func badKey(_ key: String) async {
        let script = ScriptedTransport(.status(200))
        let provider = Provider<SturdyTarget>(transport: script.transport, plugins: [RetryPlugin()])
        let failure = await provider.result(SturdyTarget(method: .post) { key }).failure
        #expect(failure?.stage == .request)
        #expect(failure?.underlying as? InvalidRequest == .invalidHeaderValue(name: "Idempotency-Key"))
        #expect(script.requests.count == 0)
    }
}
