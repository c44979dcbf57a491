// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitDiagnostics
import TargetKitJSON
import TargetKitOffline
import TargetKitPlugins
import TargetKitResilience
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("HAR plugin", .throttled, .timeLimit(.minutes(2)))
struct HARPluginTests {
    private let entries = Recorder<HAREntry>()

    private func traffic(bodyLimit: Int = 65_536, redaction: Redaction = Redaction()) -> HARPlugin {
        HARPlugin(bodyLimit: bodyLimit, redaction: redaction, provider: "shop") { [entries] in entries.append($0) }
    }

    /// The entries as they are encoded.
    private func archive() throws -> [JSONValue] {
        try entries.elements.map { try JSONValue(parsing: JSONEncoder().encode($0)) }
    }

    private func only() throws -> JSONValue {
        let archive = try archive()
        #expect(archive.count == 1)
        return try #require(archive.first)
    }

    @Test("An exchange is an entry with its request, response, sizes and timings")
    func exchange() async throws {
        let server = try TestServer(routes: [.post("/things"): .json(#"{"id":7}"#, status: 201)])
        let target = PluginTarget(
            baseURL: server.baseURL,
            path: "/things?page=2&q=a%20b",
            method: .post,
            task: .json(["name": "Sencha"]),
            headers: ["X-Shop": "tea"]
        )
        _ = try await Provider<PluginTarget>(plugins: [traffic()]).request(target)
        let entry = try only()
        #expect(entry["request"]["method"].string == "POST")
        #expect(entry["request"]["url"].string?.hasSuffix("/things?page=2&q=a%20b") == true)
        #expect(entry["request"]["queryString"][1]["value"].string == "a b")
        #expect(entry["request"]["postData"]["text"].string == #"{"name":"Sencha"}"#)
        #expect(entry["request"]["bodySize"].int == 17)
        #expect(entry["response"]["status"].int == 201)
        #expect(entry["response"]["content"]["text"].string == #"{"id":7}"#)
        #expect(entry["response"]["content"]["size"].int == 8)
        #expect(entry["response"]["bodySize"].int == 8)
        #expect(entry["serverIPAddress"].string == "127.0.0.1")
        #expect(entry["_source"].string == "network")
        #expect(entry["_provider"].string == "shop")
        #expect(entry["_target"].string == "PluginTarget")
        #expect(entry["_attempt"].int == 0)
        let timings = entry["timings"]
        let sum = ["blocked", "dns", "connect", "send", "wait", "receive"].compactMap { timings[$0].double }
            .filter { $0 > 0 }.reduce(0, +)
        #expect(abs(sum - (entry["time"].double ?? 0)) < 0.01)
        #expect(timings["ssl"].double == -1)
    }

    @Test("Each redirect is an entry of its own")
    func redirects() async throws {
        let server = try TestServer(routes: [
            .get("/a"): .init(status: 302, headers: ["Location": "/b?token=s3cret"]),
            .get("/b"): .init(status: 307, headers: ["Location": "/c"]),
            .get("/c"): .json("{}"),
        ])
        _ = try await Provider<PluginTarget>(plugins: [traffic()]).request(
            PluginTarget(baseURL: server.baseURL, path: "/a")
        )
        let archive = try archive()
        #expect(archive.map { $0["_hop"].int } == [0, 1, 2])
        #expect(archive.map { $0["response"]["status"].int } == [302, 307, 200])
        #expect(archive[0]["response"]["redirectURL"].string == "/b?token=<redacted>")
        #expect(Set(archive.map { $0["_id"].string }).count == 3)
        #expect(Set(archive.map { $0["_call"].string }).count == 1)
    }

    @Test("Each attempt is an entry, and the wait before a retry is known")
    func retries() async throws {
        let clock = ManualClock()
        let server = try TestServer(routes: [.get("/things"): .sequence(.status(503), .json("{}"))])
        let again = RecordingPlugin(retry: { _, context in
            context.attempt == 0 ? .retry(after: .seconds(3)) : .doNotRetry
        })
        let settings = HARPlugin.Settings(clock: clock, now: { Date(timeIntervalSince1970: 0) })
        let traffic = HARPlugin(settings) { [entries] in entries.append($0) }
        let provider = Provider<PluginTarget>(plugins: [again, traffic], clock: clock)
        _ = await clock.stepping { await provider.result(PluginTarget(baseURL: server.baseURL)) }
        let archive = try archive()
        #expect(archive.map { $0["_attempt"].int } == [0, 1])
        #expect(archive.map { $0["response"]["status"].int } == [503, 200])
        #expect(archive[1]["_waits"]["retry"].double == 3000)
        #expect(archive[0]["_waits"]["retry"].double == nil)
    }

    @Test("A wait in a plugin is a part of the entry, as its blocked time")
    func waits() async throws {
        let clock = ManualClock()
        let delay = DelayPlugin(clock: clock)
        let settings = HARPlugin.Settings(clock: clock, now: { Date(timeIntervalSince1970: 0) })
        let traffic = HARPlugin(settings) { [entries] in entries.append($0) }
        let provider = Provider<PluginTarget>(
            transport: ScriptedTransport(.status(200)).transport,
            plugins: [delay, traffic]
        )
        _ = await clock.stepping { await provider.result(PluginTarget()) }
        let entry = try only()
        #expect(entry["timings"]["blocked"].double == 2000)
        #expect(entry["_waits"]["plugins"].double == 2000)
        #expect(entry["time"].double == 2000)
        #expect(entry["startedDateTime"].string == "1970-01-01T00:00:00.000Z")
    }

    @Test("A stub's response is marked, with or without a transport", arguments: [true, false])
    func stubs(isTransport: Bool) async throws {
        let provider =
            isTransport
            ? Provider<PluginTarget>(transport: ScriptedTransport(.status(200)).transport, plugins: [traffic()])
            : .stubbed(traffic())
        _ = try await provider.request(PluginTarget())
        #expect(try only()["_source"].string == "stub")
        #expect(try only()["response"]["status"].int == 200)
    }

    @Test("A response of a cache is marked, and one that the server has confirmed")
    func cache() async throws {
        let server = try TestServer(routes: [
            .get("/fresh"): .init(headers: ["Cache-Control": "max-age=600"], body: Data("tea".utf8)),
            .get("/etag"): .sequence(
                .init(headers: ["Cache-Control": "no-cache", "ETag": "\"1\""], body: Data("tea".utf8)),
                .init(status: 304, headers: ["ETag": "\"1\""])
            ),
        ])
        let provider = Provider<PluginTarget>(plugins: [ResponseCachePlugin(ResponseCache()), traffic()])
        for path: RequestPath in ["/fresh", "/fresh", "/etag", "/etag"] {
            _ = try await provider.request(PluginTarget(baseURL: server.baseURL, path: path))
        }
        let archive = try archive()
        #expect(archive.map { $0["_source"].string } == ["network", "cache", "network", "network"])
        #expect(archive.map { $0["response"]["status"].int } == [200, 200, 200, 304])
        #expect(archive[1]["response"]["bodySize"].int == 0)
        #expect(archive[1]["response"]["content"]["text"].string == "tea")
        #expect(archive[3]["_origin"].string == "cache, revalidated")
    }

    @Test("A redirect that a cache has stored is an entry, before the response")
    func storedRedirect() async throws {
        let server = try TestServer(routes: [
            .get("/a"): .init(status: 301, headers: ["Location": "/b", "Cache-Control": "max-age=600"]),
            .get("/b"): .json("{}"),
        ])
        let provider = Provider<PluginTarget>(plugins: [ResponseCachePlugin(ResponseCache()), traffic()])
        for _ in 0..<2 { _ = try await provider.request(PluginTarget(baseURL: server.baseURL, path: "/a")) }
        let archive = try archive()
        #expect(archive.map { $0["response"]["status"].int } == [301, 200, 301, 200])
        #expect(archive.map { $0["_hop"].int } == [0, 1, 0, 1])
        #expect(archive.map { $0["_source"].string } == ["network", "network", "cache", "network"])
        #expect(archive[2]["response"]["redirectURL"].string?.hasSuffix("/b") == true)
        #expect(Set(archive.map { $0["_id"].string }).count == 4)
    }

    @Test("A response that a cache refreshes after its call has an entry for each of the two")
    func background() async throws {
        let headers: HTTPHeaders = ["Cache-Control": "max-age=0, stale-while-revalidate=600"]
        let server = try TestServer(routes: [.get("/things"): .init(headers: headers, body: Data("tea".utf8))])
        let provider = Provider<PluginTarget>(plugins: [ResponseCachePlugin(ResponseCache()), traffic()])
        for _ in 0..<2 { _ = try await provider.request(PluginTarget(baseURL: server.baseURL)) }
        await entries.waitForCount(3)
        let archive = try archive()
        #expect(
            archive.map { $0["_source"].string }.sorted { ($0 ?? "") < ($1 ?? "") } == ["cache", "network", "network"]
        )
        #expect(archive.compactMap { $0["_isBackground"].bool } == [true])
        #expect(Set(archive.map { $0["_id"].string }).count == 3)
    }

    @Test("Both requests of a hedged call are entries, and the slower one is cancelled")
    func hedging() async throws {
        let clock = ManualClock()
        let gate = Gate()
        let transport = ScriptedTransport { _, index in
            if index == 0 { try await gate.waitUnlessCancelled() }
            return .status(200)
        }
        let provider = Provider<PluginTarget>(
            transport: transport.transport,
            plugins: [HedgingPlugin(after: .seconds(1), clock: clock), traffic()]
        )
        _ = await clock.stepping { await provider.result(PluginTarget()) }
        await entries.waitForCount(2)
        #expect(Set(entries.elements.map(\.failure)) == [nil, .cancelled])
        #expect(entries.elements.map(\.hop) == [0, 0])
    }

    @Test("An archive has each member that HAR 1.2 requires, however the call ends", arguments: CallEnding.allCases)
    func members(_ ending: CallEnding) async throws {
        _ = await ending.run(through: traffic())
        for entry in try archive() {
            let (request, response) = (entry["request"], entry["response"])
            for text in [
                entry["startedDateTime"], request["method"], request["url"], request["httpVersion"],
                response["statusText"], response["httpVersion"], response["redirectURL"],
                response["content"]["mimeType"],
            ] { #expect(text.string != nil) }
            for number in [
                entry["time"], request["headersSize"], request["bodySize"], response["status"],
                response["headersSize"], response["bodySize"], response["content"]["size"],
            ] { #expect(number.double != nil) }
            for list in [
                request["cookies"], request["headers"], request["queryString"], response["cookies"],
                response["headers"],
            ] { #expect(list.array != nil) }
            #expect(entry["cache"].object != nil)
            for time in ["send", "wait", "receive"] { #expect(entry["timings"][time].double ?? -1 >= 0) }
        }
    }

    @Test(
        "Every call has an entry, however it ends, and its failure is that of the caller",
        arguments: CallEnding.allCases
    )
    func endings(_ ending: CallEnding) async throws {
        let result = await ending.run(through: traffic())
        let archive = try archive()
        #expect(!archive.isEmpty)
        let failures = archive.compactMap { $0["_failure"].string }
        if let failure = result.failure {
            // A call that is cancelled between two attempts has failed before.
            if ending != .cancelledWaitingToRetry, ending != .retriedThenPrepareFailure, ending != .retryFails {
                #expect(failures.last == "\(failure.kind)")
            }
            #expect(!failures.isEmpty)
        } else {
            #expect(archive.last?["_failure"].string == nil)
        }
        #expect(archive.last?["_source"].string == (ending.isSent ? archive.last?["_source"].string : "none"))
    }

    @Test("A body that cannot be decoded is a failure of the last entry, which is reported again")
    func decoding() async throws {
        let provider = Provider<PluginTarget>.stubbed(traffic())
        await #expect(throws: TargetKitError.self) { try await provider.request(PluginTarget(), as: [Int].self) }
        #expect(entries.elements.map(\.isUpdate) == [false, true])
        #expect(Set(entries.elements.map(\.id)).count == 1)
        #expect(entries.elements.map(\.failure) == [nil, .decoding])
    }

    @Test("A stream is reported with its head, and again when it has ended", arguments: [true, false])
    func stream(fails: Bool) async throws {
        let transport = StreamingTransport(failure: fails ? URLError(.networkConnectionLost) : nil)
        let provider = Provider<PluginTarget>(transport: transport, plugins: [traffic()])
        let stream = try await provider.stream(PluginTarget())
        #expect(entries.elements.map(\.isOpen) == [true])
        transport.gate.open()
        _ = try? await stream.reduce(into: Data()) { $0 += $1 }
        #expect(entries.elements.map(\.isUpdate) == [false, true])
        let last = try #require(try archive().last)
        #expect(last["response"]["content"]["size"].int == 10)
        #expect(last["_failure"].string == (fails ? "connectionLost" : nil))
        #expect(last["_isOpen"].bool == nil)
    }

    @Test("Calls that share an exchange each have an entry beside that of the exchange")
    func sharing() async throws {
        let held = HeldTransport()
        let provider = Provider<PluginTarget>(
            transport: held.transport,
            plugins: [traffic()],
            options: .setting(\.sharesInFlight, true)
        )
        async let first = provider.result(PluginTarget())
        async let second = provider.result(PluginTarget())
        await provider.waitForJoinedCalls(2)
        await held.requests.waitForCount(1)
        held.gate.open()
        _ = await [first, second]
        #expect(entries.elements.map(\.source.rawValue).sorted() == ["shared", "shared", "stub"])
        #expect(Set(entries.elements.map(\.id)).count == 3)
    }

    @Test("The calls of a refresh are marked, and the wait for them is that of the call")
    func refresh() async throws {
        let traffic = traffic()
        let server = TokenServer()
        let tokens = Provider<PluginTarget>.stubbed(traffic)
        let authenticator = TokenAuthenticator { token in
            _ = try await tokens.request(PluginTarget(path: "/token", method: .post))
            return server.renew(token)
        }
        let provider = Provider<PluginTarget>(
            transport: server.transport,
            plugins: [SignOuts().plugin(authenticator), traffic]
        )
        _ = try await provider.request(PluginTarget(validation: .successCodes))
        #expect(entries.elements.map(\.isRefresh) == [false, true, false])
        #expect(entries.elements.map(\.statusCode) == [401, 200, 200])
        let text = String(decoding: try JSONEncoder().encode(entries.elements), as: UTF8.self)
        #expect(!text.contains("token-1"))
    }

    @Test("It records beside a cache, a refresh, retries, a breaker and a logger without changing the call")
    func besideOthers() async throws {
        let server = try TestServer(routes: [
            .get("/things"): .sequence(
                .status(401),
                .status(503),
                .init(headers: ["Cache-Control": "max-age=60"], body: Data("{}".utf8))
            )
        ])
        let provider = Provider<PluginTarget>(plugins: [
            ResponseCachePlugin(ResponseCache()),
            SignOuts().plugin(TokenAuthenticator()),
            RetryPlugin(policy: RetryPolicy(baseDelay: .zero)),
            CircuitBreakerPlugin(),
            NetworkLoggerPlugin { _ in },
            DefaultHeadersPlugin(),
            traffic(),
        ])
        let target = PluginTarget(baseURL: server.baseURL, validation: .successCodes)
        for _ in 0..<2 { #expect(try await provider.request(target).statusCode == 200) }
        #expect(entries.elements.map(\.statusCode) == [401, 503, 200, 200])
        #expect(entries.elements.map(\.source) == [.network, .network, .network, .cache])
        let sent = try archive()[2]["request"]["headers"].array ?? []
        #expect(sent.contains { $0["name"].string == "Authorization" && $0["value"].string == "<redacted>" })
    }

    @Test("No entry has a secret, wherever it is", arguments: SecretPlace.all)
    func secrets(_ place: SecretPlace) async throws {
        let secret = "s3cret-0815"
        _ = await Provider<TestTarget>.stubbed(traffic()).result(place.make("password", secret))
        #expect(entries.count == 1)
        let text = String(decoding: try JSONEncoder().encode(entries.elements), as: UTF8.self)
        #expect(!text.contains(secret))
        #expect(!entries.elements.map { "\($0)" }.joined().contains(secret))
    }

    @Test(
        "A body is text, or Base64 if it is an image, up to the limit",
        arguments: [
            ("text/plain", Data("0123456789".utf8), "0123456789", nil, nil),
            ("text/plain", Data("0123456789abc".utf8), "0123456789", nil, "The first 10 of 13 bytes."),
            ("text/plain; charset=iso-8859-1", Data([0xE9, 0x74, 0xE9]), "été", nil, nil),
            ("image/png", Data([0, 1, 2]), "AAEC", "base64", nil),
            ("image/png", Data(0..<12), "AAECAwQFBgcI", "base64", "The first 9 of 12 bytes."),
            (
                "application/octet-stream", Data([0, 255]), nil, nil,
                "The body, 2 bytes, isn't text, so secrets in it can't be redacted."
            ),
            ("text/plain", Data("ééééééé".utf8), "ééééé", nil, "The first 10 of 14 bytes."),
        ] as [(String, Data, String?, String?, String?)]
    )
    func bodies(type: String, data: Data, text: String?, encoding: String?, comment: String?) async throws {
        let sample = SampleResponse.response(status: 200, headers: ["Content-Type": type], data: data)
        _ = try await Provider<PluginTarget>.stubbed(traffic(bodyLimit: 10)).request(
            PluginTarget(sampleResponse: sample)
        )
        let content = try only()["response"]["content"]
        #expect(content["text"].string == text)
        #expect(content["encoding"].string == encoding)
        #expect(content["comment"].string == comment)
        #expect(content["size"].int == data.count)
    }

    @Test("A body over the limit has no secret either", arguments: SecretPlace.all)
    func secretsOverLimit(_ place: SecretPlace) async throws {
        let secret = "s3cret-0815"
        _ = await Provider<TestTarget>.stubbed(traffic(bodyLimit: 20)).result(place.make("password", secret))
        let text = String(decoding: try JSONEncoder().encode(entries.elements), as: UTF8.self)
        #expect(!text.contains(secret))
    }

    @Test("Any limit is accepted", arguments: [Int.min, -1, 0, 1, 2, Int.max])
    func limits(_ limit: Int) async throws {
        let image = SampleResponse.response(status: 200, headers: ["Content-Type": "image/png"], data: Data([0, 1]))
        let provider = Provider<PluginTarget>.stubbed(traffic(bodyLimit: limit))
        _ = try await provider.request(PluginTarget())
        _ = try await provider.request(PluginTarget(sampleResponse: image))
        #expect(try archive().count == 2)
        if limit <= 0 { #expect(try archive()[0]["response"]["content"]["text"].string == nil) }
    }
}

/// Makes each exchange wait.
private struct DelayPlugin: Plugin {
    let clock: ManualClock
    var hooks: PluginHooks { .exchange }

    func exchange(
        _ request: TransportRequest,
        context: RequestContext,
        next: Exchange
    ) async throws -> TransportResponse {
        try await clock.sleep(for: .seconds(2))
        return try await next(request)
    }
}
