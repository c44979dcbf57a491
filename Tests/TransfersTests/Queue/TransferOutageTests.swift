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

@Suite("A queue of transfers: outages", .throttled, .timeLimit(.minutes(2)))
struct TransferOutageTests {
    private let clock = ManualClock()
    private let transport = ControlledTransport()

    private func queue(
        maxConcurrent: Int = 1,
        plugins: [any Plugin] = [],
        reachability: Reachability? = nil
    ) throws -> TransferQueue<Media> {
        try TransferQueue(
            Provider(transport: transport, plugins: plugins, clock: clock),
            maxConcurrent: maxConcurrent,
            reachability: reachability
        )
    }

    /// Ends the next delay, if there is one. The time moves no further: a transfer fails after days without progress.
    private func endDelay() async throws {
        try Task.checkCancellation()
        if !clock.remainingSleeps.isEmpty { clock.advanceToNextDeadline() }
        await Task.yield()
    }

    /// Waits until a number of exchanges have begun, while delays end.
    private func waitForBegun(_ count: Int) async throws {
        while transport.begun.count < count { try await endDelay() }
    }

    private func wait(_ queue: TransferQueue<Media>, _ id: UUID, for name: String) async throws {
        while queue[id]?.state.name != name {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    @Test(
        "A transfer that fails without a response waits, and is tried again until the outage ends",
        arguments: [
            URLError.Code.notConnectedToInternet, .cannotConnectToHost, .cannotFindHost, .timedOut,
            .networkConnectionLost,
        ]
    )
    func outage(code: URLError.Code) async throws {
        let queue = try queue()
        let id = try await queue.add(.film(1))
        for attempt in 1...8 {
            try await waitForBegun(attempt)
            transport.finish(.film(1), with: .failure(URLError(code)))
            try await wait(queue, id, for: "waiting")
        }
        try await waitForBegun(9)
        transport.finish(.film(1))
        #expect(try await queue.response(of: id).statusCode == 200)
    }

    @Test(
        "A transfer waits after a status that says that the server is unavailable",
        arguments: [408, 425, 429, 500, 502, 503]
    )
    func unavailable(status: Int) async throws {
        let queue = try queue()
        let first = try await queue.add(.film(1))
        let second = try await queue.add(.film(2))
        await transport.begun.waitForCount(1)
        transport.finish(.film(1), with: .success(status))
        // The others go on.
        await transport.begun.waitForCount(2)
        transport.finish(.film(2))
        _ = try await queue.response(of: second)
        #expect(queue[first]?.state.name == "waiting")
        #expect(queue[first]?.lastError?.response?.statusCode == status)
        #expect("\(try #require(queue[first]))".hasPrefix("Media.film, waiting after a failure: "))
        try await waitForBegun(3)
        transport.finish(.film(1))
        #expect(try await queue.response(of: first).statusCode == 200)
        #expect(queue[first]?.lastError == nil)
    }

    @Test("A network that is back at once ends the delay")
    func blink() async throws {
        let reachability = Reachability()
        reachability.set(.online(.wifi, isExpensive: false))
        let queue = try queue(reachability: reachability)
        let id = try await queue.add(.film(1))
        await transport.begun.waitForCount(1)
        transport.finish(.film(1), with: .failure(URLError(.networkConnectionLost)))
        try await wait(queue, id, for: "waiting")
        // No reader of the statuses sees it.
        reachability.set(.offline)
        reachability.set(.online(.wifi, isExpensive: false))
        await transport.begun.waitForCount(2)
        transport.finish(.film(1))
        #expect(try await queue.response(of: id).statusCode == 200)
    }

    @Test("Other failures are final", arguments: [400, 403, 404, 409])
    func final(status: Int) async throws {
        let queue = try queue()
        let id = try await queue.add(.film(1))
        await transport.begun.waitForCount(1)
        transport.finish(.film(1), with: .success(status))
        await #expect(throws: TargetKitError.self) { try await queue.response(of: id) }
    }

    @Test("A download whose body is invalid is not received again and again")
    func invalid() async throws {
        let queue = try queue()
        let id = try await queue.add(.film(1))
        await transport.begun.waitForCount(1)
        transport.finish(.film(1), with: .failure(URLError(.badServerResponse)))
        await #expect(throws: TargetKitError.self) { try await queue.response(of: id) }
    }

    @Test("While there is no response, a few transfers are tried, and not each of many")
    func together() async throws {
        let queue = try queue(maxConcurrent: 3)
        var ids: [UUID] = []
        for number in 1...30 { ids.append(try await queue.add(.film(number))) }
        await transport.begun.waitForCount(3)
        for number in 1...3 { transport.finish(.film(number), with: .failure(URLError(.cannotConnectToHost))) }
        for id in ids.prefix(3) { try await wait(queue, id, for: "waiting") }
        #expect(transport.begun.count == 3)
        try await waitForBegun(6)
        // Those that have not failed are tried first.
        #expect(Set(transport.begun.elements.suffix(3)) == ["/film/4", "/film/5", "/film/6"])
    }

    @Test("Resuming a transfer, or all, ends a delay", arguments: [false, true])
    func resume(all: Bool) async throws {
        let queue = try queue()
        let id = try await queue.add(.film(1))
        await transport.begun.waitForCount(1)
        transport.finish(.film(1), with: .failure(URLError(.cannotConnectToHost)))
        try await wait(queue, id, for: "waiting")
        if all { queue.resumeAll() } else { queue.resume(id) }
        await transport.begun.waitForCount(2)
    }

    @Test("A change of the network ends a delay")
    func network() async throws {
        let network = ManualConnectivity(.online(.wifi, isExpensive: false, isConstrained: false))
        let queue = try queue(reachability: Reachability(network))
        let id = try await queue.add(.film(1))
        await transport.begun.waitForCount(1)
        transport.finish(.film(1), with: .failure(URLError(.cannotConnectToHost)))
        try await wait(queue, id, for: "waiting")
        network.set(.online(.cellular, isExpensive: true, isConstrained: false))
        await transport.begun.waitForCount(2)
    }

    @Test("A transfer that is paused or removed during a delay does not start")
    func paused() async throws {
        let queue = try queue()
        let first = try await queue.add(.film(1))
        let second = try await queue.add(.film(2))
        for number in 1...2 {
            try await waitForBegun(number)
            transport.finish(.film(number), with: .failure(URLError(.timedOut)))
            try await wait(queue, number == 1 ? first : second, for: "waiting")
        }
        queue.pause(first)
        queue.remove(second)
        clock.advance(by: .seconds(3600))
        try await queue.add(.film(3))
        await transport.begun.waitForCount(3)
        #expect(transport.begun.elements.last == "/film/3")
    }

    @Test("A transfer that is always cut at the same place fails")
    func cut() async throws {
        let transport = ControlledTransport(progress: TransferProgress(completed: 5, total: 20, direction: .download))
        let queue = try TransferQueue(Provider<Media>(transport: transport, clock: clock))
        let id = try await queue.add(.film(1))
        for attempt in 1...6 {
            while transport.begun.count < attempt, queue[id]?.state.hasEnded != true { try await endDelay() }
            while queue[id]?.progress == nil {
                try Task.checkCancellation()
                await Task.yield()
            }
            transport.finish(.film(1), with: .failure(URLError(.networkConnectionLost)))
        }
        await #expect(throws: TargetKitError.self) { try await queue.response(of: id) }
        #expect(transport.begun.count == 6)
    }

    @Test("A transfer costs the same however many the queue has", .alone)
    func cost() async throws {
        /// The time of the last transfers of a queue, each with a task that waits for it.
        func time(_ count: Int) async throws -> Duration {
            let queue = try TransferQueue(Provider<Media>(stubClosure: { _ in .immediate }), maxConcurrent: 4)
            queue.pauseAll()
            let start = ContinuousClock.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...count {
                    let id = try await queue.add(.film(number))
                    group.addTask { _ = try await queue.response(of: id) }
                }
                try await group.waitForAll()
            }
            for transfer in queue.transfers { queue.remove(transfer.id) }
            #expect(queue.transfers.isEmpty)
            return start.duration(to: .now) / count
        }
        _ = try await time(100)
        var ratios: [Double] = []
        // A busy machine can disturb a measurement.
        for _ in 1...3 {
            ratios.append(try await time(6_000) / time(300))
            if let ratio = ratios.last, ratio < 2.5 { return }
        }
        Issue.record("\(ratios)")
    }
}
