// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import FoundationNetworking
import TargetKitTesting
import TestSupport
import Testing

@testable import TargetKit

/// The order in which calls get their connections.
@Suite("CurlConnectionQueue", .throttled, .timeLimit(.minutes(3)))
struct CurlConnectionQueueTests {
    private let plain = CurlConnectionQueue.Host.Key(origin: "http://a", canShare: false)
    private let other = CurlConnectionQueue.Host.Key(origin: "http://b", canShare: false)
    private let secure = CurlConnectionQueue.Host.Key(origin: "https://a", canShare: true)

    private func queue(perHost: Int = 0, inAll: Int = 0) -> CurlConnectionQueue {
        var configuration = CurlTransport.Configuration.patient
        configuration.maxConnectionsPerHost = perHost
        configuration.maxConnections = inAll
        return CurlConnectionQueue(CurlConnectionQueue.Limits(configuration))
    }

    /// Awaited calls, numbered by their paths.
    private func withStarts(_ count: Int, _ body: ([CurlPendingCall]) -> Void) async throws {
        let starts = Recorder<CurlPendingCall>()
        let arrived = Expectation(count: count)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                let url = try #require(URL(string: "http://a/\(1000 + number)"))
                let call = try CurlCall(TransportRequest(urlRequest: URLRequest(url: url)))
                group.addTask {
                    _ = try? await withUnsafeThrowingContinuation { continuation in
                        starts.append(CurlPendingCall(call: call, continuation: continuation))
                        arrived.fulfill()
                    }
                }
            }
            await arrived.wait()
            body(starts.elements.sorted { $0.call.address.text < $1.call.address.text })
            for start in starts.elements { start.fail(with: .cancelled) }
        }
    }

    private func number(_ start: CurlPendingCall?) -> Int? {
        start.flatMap { Int($0.call.url.lastPathComponent) }.map { $0 - 1000 }
    }

    /// The calls that can start, and their hosts.
    private func taken(from queue: CurlConnectionQueue) -> [(number: Int?, host: CurlConnectionQueue.Host)] {
        var taken: [(number: Int?, host: CurlConnectionQueue.Host)] = []
        while let (start, host) = queue.next() {
            queue.noteFound(host)
            taken.append((number(start), host))
        }
        return taken
    }

    @Test("Calls to a host start in order, one for each connection")
    func order() async throws {
        try await withStarts(10) { starts in
            let queue = queue(perHost: 3)
            for start in starts { queue.add(start, for: plain) }
            var running = taken(from: queue)
            #expect(running.map(\.number) == [0, 1, 2])
            var rest: [Int?] = []
            while !running.isEmpty {
                queue.release(running.removeFirst().host)
                let next = taken(from: queue)
                rest += next.map(\.number)
                running += next
            }
            #expect(rest == [3, 4, 5, 6, 7, 8, 9])
            #expect(queue.count == 0)
        }
    }

    @Test("A call that is added as the first starts before those that wait")
    func first() async throws {
        try await withStarts(5) { starts in
            let queue = queue(perHost: 1)
            queue.add(starts[4], for: plain, isFirst: true)
            for start in starts[..<3] { queue.add(start, for: plain) }
            queue.add(starts[3], for: plain, isFirst: true)
            #expect(queue.remove(starts[1].call, of: plain) != nil)
            var numbers: [Int?] = []
            while let (start, host) = queue.next() {
                numbers.append(number(start))
                queue.release(host)
            }
            #expect(numbers == [3, 4, 0, 2])
            #expect(queue.count == 0)
        }
    }

    @Test("A host with few calls does not wait for all calls of another host")
    func fairness() async throws {
        try await withStarts(10) { starts in
            let queue = queue(inAll: 1)
            for start in starts[..<8] { queue.add(start, for: plain) }
            var order = taken(from: queue)
            for start in starts[8...] { queue.add(start, for: other) }
            while let last = order.last, order.count < 10 {
                queue.release(last.host)
                order += taken(from: queue)
            }
            #expect(order.map(\.number) == [0, 1, 8, 2, 9, 3, 4, 5, 6, 7])
        }
    }

    @Test("Cancelling a waiting call keeps the order of the others", arguments: [0, 2, 4])
    func cancel(cancelled: Int) async throws {
        try await withStarts(6) { starts in
            let queue = queue()
            for start in starts[..<5] { queue.add(start, for: plain) }
            #expect(number(queue.remove(starts[cancelled].call, of: plain)) == cancelled)
            #expect(queue.remove(starts[cancelled].call, of: plain) == nil)
            queue.add(starts[5], for: plain)
            #expect(taken(from: queue).map(\.number) == (0..<6).filter { $0 != cancelled })
            #expect(queue.remove(starts[1].call, of: plain) == nil)
        }
    }

    @Test("Streams that share a connection count as one connection")
    func streams() async throws {
        try await withStarts(1300) { starts in
            let queue = queue(perHost: 20, inAll: 21)
            for start in starts[..<1200] { queue.add(start, for: secure) }
            let first = taken(from: queue)
            #expect(first.count == 20)
            queue.note(isHTTP2: true, of: first[0].host)
            #expect(taken(from: queue).count == CurlConnectionQueue.Limits.streams - 20)
            for start in starts[1200...] { queue.add(start, for: plain) }
            #expect(taken(from: queue).count == 20)
            queue.note(isHTTP2: false, of: first[0].host)
            queue.release(first[0].host)
            #expect(taken(from: queue).isEmpty)
        }
    }

    @Test("Streams beyond the default limit start one by one until they have a connection")
    func manyStreams() async throws {
        try await withStarts(200) { starts in
            let queue = queue()
            for start in starts { queue.add(start, for: secure) }
            let host = taken(from: queue)[0].host
            queue.note(mayConnect: true, to: host)
            queue.note(isHTTP2: true, of: host)
            #expect(taken(from: queue).isEmpty)
            queue.note(mayConnect: false, to: host)
            #expect(queue.next() != nil)
            queue.note(mayConnect: true, to: host)
            #expect(queue.next() == nil)
        }
    }

    @Test("Of calls to hosts whose names aren't found yet, few start at a time, and those to other hosts go on")
    func lookups() async throws {
        let limit = CurlConnectionQueue.Limits().lookups
        try await withStarts(limit + 20) { starts in
            let queue = queue()
            queue.add(starts[limit + 10], for: plain)
            let known = taken(from: queue)
            for (number, start) in starts[..<(limit + 10)].enumerated() {
                queue.add(start, for: CurlConnectionQueue.Host.Key(origin: "http://\(number)", canShare: false))
            }
            var running: [CurlConnectionQueue.Host] = []
            while let (_, host) = queue.next() { running.append(host) }
            #expect(running.count == limit)
            queue.add(starts[limit + 11], for: plain)
            #expect(number(queue.next()?.pending) == limit + 11)
            #expect(queue.next() == nil)
            queue.release(running[0])
            #expect(number(queue.next()?.pending) == limit)
            #expect(queue.next() == nil)
            queue.noteFound(running[1])
            queue.noteFound(running[1])
            #expect(number(queue.next()?.pending) == limit + 1)
            #expect(queue.next() == nil)
            queue.release(running[1])
            #expect(queue.next() == nil)
            for (number, address) in ["http://192.0.2.1:8080", "http://[2001:db8::1]"].enumerated() {
                queue.add(starts[limit + 12 + number], for: .init(origin: address, canShare: false))
                #expect(self.number(queue.next()?.pending) == limit + 12 + number)
            }
            queue.release(known[0].host)
            #expect(queue.next() == nil)
            #expect(queue.removeAll().count == 8)
        }
    }

    @Test("Waiting calls that have timed out are found")
    func overdue() async throws {
        try await withStarts(4) { starts in
            let queue = queue()
            for (start, deadline) in zip(starts, [20, nil, 10, 30] as [UInt64?]) {
                var start = start
                start.deadline = deadline
                queue.add(start, for: plain)
            }
            let (overdue, next) = queue.removeOverdue(at: 20)
            #expect(overdue.map(number) == [2, 0])
            #expect(next == 30)
            #expect(taken(from: queue).map(\.number) == [1, 3])
        }
    }

    @Test("Deadlines are found in their order, whichever calls start or are cancelled in between")
    func deadlines() async throws {
        try await withStarts(200) { starts in
            let queue = queue(inAll: 50)
            for (number, start) in starts.enumerated() {
                var start = start
                // In an order of its own: 37 and 200 have no common factor.
                start.deadline = UInt64(1000 + number * 37 % 200)
                queue.add(start, for: plain)
            }
            #expect(taken(from: queue).count == 50)
            var expected = Set((50..<200).map { 1000 + $0 * 37 % 200 })
            for number in stride(from: 51, to: 200, by: 3) {
                #expect(queue.remove(starts[number].call, of: plain) != nil)
                expected.remove(1000 + number * 37 % 200)
            }
            var found: [Int] = []
            for moment in 1000..<1200 {
                let (overdue, next) = queue.removeOverdue(at: UInt64(moment))
                found += overdue.compactMap(number).map { 1000 + $0 * 37 % 200 }
                #expect(next.map(Int.init) == expected.filter { $0 > moment }.min())
            }
            #expect(found == expected.sorted())
            #expect(queue.count == 0)
        }
    }

    @Test("Idle hosts are forgotten eventually")
    func manyHosts() async throws {
        try await withStarts(1000) { starts in
            let queue = queue()
            for (number, start) in starts.enumerated() {
                queue.add(start, for: CurlConnectionQueue.Host.Key(origin: "http://\(number)", canShare: false))
                for (_, host) in taken(from: queue) { queue.release(host) }
            }
            #expect(queue.sizes.hosts <= 257)
        }
    }

    /// How calls leave the queue without being sent.
    enum Leaving: CaseIterable {
        case cancelled
        case overdue
        case closed
    }

    @Test("No entries remain for calls that end while they wait, or for their hosts", arguments: Leaving.allCases)
    func neverSent(leaving: Leaving) async throws {
        try await withStarts(1201) { starts in
            let queue = queue(inAll: 1)
            queue.add(starts[0], for: plain)
            let running = taken(from: queue)
            for (number, start) in starts.enumerated().dropFirst() {
                var start = start
                start.deadline = UInt64(number)
                queue.add(start, for: CurlConnectionQueue.Host.Key(origin: "http://\(number)", canShare: false))
            }
            switch leaving {
            case .cancelled:
                for (number, start) in starts.enumerated().dropFirst().shuffled() {
                    let key = CurlConnectionQueue.Host.Key(origin: "http://\(number)", canShare: false)
                    _ = queue.remove(start.call, of: key)
                }
            case .overdue: #expect(queue.removeOverdue(at: 1201).overdue.count == 1200)
            case .closed: #expect(queue.removeAll().count == 1200)
            }
            #expect(queue.count == 0)
            #expect(queue.sizes.hosts <= 257)
            #expect(queue.sizes.turns == 0)
            #expect(queue.sizes.places == 0)
            // The others go on.
            queue.add(starts[1], for: plain)
            queue.release(running[0].host)
            #expect(taken(from: queue).map(\.number) == [1])
        }
    }

    @Test(
        "Calls that are cancelled behind a waiting one leave no more entries than calls wait",
        arguments: [false, true]
    )
    func cancelledBehind(areFirst: Bool) async throws {
        try await withStarts(1001) { starts in
            let queue = queue()
            queue.add(starts[0], for: plain)
            for start in starts.dropFirst() {
                queue.add(start, for: plain, isFirst: areFirst)
                #expect(queue.remove(start.call, of: plain) != nil)
            }
            #expect(queue.sizes.places < 100)
            #expect(taken(from: queue).map(\.number) == [0])
        }
    }

    @Test("A call that waits within libcurl is not idle", .enabled(if: CurlLibrary.reportsSending))
    func waitingWithinLibcurl() async throws {
        try await withStarts(1) { starts in
            var configuration = CurlTransport.Configuration.patient
            configuration.idleTimeout = .milliseconds(1)
            let loop = CurlLoop(commandQueue: CurlCommandQueue(), configuration: configuration)
            let transfer = loop.flatMap { CurlTransfer(slot: 0, loop: $0) }
            loop?.queue.add(starts[0], for: secure)
            guard let loop, let transfer, let (start, host) = loop.queue.next() else {
                Issue.record("there is no loop")
                return
            }
            do {
                try transfer.begin(start, at: host)
            } catch {
                Issue.record(error)
            }
            let began = loop.clock.now
            while loop.clock.now <= began + 1_000_000 { loop.clock.tick() }
            #expect(transfer.due > loop.clock.now)
            transfer.sendCount = 1
            #expect(transfer.due == began + 1_000_000)
            transfer.end(with: .failure(TransportFailure.cancelled))
            transfer.completion = nil
        }
    }
}
#endif
