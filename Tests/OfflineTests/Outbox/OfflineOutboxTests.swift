// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitResilience
import TargetKitOffline
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("An outbox", .throttled, .timeLimit(.minutes(2)))
struct OfflineOutboxTests {
    private let server = NoteServer()
    private let clock = ManualClock()
    private let connectivity = ManualConnectivity(.offline)
    private let online = Reachability.Status.online(.wifi, isExpensive: false)
    private let folder: TemporaryFolder
    private var file: URL { folder.url.appendingPathComponent("notes.outbox") }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func outbox(
        isStored: Bool = true,
        hasReachability: Bool = true,
        account: String? = nil,
        maximumAge: Duration = .seconds(86_400),
        maximumCount: Int = 1_000,
        maximumByteCount: Int = 1 << 20,
        plugins: [any Plugin] = [],
        now: @escaping @Sendable () -> Date = { Date(timeIntervalSince1970: 1_800_000_000) }
    ) throws -> OfflineOutbox<Note> {
        try OfflineOutbox(
            Provider(transport: server, plugins: plugins),
            storedIn: isStored ? file : nil,
            account: account,
            maximumAge: maximumAge,
            maximumCount: maximumCount,
            maximumByteCount: maximumByteCount,
            reachability: hasReachability ? Reachability(connectivity) : nil,
            clock: clock,
            now: now
        )
    }

    @Test("keeps calls without a network, and sends them in their order when it is back", arguments: [true, false])
    func order(isStored: Bool) async throws {
        let outbox = try outbox(isStored: isStored)
        var ids: [UUID] = []
        for number in 1...5 {
            let id = try await outbox.send(Note(number)).id
            ids.append(try #require(id))
        }
        #expect(outbox.entries.map(\.id) == ids)
        #expect(server.sent.count == 0)
        connectivity.set(online)
        try await outbox.shows([])
        #expect(server.numbers == [1, 2, 3, 4, 5])
        #expect(Set(server.sent.elements.map(\.key)).count == 5)
        #expect(try await outbox.send(Note(6)).statusCode == 200)
    }

    @Test("sends each try of a call with the same key, from the first one on", arguments: [nil, "own", "", " "])
    func key(own: String?) async throws {
        connectivity.set(online)
        server.answer(1, .failure(.networkConnectionLost), .failure(.timedOut), .status(503), .status(201))
        let outbox = try outbox()
        #expect(try await outbox.send(Note(1).with { $0.key = own }).id != nil)
        try await outbox.shows([], moving: clock)
        #expect(server.sent.count == 4)
        let keys = Set(server.sent.elements.map(\.key))
        #expect(keys.count == 1)
        #expect(own == "own" ? keys.first == own : keys.first??.count == 36)
    }

    @Test("states why an entry waits, from the first attempt on")
    func lastError() async throws {
        connectivity.set(online)
        server.answer(1, .failure(.networkConnectionLost), .status(503), .status(201))
        let outbox = try outbox()
        #expect(try await outbox.send(Note(1)).id != nil)
        async let isEmpty: Void = outbox.shows([], moving: clock)
        var events: [String] = []
        for await entry in outbox.events {
            let reason = entry.lastError.map { $0.response.map { "\($0.statusCode)" } ?? "\($0.kind)" } ?? "none"
            events.append("\(entry.state.name): \(reason)")
            if case .sent = entry.state { break }
        }
        try await isEmpty
        #expect(
            events == [
                "waiting: connectionLost", "sending: connectionLost", "waiting: 503", "sending: 503", "sent 201: none",
            ]
        )
    }

    @Test("sends the entries of the last launch, with their keys")
    func relaunch() async throws {
        connectivity.set(online)
        server.answer(.failure(.networkConnectionLost))
        do {
            let outbox = try outbox()
            _ = try await outbox.send(Note(1))
            _ = try await outbox.send(Note(2))
            #expect(outbox.entries.map(\.target.number) == [1, 2])
        }
        server.answer(.status(200))
        let next = try outbox()
        // The first one may still have the lock.
        try await next.shows([], moving: clock)
        #expect(server.numbers.filter { $0 == 2 } == [2])
        #expect(server.sent.elements[0].key == server.sent.elements[1].key)
        #expect(try outbox().entries.isEmpty)
    }

    @Test("reports what becomes of each entry, to the first reader from the beginning")
    func events() async throws {
        server.answer(2, .status(404))
        let outbox = try outbox()
        for number in 1...3 { try await outbox.keep(Note(number)) }
        connectivity.set(online)
        try await outbox.shows(["2 failed"])
        try await outbox.remove(outbox.entries[0].id)
        var names: [String] = []
        for await entry in outbox.events {
            names.append("\(entry.target.number) \(entry.state.name)")
            if names.count == 10 { break }
        }
        #expect(
            names == [
                "1 waiting", "2 waiting", "3 waiting", "1 sending", "1 sent 200", "2 sending", "2 failed",
                "3 sending", "3 sent 200", "2 removed",
            ]
        )
    }

    @Test(
        "keeps a call by its policy",
        arguments: [
            (OutboxPolicy.never, NoteServer.Answer.failure(.notConnectedToInternet), false),
            (.ifUnsent, .failure(.notConnectedToInternet), true),
            (.ifUnsent, .failure(.cannotConnectToHost), true),
            (.ifUnsent, .failure(.networkConnectionLost), false),
            (.ifUnsent, .failure(.timedOut), false),
            (.ifUnanswered, .failure(.networkConnectionLost), true),
            (.ifUnanswered, .failure(.timedOut), true),
            (.ifUnanswered, .failure(.secureConnectionFailed), false),
            (.ifUnanswered, .status(503), false),
            (.ifUnavailable, .status(503), true),
            (.ifUnavailable, .status(429), true),
            (.ifUnavailable, .failure(.timedOut), true),
            (.ifUnavailable, .status(400), false),
            (.ifUnavailable, .status(401), false),
        ]
    )
    func policies(policy: OutboxPolicy, answer: NoteServer.Answer, isKept: Bool) async throws {
        server.answer(answer)
        let outbox = try outbox(isStored: false, hasReachability: false)
        let result = try? await outbox.send(Note(1, policy: policy))
        #expect((result?.id != nil) == isKept)
        #expect(outbox.entries.count == (isKept ? 1 : 0))
        #expect((server.sent.elements[0].key == nil) == (policy == .ifUnsent || policy == .never))
    }

    @Test("does not keep a call without a key of which an earlier attempt may have been processed")
    func earlierAttempts() async throws {
        server.answer(1, .failure(.timedOut), .failure(.cannotConnectToHost))
        let retry = RetryPlugin(policy: RetryPolicy(attempts: 2, methods: [.post]), clock: clock)
        let provider = Provider<Note>(transport: server, plugins: [retry], clock: clock)
        let outbox = try OfflineOutbox(provider, clock: clock)
        let call = Task { try await outbox.send(Note(1, policy: .ifUnsent)) }
        await server.sent.waitForCount(1)
        while server.sent.count < 2 {
            try Task.checkCancellation()
            clock.advance(by: .seconds(60))
            await Task.yield()
        }
        await #expect(throws: TargetKitError.self) { try await call.value }
        #expect(outbox.entries.isEmpty)
    }

    @Test("keeps a call behind those of its group, and sends those of other groups")
    func groups() async throws {
        connectivity.set(online)
        server.answer(1, .failure(.timedOut), .status(503, ["Retry-After": "3600"]), .status(200))
        let outbox = try outbox()
        #expect(try await outbox.send(Note(1, group: "a")).id != nil)
        #expect(try await outbox.send(Note(2, group: "a")).id != nil)
        #expect(try await outbox.send(Note(3, group: "b")).statusCode == 200)
        // The server answers, so the first one is tried again, and waits as long as the server says.
        await server.sent.waitForCount(3)
        try await outbox.shows(["1 waiting", "2 waiting"])
        try await outbox.keep(Note(4, group: "b"))
        try await outbox.shows(["1 waiting", "2 waiting"])
        #expect(server.numbers == [1, 3, 1, 4])
        try await outbox.shows([], moving: clock)
        #expect(server.numbers == [1, 3, 1, 4, 1, 2])
    }

    @Test("lets other groups pass an entry that never gets an answer")
    func overtaking() async throws {
        let outbox = try outbox(hasReachability: false)
        server.answer(1, .failure(.timedOut), .failure(.timedOut), .failure(.timedOut))
        try await outbox.keep(Note(1, group: "a"))
        await server.sent.waitForCount(1)
        try await outbox.keep(Note(2, group: "b"))
        while server.sent.count < 2 {
            try Task.checkCancellation()
            clock.advance(by: .seconds(1))
            await Task.yield()
        }
        // The clock may have run on to the next attempt of the first one.
        #expect(server.numbers.prefix(2) == [1, 2])
    }

    @Test("waits for a sign-in after the status 401")
    func signIn() async throws {
        let token = Locked("old")
        let plugin = AccessTokenPlugin { _ in token.withLock(\.self) }
        server.answer(1, .status(401))
        let outbox = try outbox(plugins: [plugin])
        try await outbox.keep(Note(1))
        try await outbox.keep(Note(2))
        connectivity.set(online)
        try await outbox.shows(["1 needsSignIn", "2 waiting"])
        token.withLock { $0 = "new" }
        outbox.sendNow()
        try await outbox.shows([])
        #expect(server.sent.elements.map(\.user) == ["Bearer old", "Bearer new", "Bearer new"])
        #expect(try !String(contentsOf: file, encoding: .utf8).contains("old"))
    }

    @Test("sends and shows only the entries of its account, and cancels a call at a change")
    func accounts() async throws {
        server.answer(1, .hang)
        let outbox = try outbox(account: "ann")
        try await outbox.keep(Note(1))
        outbox.account = "bob"
        try await outbox.keep(Note(2))
        #expect(outbox.shown == ["2 waiting"])
        connectivity.set(online)
        try await outbox.shows([])
        #expect(server.numbers == [2])
        outbox.account = "ann"
        await server.sent.waitForCount(2)
        #expect(outbox.shown == ["1 sending"])
        outbox.account = "bob"
        #expect(outbox.entries.isEmpty)
        try await outbox.removeAll()
        outbox.account = "ann"
        try await outbox.shows([], moving: clock)
        #expect(server.numbers == [2, 1, 1])
        #expect(Set(server.sent.elements.map(\.key)).count == 2)
    }

    @Test(
        "cancels a first try when the account changes or all is removed, and does not keep it",
        arguments: [false, true]
    )
    func firstTry(isRemoved: Bool) async throws {
        server.answer(1, .hang)
        connectivity.set(online)
        let outbox = try outbox(account: "ann")
        let call = Task { try await outbox.send(Note(1)) }
        await server.sent.waitForCount(1)
        if isRemoved { try await outbox.removeAll() } else { outbox.account = "bob" }
        let error = await #expect(throws: TargetKitError.self) { try await call.value }
        #expect(error?.stage == .cancelled)
        outbox.account = "ann"
        #expect(outbox.entries.isEmpty)
    }

    @Test("moves, removes and repeats entries, also after a relaunch")
    func control() async throws {
        do {
            let outbox = try outbox()
            for number in 1...4 { try await outbox.keep(Note(number)) }
            let ids = outbox.entries.map(\.id)
            try await outbox.move(ids[3], before: ids[0])
            try await outbox.move(ids[1])
            try await outbox.remove(ids[2])
            #expect(outbox.shown == ["4 waiting", "1 waiting", "2 waiting"])
            try await outbox.move(ids[2])
            try await outbox.move(ids[0], before: ids[2])
            try await outbox.retry(ids[2])
            try await outbox.remove(ids[2])
            #expect(outbox.shown == ["4 waiting", "1 waiting", "2 waiting"])
        }
        server.answer(1, .status(400))
        let next = try outbox()
        #expect(next.shown == ["4 waiting", "1 waiting", "2 waiting"])
        connectivity.set(online)
        try await next.shows(["1 failed"], moving: clock)
        let last = try outbox()
        guard case .failed(let error)? = last.entries.first?.state else {
            Issue.record("\(last.shown)")
            return
        }
        #expect("\(error)".contains("400"))
        try await last.retry(last.entries[0].id)
        try await last.shows([], moving: clock)
        #expect(server.numbers == [4, 1, 2, 1])
    }

    @Test("cancels the call of an entry that is removed")
    func removeSending() async throws {
        connectivity.set(online)
        server.answer(1, .hang)
        let outbox = try outbox()
        let id = try await outbox.keep(Note(1))
        try await outbox.keep(Note(2))
        await server.sent.waitForCount(1)
        try await outbox.remove(id)
        try await outbox.shows([])
        #expect(server.numbers == [1, 2])
    }

    @Test("lets entries expire, and keeps them until they are removed or repeated")
    func age() async throws {
        let date = Locked(Date(timeIntervalSince1970: 1_800_000_000))
        let outbox = try outbox(maximumAge: .seconds(60)) { date.withLock(\.self) }
        try await outbox.keep(Note(1))
        try await clock.waitForSleepers()
        date.withLock { $0 += 61 }
        clock.advance(by: .seconds(61))
        try await outbox.shows(["1 expired"], moving: clock)
        connectivity.set(online)
        #expect(server.sent.count == 0)
        try await outbox.retry(outbox.entries[0].id)
        try await outbox.shows([])
        #expect(server.numbers == [1])
    }

    @Test("refuses calls beyond its limits, and removes entries that have failed before")
    func limits() async throws {
        server.answer(1, .status(400))
        let size = try JSONEncoder().encode(Note(1)).count
        let outbox = try outbox(maximumCount: 3, maximumByteCount: 5 * size)
        try await outbox.keep(Note(1))
        connectivity.set(online)
        try await outbox.shows(["1 failed"])
        connectivity.set(.offline)
        try await outbox.keep(Note(2))
        try await outbox.keep(Note(3))
        try await outbox.keep(Note(4))
        #expect(outbox.shown == ["2 waiting", "3 waiting", "4 waiting"])
        await #expect(throws: OutboxError.full) { try await outbox.keep(Note(5)) }
        let error = await #expect(throws: TargetKitError.self) { try await outbox.send(Note(5)) }
        #expect(error?.underlying as? OutboxError == .full)
        #expect(error?.kind == .storageFull)
        try await outbox.removeAll()
        let long = String(repeating: "x", count: 5 * size)
        await #expect(throws: OutboxError.full) { try await outbox.keep(Note(6).with { $0.text = long }) }
    }

    @Test("fails a call without a key that was processed before a redirect that a plugin refuses")
    func refusedRedirect() async throws {
        connectivity.set(online)
        server.answer(1, .status(303, ["Location": "/receipt"]))
        let limit = RateLimitPlugin(1, per: .seconds(3600), maximumWait: .zero, clock: clock)
        let outbox = try outbox(plugins: [limit])
        try await outbox.keep(Note(1, policy: .ifUnsent))
        try await outbox.shows(["1 failed"], moving: clock)
        #expect(server.numbers == [1])
    }

    @Test("reports the entries of its account, not those of the one before", arguments: [true, false])
    func accountEvents(isSending: Bool) async throws {
        if isSending { connectivity.set(online) }
        server.answer(1, .hang)
        let outbox = try outbox(account: "anna")
        try await outbox.keep(Note(1))
        if isSending { await server.sent.waitForCount(1) }
        outbox.account = "bob"
        try await outbox.keep(Note(2))
        if isSending { try await outbox.shows([]) }
        var events = outbox.events.makeAsyncIterator()
        #expect(await events.next()?.target.number == 2)
        if isSending {
            #expect(await events.next()?.state.name == "sending")
            #expect(await events.next()?.state.name == "sent 200")
        }
    }

    @Test("sends a call without a key at most once")
    func unsent() async throws {
        let outbox = try outbox()
        try await outbox.keep(Note(1, policy: .ifUnsent))
        try await outbox.keep(Note(2, policy: .ifUnsent))
        server.answer(1, .failure(.cannotConnectToHost), .failure(.networkConnectionLost))
        connectivity.set(online)
        await server.sent.waitForCount(1)
        try await outbox.shows(["1 waiting", "2 waiting"])
        outbox.sendNow()
        try await outbox.shows(["1 failed"])
        #expect(server.numbers == [1, 1, 2])
        #expect(server.sent.elements.allSatisfy { $0.key == nil })
    }

    @Test("does not send a call without a key again whose process was killed")
    func begun() async throws {
        connectivity.set(online)
        server.answer(1, .hang)
        let copy = folder.url.appendingPathComponent("copy.outbox")
        let first = try outbox()
        try await first.keep(Note(1, policy: .ifUnsent))
        await server.sent.waitForCount(1)
        try FileManager.default.copyItem(at: file, to: copy)
        let next = try OfflineOutbox(Provider<Note>(transport: server), storedIn: copy, clock: clock)
        try await next.shows(["1 failed"], moving: clock)
        #expect(server.sent.count == 1)
        try await first.removeAll()
    }

    @Test("A released outbox ends, with its sequences")
    func release() async throws {
        var outbox: OfflineOutbox<Note>? = try outbox()
        try await outbox?.keep(Note(1))
        try await clock.waitForSleepers()
        let events = outbox?.events
        weak let released = outbox
        outbox = nil
        for await _ in try #require(events) {}
        while released != nil || clock.sleeperCount > 0 {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}
