// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

@Suite("Reachability", .throttled, .timeLimit(.minutes(2)))
struct ReachabilityTests {
    typealias Status = Reachability.Status

    static let statuses: [Status] = [
        .offline, .online(.wifi, isExpensive: false), .online(.wifi, isExpensive: true),
        .online(.ethernet, isExpensive: false), .online(.cellular, isExpensive: true),
        .online(.other, isExpensive: false),
    ]

    private let source = ManualConnectivity(.offline)

    @Test("Calls are delayed only while the device is offline")
    func kinds() {
        #expect(Self.statuses.map(\.isReachable) == [false, true, true, true, true, true])
        #expect(Self.statuses.map(\.link) == [nil, .wifi, .wifi, .ethernet, .cellular, .other])
        #expect(Status.unknown.isReachable)
        #expect(Status.unknown.link == nil)
    }

    @Test("The status is unknown before the start and after the stop, and counts as reachable")
    func unknownUnlessRunning() {
        let reachability = Reachability(source: source)
        #expect(reachability.status == .unknown)
        #expect(reachability.isOnline)
        reachability.start()
        #expect(reachability.status == .offline)
        #expect(!reachability.isOnline)
        reachability.stop()
        #expect(reachability.status == .unknown)
        #expect(reachability.isOnline)
    }

    @Test("The status is the last one that the source has reported", arguments: statuses)
    func follows(_ status: Status) {
        let reachability = Reachability(source: source)
        reachability.start()
        source.set(status)
        #expect(reachability.status == status)
        #expect(reachability.isOnline == status.isReachable)
    }

    @Test("A status that is set replaces the source's until the stop", arguments: [false, true])
    func setStatus(isStarted: Bool) async {
        let reachability = Reachability(source: source)
        if isStarted { reachability.start() }
        reachability.set(.online(.cellular, isExpensive: true))
        #expect(source.startCount == 0)
        reachability.start()
        source.set(.online(.wifi, isExpensive: false))
        #expect(source.startCount == 0)
        #expect(reachability.status == .online(.cellular, isExpensive: true))
        var reader = reachability.statuses.makeAsyncIterator()
        #expect(await reader.next() == .online(.cellular, isExpensive: true))
        reachability.set(.offline)
        #expect(await reader.next() == .offline)
        reachability.stop()
        #expect(reachability.status == .unknown)
        reachability.start()
        #expect(reachability.status == .online(.wifi, isExpensive: false))
    }

    @Test("Several starts need one stop, after which it can be started again")
    func repeatedStarts() {
        let reachability = Reachability(source: source)
        reachability.stop()
        for _ in 0..<3 { reachability.start() }
        #expect(source.startCount == 1)
        reachability.stop()
        reachability.stop()
        #expect(source.startCount == 0)
        source.set(.online(.wifi, isExpensive: false))
        #expect(reachability.status == .unknown)
        reachability.start()
        #expect(source.startCount == 1)
        #expect(reachability.status == .online(.wifi, isExpensive: false))
    }

    @Test("Starts and stops from many threads start the source at most once")
    func concurrentStarts() async {
        let reachability = Reachability(source: source)
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<200 {
                group.addTask { index.isMultiple(of: 2) ? reachability.start() : reachability.stop() }
            }
        }
        #expect(source.startCount <= 1)
        reachability.stop()
        #expect(source.startCount == 0)
        reachability.start()
        #expect(source.startCount == 1)
    }

    @Test("Each reader gets the current status first and then the changes", arguments: [1, 2, 20])
    func readers(_ count: Int) async {
        let reachability = Reachability(source: source)
        reachability.start()
        let read = (0..<count).map { _ in Recorder<Status>() }
        let readers = read.map { read in
            Task { for await status in reachability.statuses { read.append(status) } }
        }
        for (index, status) in Self.statuses.enumerated() {
            source.set(status)
            for read in read { await read.waitForCount(index + 1) }
        }
        for reader in readers { reader.cancel() }
        for reader in readers { await reader.value }
        // The first status was there already when the readers came.
        for read in read { #expect(read.elements == Self.statuses) }
    }

    @Test("A slow reader gets the latest status alone")
    func slowReader() async {
        let reachability = Reachability(source: source)
        reachability.start()
        var reader = reachability.statuses.makeAsyncIterator()
        #expect(await reader.next() == .offline)
        for status in Self.statuses { source.set(status) }
        #expect(await reader.next() == Self.statuses.last)
        source.set(.offline)
        source.set(.online(.other, isExpensive: false))
        source.set(.online(.wifi, isExpensive: false))
        #expect(await reader.next() == .online(.wifi, isExpensive: false))
        source.set(.offline)
        source.set(.online(.wifi, isExpensive: false))
        source.set(.online(.cellular, isExpensive: true))
        #expect(await reader.next() == .online(.cellular, isExpensive: true))
    }

    @Test("A status that is reported twice is one change")
    func sameStatus() async {
        var reachability: Reachability? = Reachability(source: source)
        reachability?.start()
        var reader = reachability?.statuses.makeAsyncIterator()
        #expect(await reader?.next() == .offline)
        source.set(.offline)
        reachability = nil
        #expect(await reader?.next() == nil)
    }

    @Test("A sequence continues after a stop and a start")
    func readsOverStop() async {
        let reachability = Reachability(source: source)
        var reader = reachability.statuses.makeAsyncIterator()
        #expect(await reader.next() == .unknown)
        reachability.start()
        #expect(await reader.next() == .offline)
        reachability.stop()
        #expect(await reader.next() == .unknown)
        reachability.start()
        #expect(await reader.next() == .offline)
    }

    @Test("Reports of a stopped source are ignored, also after another start")
    func lateReports() throws {
        let source = KeptReports()
        let reachability = Reachability(source: source)
        reachability.start()
        let first = try #require(source.reports.elements.first)
        first(.offline)
        reachability.stop()
        first(.online(.wifi, isExpensive: false))
        #expect(reachability.status == .unknown)
        reachability.start()
        first(.online(.wifi, isExpensive: false))
        #expect(reachability.status == .unknown)
        source.reports.elements.last?(.offline)
        #expect(reachability.status == .offline)
        #expect(source.ends.value == 1)
    }

    @Test("A stop while the source starts stops it")
    func stopWhileStarting() {
        let source = KeptReports()
        let reachability = Reachability(source: source)
        source.onStart.withLock { $0 = { reachability.stop() } }
        reachability.start()
        #expect(source.ends.value == 1)
        source.reports.elements.last?(.offline)
        #expect(reachability.status == .unknown)
        source.onStart.withLock { $0 = nil }
    }

    @Test("Its release stops the source and ends the sequences")
    func letGo() async {
        var reachability: Reachability? = Reachability(source: source)
        reachability?.start()
        weak let weak = reachability
        let statuses = reachability?.statuses
        let read = Recorder<Status>()
        let reader = Task { if let statuses { for await status in statuses { read.append(status) } } }
        await read.waitForCount(1)
        reachability = nil
        await reader.value
        #expect(weak == nil)
        #expect(source.startCount == 0)
        #expect(read.elements == [.offline])
    }

    @Test("A reader is removed when it is cancelled or released")
    func noReaderStays() async {
        let value = ObservedValue(0)
        for _ in 0..<10 { _ = value.changes() }
        #expect(value.readerCount == 0)
        let read = Expectation()
        let reader = Task { for await _ in value.changes() { read.fulfill() } }
        await read.wait()
        #expect(value.readerCount == 1)
        reader.cancel()
        await reader.value
        #expect(value.readerCount == 0)
        value.finish()
        for await _ in value.changes() { read.fulfill() }
        #expect(value.readerCount == 0)
    }

    @Test("The system's source starts and stops")
    func system() {
        let reachability = Reachability()
        for _ in 0..<20 {
            reachability.start()
            #if os(Linux)
            #expect(reachability.status != .unknown)
            #endif
            reachability.stop()
        }
        #expect(reachability.status == .unknown)
    }
}

/// A source whose reports the test calls.
private struct KeptReports: ConnectivitySource {
    let reports = Recorder<@Sendable (Reachability.Status) -> Void>()
    let ends = Tally()
    let onStart = Locked<(@Sendable () -> Void)?>(nil)

    func start(_ report: @escaping @Sendable (Reachability.Status) -> Void) -> @Sendable () -> Void {
        reports.append(report)
        onStart.withLock { $0 }?()
        return { ends.add() }
    }
}
