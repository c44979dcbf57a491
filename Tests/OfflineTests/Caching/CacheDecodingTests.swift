// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitJSON
import TargetKitPlugins
import TargetKitOffline
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Cache: bodies that cannot be decoded", .throttled, .timeLimit(.minutes(2)))
struct CacheDecodingTests {
    private typealias Value = [String: Int]

    @Test(
        "A cached response whose body cannot be decoded is removed, so that the next call loads it",
        arguments: CachePlace.allCases,
        [true, false]
    )
    func dropped(_ place: CachePlace, isShared: Bool) async throws {
        let folder = try TemporaryFolderOfCache()
        let world = place.world(folder)
        world.answer { _ in .cacheable(#"{"a":"#) }
        var target = CachedTarget()
        target.options = .setting(\.sharesInFlight, isShared)
        _ = try await world.provider.request(target)
        await world.cache.waitForWrites()
        let error = await #expect(throws: TargetKitError.self) {
            try await world.provider.request(target, as: Value.self)
        }
        #expect(error?.stage == .decoding)
        #expect(error?.response?.origin == .cache(age: .zero))
        await world.cache.waitForWrites()
        world.answer { _ in .cacheable(#"{"a":1}"#) }
        for _ in 0..<2 { #expect(try await world.provider.request(target, as: Value.self) == ["a": 1]) }
        #expect(world.requests.count == 2)
    }

    @Test("A response that was stored by the call that cannot decode it is removed", arguments: CachePlace.allCases)
    func droppedAfterLoading(_ place: CachePlace) async throws {
        let folder = try TemporaryFolderOfCache()
        let world = place.world(folder)
        world.answer { _ in .cacheable(#"{"a":"#) }
        await #expect(throws: TargetKitError.self) {
            try await world.provider.request(CachedTarget(), as: Value.self)
        }
        await world.cache.waitForWrites()
        world.answer { _ in .cacheable(#"{"a":1}"#) }
        #expect(try await world.provider.request(CachedTarget(), as: Value.self) == ["a": 1])
    }

    @Test(
        "A response that a captive portal's page has replaced is used again",
        arguments: CachePlace.allCases,
        [CachePolicy.useProtocol, .staleOnFailure, .reload]
    )
    func captivePortal(_ place: CachePlace, policy: CachePolicy) async throws {
        let folder = try TemporaryFolderOfCache()
        let world = place.world(folder)
        world.answer { _ in .cacheable(#"{"a":1}"#) }
        _ = try await world.provider.request(CachedTarget())
        world.pass(70)
        world.answer { _ in .response(status: 200, headers: ["Content-Type": "text/html"], data: Data("<p>".utf8)) }
        for _ in 0..<2 {
            await #expect(throws: TargetKitError.self) {
                try await world.provider.request(CachedTarget().with(policy), as: Value.self)
            }
            await world.cache.waitForWrites()
        }
        world.answer { _ in .error(.notConnectedToInternet) }
        let stale = try await world.provider.request(CachedTarget().with(.staleOnFailure))
        #expect(try stale.decode(Value.self) == ["a": 1])
        #expect(stale.origin == .stale(age: .seconds(70)))
    }

    @Test("A call that is repeated behind a captive portal does not forget what the page has replaced")
    func repeatedBehindPortal() async throws {
        let repeating = ErrorHandlingPlugin { error, context in
            error.stage == .decoding && context.attempt == 0 ? .retry(after: .zero) : .doNotRetry
        }
        let world = CacheWorld(plugins: [repeating]) { _ in .cacheable(#"{"a":1}"#) }
        _ = try await world.provider.request(CachedTarget())
        world.pass(70)
        world.answer { _ in .cacheable("<p>") }
        await #expect(throws: TargetKitError.self) { try await world.provider.request(CachedTarget(), as: Value.self) }
        world.answer { _ in .error(.notConnectedToInternet) }
        let target = CachedTarget().with(.staleOnFailure)
        #expect(try await world.provider.request(target, as: Value.self) == ["a": 1])
    }

    @Test("A captive portal's page doesn't replace a response in the background, and the next call asks the server")
    func portalInBackground() async throws {
        let scope = RequestScope()
        let world = CacheWorld(scope: scope) { _ in
            .cacheable(#"{"a":1}"#, ["Cache-Control": "max-age=60, stale-while-revalidate=600"])
        }
        _ = try await world.provider.request(CachedTarget())
        world.pass(70)
        world.answer { _ in .response(status: 200, headers: ["Content-Type": "text/html"], data: Data("<p>".utf8)) }
        #expect(try await world.provider.request(CachedTarget(), as: Value.self) == ["a": 1])
        await scope.shutdown(grace: .seconds(60))
        scope.reopen()
        for _ in 0..<2 {
            await #expect(throws: TargetKitError.self) {
                try await world.provider.request(CachedTarget(), as: Value.self)
            }
        }
        #expect(world.requests.count == 4)
        // Without a network, the server still allows the stored response.
        world.answer { _ in .error(.notConnectedToInternet) }
        #expect(try await world.provider.request(CachedTarget(), as: Value.self) == ["a": 1])
        world.answer { _ in .cacheable(#"{"a":2}"#) }
        #expect(try await world.provider.request(CachedTarget(), as: Value.self) == ["a": 2])
    }

    @Test(
        "A representation with another media type is taken at the second call, also after a 304 with another type",
        arguments: [true, false]
    )
    func otherMediaType(isAfterNotModified: Bool) async throws {
        let scope = RequestScope()
        let lifetime: HTTPHeaders = ["Cache-Control": "max-age=60, stale-while-revalidate=600000"]
        let world = CacheWorld(scope: scope) { _ in
            .cacheable("first", lifetime.merging(["Content-Type": "text/plain"]))
        }
        _ = try await world.provider.request(CachedTarget())
        if isAfterNotModified {
            world.pass(70)
            world.answer { _ in
                let fields: HTTPHeaders = ["ETag": "\"1\"", "Content-Type": "application/json"]
                return .response(status: 304, headers: lifetime.merging(fields), data: Data())
            }
            _ = try await world.provider.request(CachedTarget())
            await scope.shutdown(grace: .seconds(60))
            scope.reopen()
        }
        world.pass(70)
        let type = isAfterNotModified ? "text/plain" : "text/html"
        world.answer { _ in .cacheable("second", lifetime.merging(["Content-Type": type])) }
        #expect(try await world.provider.request(CachedTarget()).body == "first")
        await scope.shutdown(grace: .seconds(60))
        scope.reopen()
        #expect(try await world.provider.request(CachedTarget()).body == "second")
        #expect(try await world.provider.request(CachedTarget()).origin == .cache(age: .zero))
    }

    @Test("A stale response whose body cannot be decoded is removed when it is used after a failure")
    func droppedFallback() async throws {
        let world = CacheWorld { _ in .cacheable(#"{"a":"#) }
        _ = try await world.provider.request(CachedTarget())
        world.pass(70)
        world.answer { _ in .error(.notConnectedToInternet) }
        let target = CachedTarget().with(.staleOnFailure)
        await #expect(throws: TargetKitError.self) { try await world.provider.request(target, as: Value.self) }
        #expect(await world.provider.result(CachedTarget().with(.onlyCached)).failure != nil)
    }

    @Test("A more recent response is not removed with one whose body cannot be decoded")
    func newerStays() async throws {
        let gate = Gate()
        let world = CacheWorld { request in
            if request.value(forHTTPHeaderField: "X-Late") == nil { return .cacheable(#"{"a":1}"#) }
            await gate.wait()
            return .cacheable(#"{"a":"#)
        }
        let late = CachedTarget(.get, "/list", ["X-Late": "1"]).with(.reload)
        let call = Task { try await world.provider.request(late, as: Value.self) }
        await gate.waitForArrivals()
        world.pass(1)
        _ = try await world.provider.request(CachedTarget())
        gate.open()
        await #expect(throws: TargetKitError.self) { try await call.value }
        #expect(try await world.provider.request(CachedTarget(), as: Value.self) == ["a": 1])
        #expect(world.requests.count == 2)
    }

    @Test("A response with an error code in its envelope isn't stored")
    func envelope() async throws {
        let world = CacheWorld { _ in .cacheable(#"{"code":7,"message":"no","data":null}"#) }
        var target = CachedTarget()
        target.options = .setting(\.envelope, CodeMessageData())
        for _ in 0..<2 {
            await #expect(throws: TargetKitError.self) { try await world.provider.request(target, as: Value.self) }
        }
        #expect(world.requests.count == 2)
    }
}
