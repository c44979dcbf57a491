// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TargetKitOffline
import TargetKitTesting
import TestSupport
import Testing

/// The cache in front of nginx.
@Suite("nginx: cached responses", .throttled, .needs(.nginx), .timeLimit(.minutes(3)))
struct CacheTests {
    private static func provider(_ engine: Engine, _ cache: ResponseCache) -> Provider<ServerCall> {
        Provider(transport: engine.transport, plugins: [ResponseCachePlugin(cache)])
    }

    @Test("expires: a file is fresh for an hour, and Vary keeps languages apart", arguments: Engine.allCases)
    func expires(engine: Engine) async throws {
        let file = NginxFile(Data("tea".utf8))
        try await file.put()
        let provider = Self.provider(engine, ResponseCache())
        let german = ServerCall.nginx(.get, "/fresh/\(file.name)").with { $0.headers = ["X-Language": "de"] }
        let english = german.with { $0.headers = ["X-Language": "en"] }
        let first = try await provider.request(german)
        #expect(first.origin == .network)
        #expect(first.headers[.cacheControl]?.contains("max-age=3600") == true)
        try await file.remove()
        for _ in 0..<3 {
            let response = try await provider.request(german)
            guard case .cache(let age) = response.origin else {
                Issue.record("from \(response.origin)")
                return
            }
            #expect(age < .seconds(60))
            #expect(response.data == first.data)
        }
        #expect(try await provider.request(english).statusCode == 404)
    }

    @Test("etag: a stale file is validated, and loaded again when it has changed", arguments: Engine.allCases)
    func etag(engine: Engine) async throws {
        let file = NginxFile(Data(String(repeating: "tea ", count: 1000).utf8))
        try await file.put()
        let folder = try TemporaryFolder()
        let cache = ResponseCache(storedIn: folder.url.appending(path: "cache"), memoryLimit: 0)
        let provider = Self.provider(engine, cache)
        for path: RequestPath in ["/stale/\(file.name)", "/files/\(file.name)"] {
            let call = ServerCall.nginx(.get, path)
            let first = try await provider.request(call)
            #expect(first.origin == .network)
            #expect(first.data == file.bytes)
            for _ in 0..<2 {
                let second = try await provider.request(call)
                #expect(second.origin == .revalidated)
                #expect(second.statusCode == 200)
                #expect(second.data == file.bytes)
                #expect(second.headers[.contentType] == first.headers[.contentType])
            }
        }
        // Another size is another ETag, even within the same second.
        let url = ServerCall.nginx(.put, "/files/\(file.name)", .data(Data("coffee".utf8)))
        _ = try await provider.request(url)
        let changed = try await provider.request(.nginx(.get, "/stale/\(file.name)"))
        #expect(changed.origin == .network)
        #expect(changed.data == Data("coffee".utf8))
        // The PUT has removed the response of its own URL.
        let own = try await provider.request(
            .nginx(.get, "/files/\(file.name)").with { $0.options.cachePolicy = .cachedElseLoad }
        )
        #expect(own.origin == .network)
        try await file.remove()
    }

    @Test(
        "gzip: the stored body is the decoded one, for any encoding that the server chooses",
        arguments: Engine.allCases
    )
    func gzip(engine: Engine) async throws {
        let file = NginxFile(Data(String(repeating: "tea ", count: 5000).utf8))
        try await file.put()
        let provider = Self.provider(engine, ResponseCache())
        let call = ServerCall.nginx(.get, "/stale/\(file.name)")
        let first = try await provider.request(call)
        #expect(first.data == file.bytes)
        let second = try await provider.request(call)
        #expect(second.origin == .revalidated)
        #expect(second.data == file.bytes)
        let old = try await provider.request(call.with { $0.options.cachePolicy = .onlyCached })
        #expect(old.data == file.bytes)
        #expect(old.headers["Vary"] == "Accept-Encoding")
        try await file.remove()
    }

    @Test("A HEAD request confirms a stored file, and a range is not taken from the cache", arguments: Engine.allCases)
    func headAndRange(engine: Engine) async throws {
        let file = NginxFile(Data("0123456789".utf8))
        try await file.put()
        let provider = Self.provider(engine, ResponseCache())
        let call = ServerCall.nginx(.get, "/files/\(file.name)")
        _ = try await provider.request(call)
        let head = try await provider.request(call.with { $0.method = .head })
        #expect(head.origin == .revalidated)
        #expect(head.data.isEmpty)
        let range = try await provider.request(call.with { $0.headers = ["Range": "bytes=2-4"] })
        #expect(range.statusCode == 206)
        #expect(range.origin == .network)
        #expect(range.data == Data("234".utf8))
        #expect(try await provider.request(call).data == file.bytes)
        try await file.remove()
    }
}
