// SPDX-License-Identifier: MIT
import Foundation
import TargetKitTesting

@testable import TargetKit

/// Threads that do at random what an app does with its calls, until each has begun its share; then everything comes to
/// rest and is looked at.
final class LifecycleRound: Sendable {
    typealias Cancel = @Sendable () -> Void

    /// What a round needs of the other end.
    struct Network: Sendable {
        let baseURL: URL
        let transport: any Transport
        let holds: LifecycleHolds
    }

    /// A provider and what its calls are cancelled together by.
    struct Slot: Sendable {
        let provider: Provider<LifecycleTarget>
        let scope: Int
        let isShared: Bool
        let domains: [Int]
    }

    /// A scope, the model's name for it, and whether somebody is shutting it down.
    struct Scope: Sendable {
        let scope: RequestScope
        let domains: [Int]
        let isBusy = Locked(false)
    }

    private struct Live: Sendable {
        var calls: [(serial: Int, cancel: Cancel)] = []
    }

    /// How many calls are under way at most, about.
    private static let mostCalls = 96

    let network: Network
    let ledger = LifecycleLedger()
    let callbackQueue = DispatchQueue(label: "lifecycle model")
    let scopes: [Scope]
    private let slots = Locked<[Slot]>([])
    private let live = Locked(Live())
    private let released = Tally()
    private let madeProviders = Tally()

    init(_ network: Network) {
        self.network = network
        let clock = LifecycleClock(holds: network.holds)
        let root = Scope(scope: RequestScope(clock: clock), domains: [ledger.makeDomain()])
        let children = (0..<2).map { [ledger] _ in
            Scope(scope: RequestScope(parent: root.scope), domains: [ledger.makeDomain()] + root.domains)
        }
        scopes = [root] + children + [Scope(scope: RequestScope(clock: clock), domains: [ledger.makeDomain()])]
        let first = (0..<8).map { makeSlot($0 / 2, isShared: $0.isMultiple(of: 2), marksAttempts: $0 % 3 == 0) }
        slots.withLock { $0 = first }
        for _ in 0..<Self.mostCalls { ledger.room.signal() }
    }

    private func makeSlot(_ scope: Int, isShared: Bool, marksAttempts: Bool) -> Slot {
        madeProviders.add()
        let provider = Provider<LifecycleTarget>(
            transport: LifecycleTransport(network.transport, released: released),
            plugins: (marksAttempts ? [LifecycleMark()] : []) + [LifecyclePlugin(ledger: ledger)],
            options: .setting(\.sharesInFlight, isShared),
            scope: scopes[scope].scope,
            clock: LifecycleClock(holds: network.holds)
        )
        let domains = [ledger.makeDomain()] + scopes[scope].domains
        return Slot(provider: provider, scope: scope, isShared: isShared, domains: domains)
    }

    /// Runs the round.
    ///
    /// - Throws: `CancellationError` when `giveUp` was called.
    /// - Returns: What was wrong.
    func run(seed: UInt64, threads: Int, callsOfEach: Int) async throws -> [String] {
        let threadsAtEnd = Expectation(count: threads)
        for thread in 0..<threads {
            Thread.detachNewThread {
                var random = SeededGenerator(seed: seed &* 1_000_003 &+ UInt64(thread))
                var left = callsOfEach
                while left > 0 { self.act(&random, &left) }
                threadsAtEnd.fulfill()
            }
        }
        await threadsAtEnd.wait()
        network.holds.openAll(forGood: true)
        try await ledger.endings.wait(for: ledger.expectedEndings)
        // What is left belongs to readers who have gone.
        for scope in scopes.reversed() {
            ledger.beginShutdown(scope.domains[0])
            await scope.scope.shutdown(grace: .zero)
        }
        // A shutdown that another thread began may still be at work in a scope within.
        for scope in scopes { await scope.scope.shutdown(grace: .zero) }
        // Few calls may all have missed a shutdown: these do not.
        var random = SeededGenerator(seed: seed)
        for _ in 0..<4 { start(&random) }
        try await ledger.endings.wait(for: ledger.expectedEndings)
        // A second completion would stand in the queue now.
        await withCheckedContinuation { done in callbackQueue.async { done.resume() } }
        var problems = ledger.problems() + restlessness()
        live.withLock { $0.calls = [] }
        slots.withLock { $0 = [] }
        do {
            try await released.wait(for: madeProviders.value)
        } catch {
            problems.append("\(madeProviders.value - released.value) providers are never released")
        }
        return problems
    }

    /// Ends the waits of a round that hangs, and says what is missing.
    func giveUp() -> String {
        let missing = ledger.entries.enumerated().filter { $1.endings.count < $1.expectedEndings }
        ledger.endings.close()
        released.close()
        return "hangs, \(missing.count) calls have not ended: "
            + missing.prefix(5).map { "\($0) \($1)" }.joined(separator: "; ")
    }

    /// What is left behind.
    private func restlessness() -> [String] {
        let left = scopes.enumerated().flatMap { index, scope in
            let state = scope.scope.state.withLock { $0 }
            return [
                ("calls", state.calls.count), ("completions", state.pendingCount), ("waiters", state.waiters.count),
                ("counters", state.counters.count),
            ].filter { $0.1 != 0 }.map { "scope \(index) has \($0.1) \($0.0) at rest" }
        }
        let flights = slots.withLock { $0 }.map(\.provider.configuration.sharedExchanges.count).filter { $0 != 0 }
        return left + flights.map { "\($0) exchanges are shared at rest" }
    }
}

extension LifecycleRound {
    private func act(_ random: inout SeededGenerator, _ left: inout Int) {
        switch Int.random(in: 0..<1000, using: &random) {
        case 0..<600:
            left -= 1
            start(&random)
        case 600..<760: cancelOne(&random)
        case 760..<970: network.holds.openOne(&random)
        case 970..<975: network.holds.openAll()
        case 975..<985: dropProvider(&random)
        case 985..<990:
            let slot = anySlot(&random)
            ledger.cancelling(slot.domains[0]) { slot.provider.cancelAll() }
        case 990..<995:
            let scope = scopes[Int.random(in: 0..<scopes.count, using: &random)]
            let way = Int.random(in: 0..<3, using: &random)
            ledger.cancelling(scope.domains[0]) {
                switch way {
                case 0: scope.scope.cancelAll()
                case 1: scope.scope.cancelAll(of: LifecycleTarget.self)
                default: scope.scope.cancelAll { $0.attempt == 0 }
                }
            }
        case 995..<997: shutDown(&random)
        default: break
        }
    }

    /// Waits until few enough calls are under way, and lets one go on now and then: all of them may be held. It blocks
    /// its thread, which is not one of Swift's own, and leaves the processor to the calls.
    private func waitForRoom(_ random: inout SeededGenerator) {
        while ledger.room.wait(timeout: .now() + .milliseconds(1)) == .timedOut { network.holds.openOne(&random) }
    }

    private func anySlot(_ random: inout SeededGenerator) -> Slot {
        let pick = random.next()
        return slots.withLock { $0[Int(pick % UInt64($0.count))] }
    }

    private func dropProvider(_ random: inout SeededGenerator) {
        let pick = random.next()
        let old = slots.withLock { $0[Int(pick % UInt64($0.count))] }
        let new = makeSlot(old.scope, isShared: old.isShared, marksAttempts: pick >> 32 & 1 == 0)
        slots.withLock { $0[Int(pick % UInt64($0.count))] = new }
    }

    private func cancelOne(_ random: inout SeededGenerator) {
        let pick = random.next()
        let call = live.withLock { live -> (serial: Int, cancel: Cancel)? in
            guard !live.calls.isEmpty else { return nil }
            // One of the last: most others have ended.
            let back = Int(pick % UInt64(min(live.calls.count, Self.mostCalls)))
            live.calls.swapAt(live.calls.count - 1 - back, live.calls.count - 1)
            return live.calls.removeLast()
        }
        guard let call else { return }
        ledger.change(call.serial) { $0.isCancelled = true }
        call.cancel()
    }

    /// Shuts a scope down and opens it again; one at a time for each scope.
    private func shutDown(_ random: inout SeededGenerator) {
        let scope = scopes[Int.random(in: 0..<scopes.count, using: &random)]
        let grace = Bool.random(using: &random) ? Duration.zero : .seconds(1)
        let isFree = scope.isBusy.withLock { isBusy in
            defer { isBusy = true }
            return !isBusy
        }
        guard isFree else { return }
        ledger.expectOneMore()
        Task { [ledger] in
            ledger.beginShutdown(scope.domains[0])
            await scope.scope.shutdown(grace: grace)
            if scope.scope.inFlightCount != 0 { ledger.report("calls are in flight after shutdown") }
            scope.scope.reopen()
            ledger.endShutdown(scope.domains[0])
            scope.isBusy.withLock { $0 = false }
            ledger.endings.add()
        }
    }

    private func start(_ random: inout SeededGenerator) {
        let slot = anySlot(&random)
        let ways = LifecycleCall.Way.allCases
        let way = ways[Int.random(in: 0..<ways.count, using: &random)]
        let endings = way == .response ? 2 : 1
        for _ in 0..<endings { waitForRoom(&random) }
        let fates = LifecycleFate.allCases
        let fate = fates[Int.random(in: 0..<fates.count, using: &random)]
        let number = Int.random(in: 0..<2, using: &random)
        let timeouts: [CallTimeout] = [.exchange(.seconds(1)), .wholeCall(.seconds(1))]
        let timeout = Int.random(in: 0..<8, using: &random) == 0 ? timeouts.randomElement(using: &random) : nil
        let serial = ledger.begin(
            fate,
            number,
            by: way,
            in: slot.domains,
            canTimeOut: timeout != nil,
            isShared: slot.isShared,
            endings: endings
        )
        let call = LifecycleCall(
            provider: slot.provider,
            target: LifecycleTarget(baseURL: network.baseURL, serial: serial, number: number, fate: fate),
            options: .setting(\.timeout, timeout ?? .none),
            queue: callbackQueue,
            ledger: ledger,
            holds: network.holds,
            leavesAfter: Int.random(in: 0..<5, using: &random)
        )
        let cancel = call.start(way)
        live.withLock { $0.calls.append((serial, cancel)) }
    }
}
