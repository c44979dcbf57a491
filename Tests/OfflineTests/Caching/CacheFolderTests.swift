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

/// A folder that a cache creates.
final class TemporaryFolderOfCache: Sendable {
    private let parent: TemporaryFolder
    let url: URL

    init() throws {
        parent = try TemporaryFolder()
        url = parent.url.appending(path: "cache")
    }

    /// The files and folders in the cache's folder, with those within.
    var files: [URL] {
        let names = FileManager.default.enumerator(atPath: url.path)?.compactMap { $0 as? String } ?? []
        return names.map { url.appending(path: $0) }
    }

    /// The files of responses.
    var entries: [URL] { files.filter { $0.lastPathComponent.utf8.count == 103 } }

    var parts: [URL] { files.filter { $0.pathExtension == "part" } }
}

@Suite("Cache: the folder", .throttled, .timeLimit(.minutes(3)))
struct CacheFolderTests {
    /// A cache without memory, so that each response is read from the folder.
    private static func world(_ folder: TemporaryFolderOfCache, diskLimit: Int = 1 << 20) -> CacheWorld {
        CacheWorld(storedIn: folder.url, memoryLimit: 0, diskLimit: diskLimit)
    }

    @Test("Another cache with the same folder finds the response, with all of its fields")
    func reopened() async throws {
        let folder = try TemporaryFolderOfCache()
        let one = CacheWorld(storedIn: folder.url) { _ in
            .response(
                status: 203,
                headers: ["Cache-Control": "max-age=60", "X-A": "ä", "x-a": "2"],
                data: Data([0, 255, 10])
            )
        }
        let first = try await one.provider.request(CachedTarget())
        await one.cache.waitForWrites()
        let other = CacheWorld(storedIn: folder.url)
        other.pass(10)
        let response = try await other.provider.request(CachedTarget())
        #expect(response.origin == .cache(age: .seconds(10)))
        #expect(response.statusCode == 203)
        #expect(response.data == first.data)
        #expect(response.headers.values(for: "X-A") == ["ä", "2"])
        #expect(other.requests.count == 0)
    }

    @Test("Nobody else can read the folder and its files, even if the folder was open before")
    func permissions() async throws {
        let folder = try TemporaryFolderOfCache()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        chmod(folder.url.path, 0o755)
        let world = Self.world(folder)
        _ = try await world.provider.request(CachedTarget())
        await world.cache.waitForWrites()
        for file in folder.files + [folder.url] {
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            let mode = try #require(attributes[.posixPermissions] as? Int)
            #expect(mode & 0o077 == 0, "\(file.path) \(mode)")
        }
    }

    @Test("A damaged file counts as missing and is removed", arguments: 0..<6)
    func damaged(_ way: Int) async throws {
        let folder = try TemporaryFolderOfCache()
        let world = Self.world(folder)
        _ = try await world.provider.request(CachedTarget())
        await world.cache.waitForWrites()
        let file = try #require(folder.entries.first)
        var data = try Data(contentsOf: file)
        switch way {
        case 0: data = Data()
        case 1: data.removeLast()
        case 2: data[data.count - 1] ^= 1
        case 3: data[20] ^= 0x80
        case 4: data = Data(data.prefix(12)) + Data(repeating: 0xFF, count: 40)
        default: data.append(0)
        }
        try data.write(to: file)
        world.answer { _ in .cacheable("second") }
        let response = try await world.provider.request(CachedTarget())
        #expect(response.body == "second")
        await world.cache.waitForWrites()
        #expect(try await world.provider.request(CachedTarget()).origin == .cache(age: .zero))
    }

    @Test("Each single changed bit of a file is noticed")
    func bits() async throws {
        let folder = try TemporaryFolderOfCache()
        let world = Self.world(folder)
        _ = try await world.provider.request(CachedTarget())
        await world.cache.waitForWrites()
        let file = try #require(folder.entries.first)
        let data = try Data(contentsOf: file)
        for position in data.indices {
            var changed = data
            changed[position] ^= 1 << UInt8(position % 8)
            try changed.write(to: file)
            let result = await world.provider.result(CachedTarget().with(.onlyCached))
            #expect(result.failure != nil, "byte \(position)")
        }
        try data.write(to: file)
        #expect(try await world.provider.request(CachedTarget().with(.onlyCached)).body == "first")
    }

    @Test(
        "A link, a pipe or a folder in the place of a file counts as missing and is replaced",
        arguments: ["link", "pipe", "folder"]
    )
    func foreign(_ kind: String) async throws {
        let folder = try TemporaryFolderOfCache()
        let world = Self.world(folder)
        _ = try await world.provider.request(CachedTarget())
        await world.cache.waitForWrites()
        let file = try #require(folder.entries.first)
        let other = folder.url.deletingLastPathComponent().appending(path: "other")
        try FileManager.default.moveItem(at: file, to: other)
        switch kind {
        case "link": symlink(other.path, file.path)
        case "pipe": mkfifo(file.path, 0o600)
        default: mkdir(file.path, 0o700)
        }
        #expect(try await world.provider.request(CachedTarget()).origin == .network)
        await world.cache.waitForWrites()
        #expect(try await world.provider.request(CachedTarget()).origin == .cache(age: .zero))
        // What the link names is untouched.
        #expect(FileManager.default.fileExists(atPath: other.path))
    }

    @Test("A link to a folder of somebody else's files in the place of a folder is not followed by removals")
    func linkedFolder() async throws {
        let folder = try TemporaryFolderOfCache()
        let world = Self.world(folder)
        _ = try await world.provider.request(CachedTarget())
        await world.cache.waitForWrites()
        let file = try #require(folder.entries.first)
        let other = folder.url.deletingLastPathComponent().appending(path: "other")
        try FileManager.default.moveItem(at: file.deletingLastPathComponent(), to: other)
        symlink(other.path, file.deletingLastPathComponent().path)
        await world.cache.removeAll()
        #expect(FileManager.default.fileExists(atPath: other.appending(path: file.lastPathComponent).path))
    }

    @Test("A damaged salt is replaced, and the responses that cannot be found any more are removed")
    func salt() async throws {
        let folder = try TemporaryFolderOfCache()
        let world = Self.world(folder)
        _ = try await world.provider.request(CachedTarget())
        await world.cache.waitForWrites()
        try Data("short".utf8).write(to: folder.url.appending(path: "salt"))
        let other = Self.world(folder)
        #expect(try await other.provider.request(CachedTarget()).origin == .network)
        await other.cache.waitForWrites()
        #expect(folder.entries.count == 1)
    }

    @Test("A folder that cannot be used is an event, and the cache works in memory")
    func unusable() async throws {
        let parent = try TemporaryFolder()
        let file = try parent.file("file")
        let world = CacheWorld(storedIn: file)
        let events = world.cache.events
        _ = try await world.provider.request(CachedTarget())
        #expect(try await world.provider.request(CachedTarget()).origin == .cache(age: .zero))
        for await event in events {
            if case .failed = event { break }
        }
    }

    @Test("The least recently used responses are removed when the folder exceeds its limit")
    func limit() async throws {
        let folder = try TemporaryFolderOfCache()
        let world = Self.world(folder, diskLimit: 64 << 10)
        world.answer { request in .cacheable(String(repeating: "x", count: 4000), ["X": request.url?.path() ?? ""]) }
        for number in 0..<100 {
            _ = try await world.provider.request(CachedTarget(.get, "/list/\(number)"))
        }
        await world.cache.waitForWrites()
        // Counting the files is the last thing that its queue does.
        #expect(await world.cache.size.disk <= 64 << 10)
        #expect(await world.provider.result(CachedTarget(.get, "/list/99").with(.onlyCached)).failure == nil)
        #expect(await world.provider.result(CachedTarget(.get, "/list/0").with(.onlyCached)).failure != nil)
        #expect(folder.parts.isEmpty)
    }

    @Test("The least recently used responses are removed when the memory exceeds its limit")
    func memoryLimit() async throws {
        let world = CacheWorld(memoryLimit: 64 << 10)
        world.answer { _ in .cacheable(String(repeating: "x", count: 4000)) }
        for number in 0..<100 {
            _ = try await world.provider.request(CachedTarget(.get, "/list/\(number)"))
            _ = try await world.provider.request(CachedTarget(.get, "/list/0"))
            #expect(await world.cache.size.memory <= 64 << 10)
        }
        #expect(world.requests.count == 100)
        #expect(await world.provider.result(CachedTarget(.get, "/list/1").with(.onlyCached)).failure != nil)
    }

    @Test("A response of more than a quarter of the limits is not stored, and replaces the older one")
    func large() async throws {
        let folder = try TemporaryFolderOfCache()
        let world = CacheWorld(storedIn: folder.url, memoryLimit: 64 << 10, diskLimit: 64 << 10)
        _ = try await world.provider.request(CachedTarget())
        world.answer { _ in .cacheable(String(repeating: "x", count: 17 << 10)) }
        _ = try await world.provider.request(CachedTarget().with(.reload))
        #expect(await world.provider.result(CachedTarget().with(.onlyCached)).failure != nil)
    }

    @Test("A URL and user keep at most 16 variants")
    func variants() async throws {
        let folder = try TemporaryFolderOfCache()
        let world = CacheWorld(storedIn: folder.url) { _ in .cacheable("first", ["Vary": "Accept"]) }
        for number in 0..<50 {
            _ = try await world.provider.request(CachedTarget(.get, "/list", ["Accept": "a/\(number)"]))
        }
        await world.cache.waitForWrites()
        #expect(folder.entries.count == 16)
        #expect(
            try await world.provider.request(CachedTarget(.get, "/list", ["Accept": "a/49"])).origin
                == .cache(age: .zero)
        )
    }

    @Test("A response that differs in other fields than the one before takes its place, also on the disk")
    func otherVariant() async throws {
        let folder = try TemporaryFolderOfCache()
        let world = CacheWorld(storedIn: folder.url, memoryLimit: 0) { _ in .cacheable("first", ["Vary": "Accept"]) }
        _ = try await world.provider.request(CachedTarget())
        world.pass(70)
        world.answer { _ in .cacheable("second", ["ETag": "\"2\""]) }
        _ = try await world.provider.request(CachedTarget())
        let response = try await world.provider.request(CachedTarget())
        #expect(response.origin == .cache(age: .zero))
        #expect(response.body == "second")
    }

    @Test("A response that was read from the disk does not replace one that has arrived meanwhile")
    func lateRead() {
        let memory = MemoryCache(limit: 1 << 20)
        let responses = [0.0, 1].map { time in
            CachedResponse(
                key: CacheKey(url: "https://shop.example/", user: nil),
                variant: .only,
                statusCode: 200,
                httpVersion: "1.1",
                headers: [:],
                body: Data(),
                requestTime: Date(timeIntervalSince1970: time),
                responseTime: Date(timeIntervalSince1970: time),
                usesHeuristics: false
            )
        }
        memory.store(responses[1])
        memory.store(responses[0], isFromDisk: true)
        #expect(memory.response(for: responses[0].key) { _ in true } === responses[1])
        memory.store(responses[0])
        memory.store(responses[1], isFromDisk: true)
        #expect(memory.response(for: responses[0].key) { _ in true } === responses[1])
    }

    @Test("The events tell what the cache has done")
    func events() async throws {
        let world = CacheWorld()
        let events = world.cache.events
        _ = try await world.provider.request(CachedTarget())
        _ = try await world.provider.request(CachedTarget())
        world.pass(70)
        world.answer { _ in .status(304) }
        _ = try await world.provider.request(CachedTarget())
        await world.cache.removeAll()
        var texts: [String] = []
        for await event in events {
            texts.append("\(event)".replacing(" https://shop.example/api/list", with: ""))
            if texts.count == 6 { break }
        }
        #expect(texts == ["miss", "stored", "hit (cache, 0 s old)", "stored", "revalidated", "removed 1"])
    }
}
