// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitOffline
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Several processes with one folder. `TARGETKIT_CACHE_FOLDER` makes this program one of them.
///
/// `TARGETKIT_CACHE_KILLS` sets how many processes are killed, and `TARGETKIT_CACHE_SECONDS` how long two processes
/// run.
@Suite("Cache: processes", .throttled, .serialized, .timeLimit(.minutes(15)))
struct CacheProcessTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path
    private static let urls = 40

    private static func number(_ name: String, default standard: Int) -> Int {
        environment[name].flatMap { Int($0) } ?? standard
    }

    private static func words(_ folder: TemporaryFolderOfCache, seed: UInt64, rounds: Int) -> [String] {
        [
            "TARGETKIT_CACHE_FOLDER=\(folder.url.path)", "TARGETKIT_CACHE_SEED=\(seed)",
            "TARGETKIT_CACHE_ROUNDS=\(rounds)",
            program, "--testing-library", "swift-testing", "--filter", "CacheProcessTests.process",
        ]
    }

    /// A body that tells to which URL it belongs, and whether it is whole.
    private static func body(_ path: String, _ version: Int) -> String {
        let line = "\(path) \(version)\n"
        return String(repeating: line, count: 1 + version % 700)
    }

    private static func isWhole(_ body: String, _ path: String) -> Bool {
        let lines = body.split(separator: "\n")
        guard let first = lines.first, first.hasPrefix("\(path) "), let version = Int(first.dropFirst(path.count + 1))
        else {
            return false
        }
        return body == Self.body(path, version)
    }

    private static func world(_ folder: URL, seed: UInt64) -> CacheWorld {
        let version = Locked(Int(seed) * 7919)
        return CacheWorld(storedIn: folder, memoryLimit: 0, diskLimit: 4 << 20) { request in
            let number = version.withLock { version in
                version += 1
                return version
            }
            return .cacheable(body(request.url?.path() ?? "", number), number % 3 == 0 ? ["Vary": "Accept"] : [:])
        }
    }

    @Test("The process", .enabled(if: environment["TARGETKIT_CACHE_FOLDER"] != nil))
    func process() async throws {
        let folder = URL(filePath: try #require(Self.environment["TARGETKIT_CACHE_FOLDER"]))
        let seed = UInt64(Self.number("TARGETKIT_CACHE_SEED", default: 1))
        let world = Self.world(folder, seed: seed)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<Self.number("TARGETKIT_CACHE_ROUNDS", default: 1) {
            let target = CachedTarget(.get, "/\(Int.random(in: 0..<Self.urls, using: &random))")
            let policies: [CachePolicy] = [.reload, .reload, .cachedElseLoad, .useProtocol]
            let policy = policies.randomElement(using: &random) ?? .reload
            if Int.random(in: 0..<50, using: &random) == 0 {
                _ = try await world.provider.request(CachedTarget(.delete, target.path))
            }
            let response = try await world.provider.request(target.with(policy))
            try #require(Self.isWhole(response.body, response.request?.url?.path() ?? ""))
        }
        await world.cache.waitForWrites()
    }

    /// Reads every response, and checks that each is whole and nothing else is there.
    private static func check(_ folder: TemporaryFolderOfCache) async throws -> Int {
        let world = Self.world(folder.url, seed: 0)
        var found = 0
        for number in 0..<urls {
            let result = await world.provider.result(CachedTarget(.get, "/\(number)").with(.onlyCached))
            guard case .success(let response) = result else { continue }
            found += 1
            #expect(isWhole(response.body, response.request?.url?.path() ?? ""))
        }
        // The files are counted after the leftovers have been removed.
        _ = await world.cache.size
        #expect(folder.parts.isEmpty)
        return found
    }

    @Test("Processes that are killed at random moments leave only whole responses, and nothing that stays")
    func killed() async throws {
        let folder = try TemporaryFolderOfCache()
        var random = SeededGenerator(seed: 12)
        var (found, left) = (0, 0)
        for number in 0..<Self.number("TARGETKIT_CACHE_KILLS", default: 6) {
            let words = Self.words(folder, seed: UInt64(number + 1), rounds: 1_000_000)
            let child = try ChildProcess("/usr/bin/env", words)
            let before = Self.modification(of: folder)
            // Until it writes, and then a random time: the moment is to differ.
            while Self.modification(of: folder) == before {
                try Task.checkCancellation()
                try await Task.sleep(for: .milliseconds(2))
            }
            try await Task.sleep(for: .microseconds(Int.random(in: 0...20_000, using: &random)))
            kill(child.id, SIGKILL)
            #expect(child.wait() == 128 + SIGKILL)
            left += folder.parts.count
            found = try await Self.check(folder)
        }
        #expect(found > 0)
        print("temporary files left behind by killed processes, and removed: \(left)")
    }

    private static func modification(of folder: TemporaryFolderOfCache) -> Date? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: folder.url.appending(path: "parts").path)
        return attributes?[.modificationDate] as? Date
    }

    @Test("Two processes and this one use one folder at the same time")
    func several() async throws {
        let folder = try TemporaryFolderOfCache()
        let seconds = Self.number("TARGETKIT_CACHE_SECONDS", default: 2)
        let end = ContinuousClock.now + .seconds(seconds)
        var seed: UInt64 = 1
        while ContinuousClock.now < end {
            try Task.checkCancellation()
            let words = [seed, seed + 1].map { Self.words(folder, seed: $0, rounds: 300) }
            async let one = ChildProcess.finished("/usr/bin/env", words[0])
            async let two = ChildProcess.finished("/usr/bin/env", words[1])
            let world = Self.world(folder.url, seed: seed + 2)
            for number in 0..<200 {
                let policy: CachePolicy = number % 2 == 0 ? .reload : .cachedElseLoad
                let target = CachedTarget(.get, "/\(number % Self.urls)").with(policy)
                let response = try await world.provider.request(target)
                #expect(Self.isWhole(response.body, response.request?.url?.path() ?? ""))
            }
            for (status, output, _) in try await [one, two] {
                #expect(status == 0, "\(String(decoding: output.suffix(2000), as: UTF8.self))")
            }
            seed += 3
        }
        #expect(try await Self.check(folder) == Self.urls)
    }

    @Test("A full disk is an event, the calls succeed, and responses are stored when there is room again")
    func full() async throws {
        let parent = try TemporaryFolder()
        guard geteuid() == 0, mount("tmpfs", parent.url.path, "tmpfs", 0, "size=1m") == 0 else {
            print("skipped: only the superuser can mount a small file system")
            return
        }
        defer { umount2(parent.url.path, Int32(MNT_DETACH)) }
        let world = CacheWorld(storedIn: parent.url.appending(path: "cache"), memoryLimit: 0) { _ in
            .cacheable(String(repeating: "x", count: 100_000))
        }
        _ = try await world.provider.request(CachedTarget())
        await world.cache.waitForWrites()
        let filler = parent.url.appending(path: "filler")
        try Data().write(to: filler)
        let handle = try FileHandle(forWritingTo: filler)
        while (try? handle.write(contentsOf: Data(count: 4096))) != nil { try Task.checkCancellation() }
        try handle.close()
        let events = world.cache.events
        #expect(try await world.provider.request(CachedTarget(.get, "/other")).data.count == 100_000)
        for await event in events {
            guard case .failed(let message) = event else { continue }
            #expect(message.contains("No space left on device"))
            break
        }
        #expect(try await world.provider.request(CachedTarget()).origin == .cache(age: .zero))
        try FileManager.default.removeItem(at: filler)
        _ = try await world.provider.request(CachedTarget(.get, "/other"))
        await world.cache.waitForWrites()
        #expect(try await world.provider.request(CachedTarget(.get, "/other")).origin == .cache(age: .zero))
    }
}
#endif
