// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
@testable import TargetKitOffline
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Where a cache keeps its responses.
enum CachePlace: CaseIterable, Sendable {
    case memory, disk, both

    func world(_ folder: TemporaryFolderOfCache, plugins: [any Plugin] = []) -> CacheWorld {
        CacheWorld(
            storedIn: self == .memory ? nil : folder.url,
            memoryLimit: self == .disk ? 0 : 16 << 20,
            plugins: plugins
        )
    }
}

@Suite("Cache: the most recent response", .throttled, .timeLimit(.minutes(2)))
struct CacheRecencyTests {
    private static let exchange = "X-Exchange"

    private static func target(_ exchange: String) -> CachedTarget {
        CachedTarget(.get, "/list", HTTPHeaders([Self.exchange: exchange]))
    }

    /// The date that many seconds after the world's start.
    private static func date(_ seconds: Int) -> String { CacheWorld.text("{\(seconds)}") }

    /// Begins a call, makes another one during it, and then ends the first.
    private static func overlap(
        _ world: CacheWorld,
        first: CachedTarget,
        _ firstAnswer: SampleResponse,
        second: CachedTarget,
        _ secondAnswer: SampleResponse
    ) async throws {
        let gate = Gate()
        world.answer { request in
            if request.value(forHTTPHeaderField: "X-Exchange") == "second" { return secondAnswer }
            await gate.wait()
            return firstAnswer
        }
        let call = Task { try await world.provider.request(first) }
        await gate.waitForArrivals()
        _ = try await world.provider.request(second)
        gate.open()
        _ = try await call.value
        await world.cache.waitForWrites()
    }

    private static func cached(_ world: CacheWorld) async -> Response? {
        try? await world.provider.result(CachedTarget().with(.onlyCached)).get()
    }

    @Test(
        "§4: a response that arrives late does not replace a more recent one",
        arguments: CachePlace.allCases,
        [["Date": "{5}"], ["Date": "{5}", "Cache-Control": "no-store"]] as [HTTPHeaders]
    )
    func late(_ place: CachePlace, _ fields: HTTPHeaders) async throws {
        let folder = try TemporaryFolderOfCache()
        let world = place.world(folder)
        let newer: HTTPHeaders = ["Date": Self.date(10), "ETag": "\"2\""]
        try await Self.overlap(
            world,
            first: Self.target("first").with(.reload),
            .cacheable("older", CacheWorld.fields(fields)),
            second: Self.target("second").with(.reload),
            .cacheable("newer", newer)
        )
        #expect(await Self.cached(world)?.body == "newer")
    }

    @Test(
        "§4: of two responses with the same date, or none, the one that was requested last is used",
        arguments: [true, false]
    )
    func sameDate(hasDate: Bool) async throws {
        let world = CacheWorld()
        let gate = Gate()
        let fields: HTTPHeaders = hasDate ? ["Date": Self.date(10)] : [:]
        world.answer { request in
            if request.value(forHTTPHeaderField: "X-Exchange") == "second" { return .cacheable("newer", fields) }
            await gate.wait()
            return .cacheable("older", fields)
        }
        let call = Task { try await world.provider.request(Self.target("first").with(.reload)) }
        await gate.waitForArrivals()
        world.pass(0.2)
        _ = try await world.provider.request(Self.target("second").with(.reload))
        world.pass(0.2)
        gate.open()
        #expect(try await call.value.body == "older")
        #expect(await Self.cached(world)?.body == "newer")
    }

    @Test("§4.3.4: a late 304 for an older response does not replace a more recent one", arguments: CachePlace.allCases)
    func lateConfirmation(_ place: CachePlace) async throws {
        let folder = try TemporaryFolderOfCache()
        let world = place.world(folder)
        world.answer { _ in .cacheable("older", ["Date": Self.date(0), "Cache-Control": "no-cache"]) }
        _ = try await world.provider.request(CachedTarget())
        let confirmation: HTTPHeaders = ["Date": Self.date(5), "ETag": "\"1\"", "Cache-Control": "max-age=60"]
        try await Self.overlap(
            world,
            first: Self.target("first"),
            .response(status: 304, headers: confirmation, data: Data()),
            second: Self.target("second").with(.reload),
            .cacheable("newer", ["Date": Self.date(10), "ETag": "\"2\""])
        )
        let response = await Self.cached(world)
        #expect(response?.body == "newer")
        #expect(response?.headers["ETag"] == "\"2\"")
    }

    @Test("§4.3.4: of two 304 for one response, the more recent one sets its fields", arguments: CachePlace.allCases)
    func twoConfirmations(_ place: CachePlace) async throws {
        let folder = try TemporaryFolderOfCache()
        let world = place.world(folder)
        world.answer { _ in .cacheable("first", ["Date": Self.date(0), "Cache-Control": "no-cache"]) }
        _ = try await world.provider.request(CachedTarget())
        try await Self.overlap(
            world,
            first: Self.target("first"),
            .response(status: 304, headers: ["Date": Self.date(5), "X-A": "older"], data: Data()),
            second: Self.target("second"),
            .response(status: 304, headers: ["Date": Self.date(10), "X-A": "newer"], data: Data())
        )
        #expect(await Self.cached(world)?.headers["X-A"] == "newer")
    }

    @Test(
        "§4.3.5: a late response to HEAD neither changes nor removes a more recent response",
        arguments: [["ETag": "\"1\"", "X-A": "head"], ["ETag": "\"2\"", "X-A": "head"]] as [HTTPHeaders]
    )
    func lateHead(_ fields: HTTPHeaders) async throws {
        let world = CacheWorld()
        try await Self.overlap(
            world,
            first: CachedTarget(.head, "/list", HTTPHeaders([Self.exchange: "first"])),
            .response(status: 200, headers: fields.merging(["Date": Self.date(5)]), data: Data()),
            second: Self.target("second").with(.reload),
            .cacheable("newer", ["Date": Self.date(10), "ETag": "\"2\""])
        )
        let response = await Self.cached(world)
        #expect(response?.body == "newer")
        #expect(response?.headers["X-A"] == nil)
    }

    @Test("A 304 in the background that is about another response does not remove a more recent one")
    func lateMismatch() async throws {
        let (scope, gate) = (RequestScope(), Gate())
        let world = CacheWorld(scope: scope) { _ in
            .cacheable("older", ["Date": Self.date(0), "Cache-Control": "max-age=60, stale-while-revalidate=600"])
        }
        _ = try await world.provider.request(CachedTarget())
        world.pass(70)
        world.answer { request in
            if request.value(forHTTPHeaderField: "X-Exchange") != nil {
                return .cacheable("newer", ["Date": Self.date(71), "ETag": "\"2\""])
            }
            await gate.wait()
            return .response(status: 304, headers: ["ETag": "\"9\"", "Date": Self.date(70)], data: Data())
        }
        #expect(try await world.provider.request(CachedTarget()).body == "older")
        await gate.waitForArrivals()
        _ = try await world.provider.request(Self.target("second").with(.reload))
        gate.open()
        await scope.shutdown(grace: .seconds(60))
        scope.reopen()
        #expect(await Self.cached(world)?.body == "newer")
    }

    @Test(
        "A response to a request that was sent after the stored one had arrived replaces it, even if its date is earlier",
        arguments: CachePlace.allCases
    )
    func wrongClock(_ place: CachePlace) async throws {
        let folder = try TemporaryFolderOfCache()
        let world = place.world(folder)
        world.answer { _ in .cacheable("first", ["Date": Self.date(86_400)]) }
        _ = try await world.provider.request(CachedTarget())
        world.pass(1)
        world.answer { _ in .cacheable("second", ["Date": Self.date(1)]) }
        _ = try await world.provider.request(CachedTarget().with(.reload))
        await world.cache.waitForWrites()
        #expect(await Self.cached(world)?.body == "second")
        #expect(folder.entries.count <= 1)
    }

    @Test("A response from before the clock was set back is replaced, also without a date", arguments: [true, false])
    func clockSetBack(hasDate: Bool) async throws {
        let folder = try TemporaryFolderOfCache()
        let world = CacheWorld(storedIn: folder.url)
        world.pass(1e6)
        let fields: HTTPHeaders = hasDate ? ["Date": Self.date(0)] : [:]
        world.answer { _ in .cacheable("first", fields) }
        _ = try await world.provider.request(CachedTarget())
        world.pass(-1e6)
        world.answer { _ in .cacheable("second", fields) }
        _ = try await world.provider.request(CachedTarget())
        await world.cache.waitForWrites()
        for world in [world, CacheWorld(storedIn: folder.url)] {
            #expect(await Self.cached(world)?.body == "second")
        }
    }

    @Test("A late response does not replace a more recent one that another process has stored")
    func otherProcess() async throws {
        let folder = try TemporaryFolderOfCache()
        let (gate, other) = (Gate(), CacheWorld(storedIn: folder.url))
        let world = CacheWorld(storedIn: folder.url) { _ in
            await gate.wait()
            return .cacheable("older", ["Date": Self.date(5)])
        }
        let call = Task { try await world.provider.request(CachedTarget()) }
        await gate.waitForArrivals()
        other.answer { _ in .cacheable("newer", ["Date": Self.date(10)]) }
        _ = try await other.provider.request(CachedTarget())
        await other.cache.waitForWrites()
        gate.open()
        #expect(try await call.value.body == "older")
        await world.cache.waitForWrites()
        for world in [world, other, CacheWorld(storedIn: folder.url)] {
            #expect(await Self.cached(world)?.body == "newer")
        }
    }

    @Test("A stale response in memory is not used when another process has stored a more recent one")
    func staleInMemory() async throws {
        let folder = try TemporaryFolderOfCache()
        let world = CacheWorld(storedIn: folder.url) { _ in .cacheable("first", ["Date": Self.date(0)]) }
        _ = try await world.provider.request(CachedTarget())
        await world.cache.waitForWrites()
        let other = CacheWorld(storedIn: folder.url) { _ in .cacheable("second", ["Date": Self.date(70)]) }
        for world in [world, other] { world.pass(70) }
        _ = try await other.provider.request(CachedTarget())
        await other.cache.waitForWrites()
        let response = try await world.provider.request(CachedTarget())
        #expect(response.body == "second")
        #expect(response.origin == .cache(age: .zero))
        #expect(world.requests.count == 1)
    }

    @Test("The most recent of many responses is left, in whatever order several caches store them")
    func anyOrder() async throws {
        let folder = try TemporaryFolderOfCache()
        let caches = (0..<4).map { _ in ResponseCache(storedIn: folder.url, memoryLimit: 0) { CacheWorld.start } }
        let key = CacheKey(url: "https://shop.example/api/list", user: nil)
        var generator = SeededGenerator(seed: 9)
        let seconds = Array(0..<40).shuffled(using: &generator)
        await withTaskGroup(of: Void.self) { group in
            for (index, cache) in caches.enumerated() {
                group.addTask {
                    let storage = await cache.open()
                    for position in stride(from: index, to: seconds.count, by: caches.count) {
                        let response = CachedResponse(
                            key: key,
                            variant: .only,
                            statusCode: 200,
                            httpVersion: "1.1",
                            headers: ["Date": Self.date(seconds[position])],
                            body: Data("\(seconds[position])".utf8),
                            requestTime: CacheWorld.start,
                            responseTime: CacheWorld.start,
                            usesHeuristics: false
                        )
                        cache.store(response, in: storage, generation: cache.generation)
                    }
                    await cache.waitForWrites()
                }
            }
        }
        let world = CacheWorld(storedIn: folder.url)
        #expect(await Self.cached(world)?.body == "39")
    }
}
