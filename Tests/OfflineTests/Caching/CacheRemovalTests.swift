// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
@testable import TargetKitOffline
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Cache: removals", .throttled, .timeLimit(.minutes(2)))
struct CacheRemovalTests {
    private static func isCached(_ world: CacheWorld, _ path: RequestPath = "/list") async -> Bool {
        await world.provider.result(CachedTarget(.get, path).with(.onlyCached)).failure == nil
    }

    @Test(
        "A removal does not affect the responses of calls in progress that it does not select",
        arguments: CachePlace.allCases,
        [true, false]
    )
    func selected(_ place: CachePlace, isSelected: Bool) async throws {
        let folder = try TemporaryFolderOfCache()
        let (gate, world) = (Gate(), place.world(folder))
        world.answer { _ in
            await gate.wait()
            return .cacheable()
        }
        let call = Task { try await world.provider.request(CachedTarget()) }
        await gate.waitForArrivals()
        await world.cache.removeAll { $0.url.path().hasSuffix("/list") == isSelected }
        gate.open()
        _ = try await call.value
        await world.cache.waitForWrites()
        #expect(await Self.isCached(world) == !isSelected)
    }

    @Test("A removal does not affect the responses that wait to be written and that it does not select")
    func pendingWrites() async throws {
        let folder = try TemporaryFolderOfCache()
        let world = CacheWorld(storedIn: folder.url)
        for number in 0..<20 {
            async let removal: Void = world.cache.removeAll { $0.url.path().hasSuffix("/other") }
            _ = try await world.provider.request(CachedTarget(.get, "/\(number)"))
            await removal
        }
        await world.cache.waitForWrites()
        #expect(folder.entries.count == 20)
    }

    @Test("A response is not stored if its call began before many removals, of which one selects it")
    func manyRemovals() async throws {
        let (gate, world) = (Gate(), CacheWorld())
        world.answer { _ in
            await gate.wait()
            return .cacheable()
        }
        let call = Task { try await world.provider.request(CachedTarget()) }
        await gate.waitForArrivals()
        await world.cache.removeAll()
        for _ in 0..<100 { await world.cache.removeAll { _ in false } }
        gate.open()
        _ = try await call.value
        #expect(await !Self.isCached(world))
    }

    @Test("A call that reads the folder does not wait for the end of a removal")
    func interleaved() async throws {
        let folder = try TemporaryFolderOfCache()
        let world = CacheWorld(storedIn: folder.url, memoryLimit: 0)
        // So many that each queue has several folders.
        for number in 0..<40 { _ = try await world.provider.request(CachedTarget(.get, "/\(number)")) }
        await world.cache.waitForWrites()
        let disk = try #require(await world.cache.open().disk)
        let (visited, order) = (Recorder<Int>(), Recorder<Bool>())
        await world.cache.removeAll { entry in
            let folder = disk.layout.folderNumber(of: disk.salt.digest(of: [entry.url.absoluteString]))
            // The last folder of the same queue that had a response.
            let isNext = visited.elements.last { $0 % 4 == folder % 4 }.map { $0 != folder } ?? false
            visited.append(folder)
            if isNext { order.append(false) }
            disk.begin(for: entry.url.absoluteString) { order.append(true) }
            return true
        }
        await world.cache.waitForWrites()
        // A call that begins during the removal from one folder precedes the removal from the next one.
        #expect(order.elements.first == true)
        #expect(Set(visited.elements).count > 8)
        #expect(folder.entries.isEmpty)
    }

    @Test("A response that a removal has selected is not used before its file is removed")
    func duringRemoval() async throws {
        let folder = try TemporaryFolderOfCache()
        let world = CacheWorld(storedIn: folder.url, memoryLimit: 0)
        for number in 0..<40 { _ = try await world.provider.request(CachedTarget(.get, "/\(number)")) }
        await world.cache.waitForWrites()
        let isCached = Recorder<Bool>()
        let calls = Recorder<Task<Void, Never>>()
        await world.cache.removeAll { entry in
            let path: RequestPath = "/\(entry.url.lastPathComponent)"
            let call = Task { isCached.append(await Self.isCached(world, path)) }
            calls.append(call)
            return true
        }
        for call in calls.elements { await call.value }
        #expect(isCached.count >= 40)
        #expect(!isCached.elements.contains(true))
    }

    #if os(Linux)
    @Test("Responses that cannot be removed are an event, and are not used again, also after a relaunch")
    func readOnly() async throws {
        let parent = try TemporaryFolder()
        guard geteuid() == 0, mount("tmpfs", parent.url.path, "tmpfs", 0, "size=1m") == 0 else {
            print("skipped: only the superuser can mount a small file system")
            return
        }
        defer { umount2(parent.url.path, Int32(MNT_DETACH)) }
        let folder = parent.url.appending(path: "cache")
        let world = CacheWorld(storedIn: folder)
        for path in ["/list", "/other"] as [RequestPath] {
            _ = try await world.provider.request(CachedTarget(.get, path))
        }
        // The files are counted.
        _ = await world.cache.size
        await world.cache.waitForWrites()
        try #require(mount(nil, parent.url.path, nil, UInt(MS_REMOUNT | MS_RDONLY), nil) == 0)
        let events = world.cache.events
        await world.cache.removeAll()
        for await event in events {
            guard case .failed(let message) = event else { continue }
            #expect(message.contains("Read-only file system"))
            break
        }
        #expect(await !Self.isCached(world))
        // The cache works in memory.
        _ = try await world.provider.request(CachedTarget())
        #expect(await Self.isCached(world))
        #expect(await !Self.isCached(world, "/other"))
        let relaunched = CacheWorld(storedIn: folder)
        let failures = relaunched.cache.events
        #expect(await !Self.isCached(relaunched))
        for await event in failures {
            if case .failed = event { break }
        }
    }

    @Test("A response that is no longer valid and cannot be removed is not used again")
    func readOnlyInvalidation() async throws {
        let parent = try TemporaryFolder()
        guard geteuid() == 0, mount("tmpfs", parent.url.path, "tmpfs", 0, "size=1m") == 0 else {
            print("skipped: only the superuser can mount a small file system")
            return
        }
        defer { umount2(parent.url.path, Int32(MNT_DETACH)) }
        let world = CacheWorld(storedIn: parent.url.appending(path: "cache"), memoryLimit: 0)
        _ = try await world.provider.request(CachedTarget())
        _ = await world.cache.size
        await world.cache.waitForWrites()
        try #require(mount(nil, parent.url.path, nil, UInt(MS_REMOUNT | MS_RDONLY), nil) == 0)
        _ = try await world.provider.request(CachedTarget(.delete))
        #expect(await !Self.isCached(world))
    }
    #endif
}
