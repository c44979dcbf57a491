// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Cache: validation and invalidation", .throttled, .timeLimit(.minutes(2)))
struct CacheValidationTests {
    @Test("§3.2: a 304 replaces the stored fields except those of the content, and refreshes the response")
    func merging() async throws {
        let world = CacheWorld { _ in
            .cacheable(
                "first",
                ["X-Old": "1", "X-Kept": "1", "Content-Length": "5", "Content-Type": "text/plain", "Age": "9"]
            )
        }
        _ = try await world.provider.request(CachedTarget())
        world.pass(70)
        world.answer { _ in
            let fields: HTTPHeaders = [
                "ETag": "\"1\"", "Cache-Control": "max-age=100", "X-Old": "2", "Content-Length": "0",
                "Connection": "X-Hop",
                "X-Hop": "1", "Set-Cookie": "a=b",
            ]
            return .response(status: 304, headers: fields, data: Data())
        }
        let response = try await world.provider.request(CachedTarget())
        #expect(response.origin == .revalidated)
        #expect(response.statusCode == 200)
        #expect(response.body == "first")
        #expect(response.headers["X-Old"] == "2")
        #expect(response.headers["X-Kept"] == "1")
        #expect(response.headers["Content-Length"] == "5")
        #expect(response.headers["X-Hop"] == nil)
        #expect(response.headers["Set-Cookie"] == "a=b")
        #expect(response.headers["Age"] == nil)
        world.pass(99)
        let cached = try await world.provider.request(CachedTarget())
        #expect(cached.origin == .cache(age: .seconds(99)))
        #expect(cached.headers["Set-Cookie"] == nil)
        #expect(world.requests.count == 2)
    }

    @Test(
        "§3.2: a 304 changes the media type, but not the charset of the stored body",
        arguments: [
            ("text/plain; charset=iso-8859-1", "text/html; charset=utf-8", "text/html; charset=iso-8859-1"),
            ("text/plain; charset=iso-8859-1", "text/html", "text/html; charset=iso-8859-1"),
            ("text/plain; Charset=\"iso-8859-1\"; a=1", "text/html;b=\"; charset=utf-8\"", nil),
            ("text/plain", "text/html; charset=utf-8; a=1", "text/html; a=1"),
        ]
    )
    func charset(_ stored: String, _ update: String, _ merged: String?) async throws {
        let body = Data([0x63, 0x61, 0x66, 0xE9])
        let world = CacheWorld { _ in
            .response(
                status: 200,
                headers: ["Cache-Control": "max-age=60", "ETag": "\"1\"", "Content-Type": stored],
                data: body
            )
        }
        _ = try await world.provider.request(CachedTarget())
        world.pass(70)
        world.answer { _ in
            let fields: HTTPHeaders = ["ETag": "\"1\"", "Cache-Control": "max-age=60", "Content-Type": update]
            return .response(status: 304, headers: fields, data: Data())
        }
        for origin in [Response.Origin.revalidated, .cache(age: .zero)] {
            let response = try await world.provider.request(CachedTarget())
            #expect(response.origin == origin)
            #expect(try response.string() == "café")
            if let merged { #expect(response.headers["Content-Type"] == merged) }
            #expect(response.headers["Content-Type"]?.hasPrefix("text/html") == true)
        }
    }

    @Test("§4.3.1: the condition has the stored ETag and Last-Modified")
    func condition() async throws {
        let modified = CacheWorld.text("{-60}")
        let world = CacheWorld { _ in .cacheable("first", ["Cache-Control": "no-cache", "Last-Modified": modified]) }
        _ = try await world.provider.request(CachedTarget())
        let response = try await world.provider.request(CachedTarget())
        #expect(world.requests.elements[1].value(forHTTPHeaderField: "If-None-Match") == "\"1\"")
        #expect(world.requests.elements[1].value(forHTTPHeaderField: "If-Modified-Since") == modified)
        // The caller does not see the condition.
        #expect(response.request?.value(forHTTPHeaderField: "If-None-Match") == nil)
    }

    @Test("§4.3.4: a 304 with another ETag is not about the stored response, which is loaded again")
    func otherTag() async throws {
        let world = CacheWorld { _ in .cacheable("first", ["Cache-Control": "no-cache"]) }
        _ = try await world.provider.request(CachedTarget())
        world.answer { request in
            request.value(forHTTPHeaderField: "If-None-Match") == nil
                ? .cacheable("second") : .response(status: 304, headers: ["ETag": "\"2\""], data: Data())
        }
        let response = try await world.provider.request(CachedTarget())
        #expect(response.body == "second")
        #expect(response.origin == .network)
        #expect(world.requests.count == 3)
    }

    @Test(
        "§4.3.4: a 304 without validators is about the response of the request's own condition",
        arguments: [("\"1\"", true), ("\"9\"", false)]
    )
    func ownCondition(_ tag: String, isAboutStored: Bool) async throws {
        let world = CacheWorld()
        _ = try await world.provider.request(CachedTarget())
        world.pass(70)
        world.answer { _ in .response(status: 304, headers: ["Cache-Control": "max-age=60"], data: Data()) }
        let response = try await world.provider.request(CachedTarget(.get, "/list", ["If-None-Match": tag]))
        #expect(response.statusCode == 304)
        let origin = try await world.provider.request(CachedTarget().with(.onlyCached)).origin
        #expect(origin == (isAboutStored ? .cache(age: .zero) : .stale(age: .seconds(70))))
    }

    @Test("§4.3.1: a validation in the background has the condition of the stored response, not that of the request")
    func ownConditionInBackground() async throws {
        let world = CacheWorld { _ in
            .cacheable("first", ["Cache-Control": "max-age=60, stale-while-revalidate=600"])
        }
        _ = try await world.provider.request(CachedTarget())
        world.pass(70)
        let fields: HTTPHeaders = ["If-None-Match": "\"9\"", "If-Modified-Since": CacheWorld.text("{-60}")]
        _ = try await world.provider.request(CachedTarget(.get, "/list", fields))
        let request = try await world.requests.element(1)
        #expect(request.value(forHTTPHeaderField: "If-None-Match") == "\"1\"")
        #expect(request.value(forHTTPHeaderField: "If-Modified-Since") == nil)
    }

    @Test("§4.3.3: a response that may not be stored removes the one that it replaces, also if that was not asked for")
    func reloaded() async throws {
        let world = CacheWorld()
        _ = try await world.provider.request(CachedTarget())
        world.answer { _ in .cacheable("second", ["Cache-Control": "no-store"]) }
        _ = try await world.provider.request(CachedTarget().with(.reload))
        #expect(await world.provider.result(CachedTarget().with(.onlyCached)).failure != nil)
    }

    @Test(
        "§4: equivalent URLs have one response, and others do not",
        arguments: [
            ("https://shop.example/a", "HTTPS://Shop.Example:443/a", true),
            ("https://shop.example", "https://shop.example/", true),
            ("http://shop.example:80?q=1", "http://shop.example/?q=1", true),
            ("http://user:Pass@shop.example/a", "http://shop.example/a", true),
            ("https://shop.example/a", "https://shop.example/A", false),
            ("https://shop.example:80/a", "https://shop.example/a", false),
            ("http://shop.example:8080/a", "http://shop.example/a", false),
            ("http://[2001:DB8::1]:80/a", "http://[2001:db8::1]/a", true),
        ]
    )
    func equivalentURLs(_ first: String, _ second: String, isSame: Bool) async throws {
        let world = CacheWorld()
        var target = CachedTarget(.get, "")
        for url in [first, second] {
            target.baseURL = try #require(URL(string: url))
            _ = try await world.provider.request(target)
        }
        #expect(world.requests.count == (isSame ? 1 : 2))
    }

    @Test(
        "A response that arrives after one of its URL was removed is not stored, and others are",
        arguments: [("/other" as RequestPath, true), ("/list", false)]
    )
    func removalMeanwhile(_ path: RequestPath, isStored: Bool) async throws {
        let (gate, world) = (Gate(), CacheWorld())
        _ = try await world.provider.request(CachedTarget())
        world.answer { request in
            if request.httpMethod == "GET" { await gate.wait() }
            return .cacheable("second")
        }
        let call = Task { try await world.provider.request(CachedTarget().with(.reload)) }
        await gate.waitForArrivals()
        _ = try await world.provider.request(CachedTarget(.post, path))
        gate.open()
        _ = try await call.value
        let cached = await world.provider.result(CachedTarget().with(.onlyCached))
        #expect((try? cached.get().body) == (isStored ? "second" : nil))
    }

    @Test("A request with a Host field of its own does not use the cache")
    func ownHost() async throws {
        let world = CacheWorld()
        for host in ["one.example", "two.example"] {
            _ = try await world.provider.request(CachedTarget(.get, "/list", ["Host": host]))
        }
        #expect(world.requests.count == 2)
    }

    @Test("§4.3.3: a response that may not be stored removes the one that it replaces")
    func replacement() async throws {
        let world = CacheWorld { _ in .cacheable("first", ["Cache-Control": "no-cache"]) }
        _ = try await world.provider.request(CachedTarget())
        world.answer { _ in .cacheable("second", ["Cache-Control": "no-store"]) }
        _ = try await world.provider.request(CachedTarget())
        world.answer { _ in .error(.notConnectedToInternet) }
        #expect(await world.provider.result(CachedTarget().with(.onlyCached)).failure != nil)
    }

    @Test("§4.3.5: a HEAD response with the same validators updates the stored response")
    func head() async throws {
        let world = CacheWorld()
        _ = try await world.provider.request(CachedTarget())
        world.pass(70)
        world.answer { _ in
            .response(status: 200, headers: ["ETag": "\"1\"", "Cache-Control": "max-age=60"], data: Data())
        }
        _ = try await world.provider.request(CachedTarget(.head))
        let response = try await world.provider.request(CachedTarget())
        #expect(response.origin == .cache(age: .zero))
        #expect(response.body == "first")
    }

    @Test(
        "§4.3.5: a HEAD response with another validator removes the stored response",
        arguments: [["ETag": "\"2\""], ["ETag": "\"1\"", "Content-Length": "9"]] as [HTTPHeaders]
    )
    func otherHead(_ fields: HTTPHeaders) async throws {
        let world = CacheWorld { _ in .cacheable("first", ["Content-Length": "5"]) }
        _ = try await world.provider.request(CachedTarget())
        world.pass(70)
        world.answer { _ in .response(status: 200, headers: fields, data: Data()) }
        _ = try await world.provider.request(CachedTarget(.head))
        world.answer { _ in .error(.notConnectedToInternet) }
        #expect(await world.provider.result(CachedTarget().with(.onlyCached)).failure != nil)
    }

    @Test("§4.3.5: a HEAD request is answered without a body, and its response is not stored")
    func headBody() async throws {
        let world = CacheWorld()
        #expect(try await world.provider.request(CachedTarget(.head)).origin == .network)
        _ = try await world.provider.request(CachedTarget())
        let response = try await world.provider.request(CachedTarget(.head))
        #expect(response.origin == .cache(age: .zero))
        #expect(response.data.isEmpty)
        #expect(world.requests.count == 2)
    }

    @Test(
        "§4.4: a successful request of an unsafe method removes the responses of its URL",
        arguments: [HTTPMethod.post, .put, .patch, .delete, HTTPMethod(rawValue: "PURGE")]
    )
    func unsafe(_ method: HTTPMethod) async throws {
        let world = CacheWorld()
        _ = try await world.provider.request(CachedTarget())
        _ = try await world.provider.request(CachedTarget(method))
        #expect(try await world.provider.request(CachedTarget()).origin == .network)
    }

    @Test(
        "§4.4: safe methods and failures remove nothing",
        arguments: [("OPTIONS", 200), ("TRACE", 200), ("POST", 500), ("POST", 404)]
    )
    func harmless(_ method: String, _ status: Int) async throws {
        let world = CacheWorld()
        _ = try await world.provider.request(CachedTarget())
        world.answer { _ in .status(status) }
        _ = try await world.provider.request(CachedTarget(HTTPMethod(rawValue: method)))
        #expect(try await world.provider.request(CachedTarget()).origin == .cache(age: .zero))
    }

    @Test(
        "§4.4: Location and Content-Location of the same origin are removed, and no others",
        arguments: [
            ("Location", "/api/list", true), ("Content-Location", "list", true),
            ("Content-Location", "https://shop.example/api/list#top", true),
            ("Location", "https://shop.example:443/api/list", true),
            ("Location", "https://other.example/api/list", false), ("Location", "http://shop.example/api/list", false),
            ("X-Location", "/api/list", false),
        ]
    )
    func locations(_ name: String, _ value: String, _ isRemoved: Bool) async throws {
        let world = CacheWorld()
        _ = try await world.provider.request(CachedTarget())
        world.answer { _ in .status(201, HTTPHeaders([name: value])) }
        _ = try await world.provider.request(CachedTarget(.post, "/orders"))
        world.answer { _ in .cacheable() }
        let isCached = try await world.provider.request(CachedTarget()).origin != .network
        #expect(isCached == !isRemoved)
    }

    @Test("§4.4: the responses of all users are removed")
    func users() async throws {
        let folder = try TemporaryFolderOfCache()
        let world = CacheWorld(storedIn: folder.url)
        let targets = ["a", "b"].map { CachedTarget(.get, "/list", ["Authorization": $0]) } + [CachedTarget()]
        for target in targets { _ = try await world.provider.request(target) }
        _ = try await world.provider.request(CachedTarget(.delete))
        for target in targets { #expect(try await world.provider.request(target).origin == .network) }
    }

    @Test("§4.1: several variants are stored, and each is found")
    func variants() async throws {
        let world = CacheWorld { request in
            .cacheable(request.value(forHTTPHeaderField: "Accept-Language") ?? "", ["Vary": "Accept-Language"])
        }
        for language in ["de", "en", "de", "en"] {
            let response = try await world.provider.request(CachedTarget(.get, "/list", ["Accept-Language": language]))
            #expect(response.body == language)
        }
        #expect(world.requests.count == 2)
    }

    @Test("RFC 5861 §3: one validation runs in the background, and its response is used next")
    func background() async throws {
        let gate = Gate()
        let scope = RequestScope()
        let world = CacheWorld(scope: scope) { _ in
            .cacheable("first", ["Cache-Control": "max-age=60, stale-while-revalidate=600"])
        }
        _ = try await world.provider.request(CachedTarget())
        world.pass(70)
        world.answer { _ in
            await gate.wait()
            return .cacheable("second")
        }
        for _ in 0..<5 {
            let response = try await world.provider.request(CachedTarget())
            #expect(response.origin == .stale(age: .seconds(70)))
            #expect(response.body == "first")
        }
        await world.requests.waitForCount(2)
        #expect(world.requests.elements[1].value(forHTTPHeaderField: "If-None-Match") == "\"1\"")
        gate.open()
        await scope.shutdown(grace: .seconds(60))
        scope.reopen()
        #expect(world.requests.count == 2)
        #expect(try await world.provider.request(CachedTarget()).body == "second")
    }

    @Test("RFC 5861 §3: a validation in the background is cancelled when its scope is shut down")
    func shutdown() async throws {
        let scope = RequestScope()
        let cancelled = Recorder<Bool>()
        let world = CacheWorld(scope: scope) { _ in
            .cacheable("first", ["Cache-Control": "max-age=60, stale-while-revalidate=600"])
        }
        _ = try await world.provider.request(CachedTarget())
        world.pass(70)
        world.answer { _ in
            do { try await Gate().waitUnlessCancelled() } catch { cancelled.append(true) }
            throw CancellationError()
        }
        #expect(try await world.provider.request(CachedTarget()).origin == .stale(age: .seconds(70)))
        await world.requests.waitForCount(2)
        await scope.shutdown(grace: .zero)
        #expect(cancelled.elements == [true])
        // The stored response is unchanged, and can be validated again.
        scope.reopen()
        world.answer { _ in .response(status: 304, headers: [:], data: Data()) }
        #expect(try await world.provider.request(CachedTarget()).origin == .stale(age: .seconds(70)))
        await scope.shutdown(grace: .seconds(60))
        scope.reopen()
        #expect(world.requests.count == 3)
    }

    @Test("A call that is cancelled during a validation ends as cancelled, and the stored response stays")
    func cancelled() async throws {
        let world = CacheWorld { _ in .cacheable("first", ["Cache-Control": "max-age=60, stale-if-error=600"]) }
        _ = try await world.provider.request(CachedTarget())
        world.pass(70)
        world.answer { _ in
            try await Gate().waitUnlessCancelled()
            return .cacheable()
        }
        let call = Task { await world.provider.result(CachedTarget().with(.staleOnFailure)) }
        await world.requests.waitForCount(2)
        call.cancel()
        #expect(await call.value.failure?.stage == .cancelled)
        #expect(try await world.provider.request(CachedTarget().with(.onlyCached)).body == "first")
    }
}
