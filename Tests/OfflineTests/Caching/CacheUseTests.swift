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

@Suite("Cache: opening the folder, and using its files", .throttled, .timeLimit(.minutes(2)))
struct CacheUseTests {
    @Test("A response that is used in memory is not removed from the folder as the least recently used one")
    func useInMemory() async throws {
        let folder = try TemporaryFolderOfCache()
        let world = CacheWorld(storedIn: folder.url, diskLimit: 64 << 10)
        world.answer { _ in
            .cacheable(String(repeating: "x", count: 4000), ["Cache-Control": "max-age=100000"])
        }
        for number in 0..<60 {
            _ = try await world.provider.request(CachedTarget(.get, "/list/\(number)"))
            world.pass(70)
            let response = try await world.provider.request(CachedTarget(.get, "/list/0"))
            #expect(response.origin != .network)
            await world.cache.waitForWrites()
        }
        #expect(await world.cache.size.disk <= 64 << 10)
        let other = CacheWorld(storedIn: folder.url)
        #expect(await other.provider.result(CachedTarget(.get, "/list/0").with(.onlyCached)).failure == nil)
        #expect(await other.provider.result(CachedTarget(.get, "/list/1").with(.onlyCached)).failure != nil)
    }

    @Test("Caches that create a folder at the same time all use it")
    func simultaneousOpening() async throws {
        for _ in 0..<25 {
            let folder = try TemporaryFolderOfCache()
            let salts = await withTaskGroup(of: [UInt8]?.self) { group in
                for _ in 0..<6 {
                    group.addTask {
                        let storage = await ResponseCache(storedIn: folder.url).open()
                        return storage.disk == nil ? nil : storage.salt.bytes
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(!salts.contains(nil))
            #expect(Set(salts).count == 1)
        }
    }

    @Test("A temporary file is not removed by another process that looks for leftovers while it is created")
    func newTemporaryFile() async throws {
        let folder = try TemporaryFolder()
        let layout = DiskCacheLayout(folder.url)
        mkdir(layout.parts, 0o700)
        let isDone = Locked(false)
        async let removal: Void = Task {
            while !isDone.withLock(\.self) { layout.removeLeftovers() }
        }.value
        for _ in 0..<3000 {
            let part = try TemporaryCacheFile(in: layout.parts)
            guard FileManager.default.fileExists(atPath: part.path) else {
                Issue.record("\(part.path) was removed")
                break
            }
        }
        isDone.withLock { $0 = true }
        await removal
    }

    @Test(
        "A folder that was deleted while the cache was in use is created again",
        arguments: [[""], ["parts"], ["salt"], ["parts", "salt"]]
    )
    func deletedFolder(_ names: [String]) async throws {
        let folder = try TemporaryFolderOfCache()
        let world = CacheWorld(storedIn: folder.url)
        _ = try await world.provider.request(CachedTarget())
        _ = await world.cache.size
        await world.cache.waitForWrites()
        for name in names { try FileManager.default.removeItem(at: folder.url.appending(path: name)) }
        for path in ["/one", "/two"] as [RequestPath] {
            _ = try await world.provider.request(CachedTarget(.get, path))
            await world.cache.waitForWrites()
        }
        let other = CacheWorld(storedIn: folder.url)
        for path in ["/one", "/two"] as [RequestPath] {
            #expect(await other.provider.result(CachedTarget(.get, path).with(.onlyCached)).failure == nil, "\(path)")
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.url.path)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
    }

    @Test("A folder that was deleted, and that another process has created again, is shared again")
    func replacedFolder() async throws {
        let folder = try TemporaryFolderOfCache()
        let world = CacheWorld(storedIn: folder.url)
        _ = try await world.provider.request(CachedTarget())
        _ = await world.cache.size
        await world.cache.waitForWrites()
        try FileManager.default.removeItem(at: folder.url)
        let other = CacheWorld(storedIn: folder.url)
        _ = try await other.provider.request(CachedTarget(.get, "/other"))
        await other.cache.waitForWrites()
        for path in ["/one", "/two"] as [RequestPath] {
            _ = try await world.provider.request(CachedTarget(.get, path))
            await world.cache.waitForWrites()
        }
        let third = CacheWorld(storedIn: folder.url)
        for path in ["/other", "/two"] as [RequestPath] {
            #expect(await third.provider.result(CachedTarget(.get, path).with(.onlyCached)).failure == nil, "\(path)")
        }
    }
}
