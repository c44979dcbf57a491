// SPDX-License-Identifier: MIT
import Foundation
import ShopAPI
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import Testing

/// What the client adds to the calls: tokens, environments, envelopes, retries.
@Suite("Client", .timeLimit(.minutes(1)))
struct ClientTests {
    private static let tokens = #"{"accessToken":"new","refreshToken":"next","expiresIn":900}"#

    private let calls = RequestLog()

    private func client(
        _ environment: ShopEnvironment = .production,
        routes: KeyValuePairs<RequestPattern, StubResponse>,
        change: (inout ShopClient.Settings) -> Void = { _ in }
    ) -> ShopClient {
        var settings = ShopClient.Settings(environment.store())
        settings.transport = StubTransport(routes: routes, log: calls)
        change(&settings)
        return ShopClient(settings)
    }

    private func signIn(_ client: ShopClient, expiresIn seconds: TimeInterval = 900) async throws {
        let expiry = Date(timeIntervalSinceNow: seconds)
        let tokens = ShopTokens(accessToken: "old", refreshToken: "first", expiresAt: expiry)
        try await client.authentication.signIn(tokens)
    }

    @Test("A token that is about to expire is refreshed once, for two calls at the same time")
    func expiringToken() async throws {
        let client = client(routes: [.post("/session/refresh"): .json(Self.tokens), .get("/orders"): .json("[]")])
        try await signIn(client, expiresIn: 5)
        async let first = client.orders.request(.all)
        async let second = client.orders.request(.all)
        _ = try await (first, second)
        try calls.expect(.post("/session/refresh").with(.json("refreshToken", "first")), times: 1)
        try calls.expect(.get("/orders").with(.header(.authorization, "Bearer new")), times: 2)
        #expect(client.session.refreshes == 1)
    }

    @Test("A token that the server rejects is refreshed, and the call is sent again")
    func rejectedToken() async throws {
        let client = client(routes: [
            .post("/session/refresh"): .json(Self.tokens),
            .get("/orders").with(.header(.authorization, "Bearer old")): .status(401),
            .get("/orders"): .json("[]"),
        ])
        try await signIn(client)
        #expect(try await client.orders.request(.all).statusCode == 200)
        #expect(client.session.refreshes == 1)
    }

    @Test("A refresh that is refused signs out once", arguments: [#"{"status":401}"#, nil])
    func endedSession(body: String?) async throws {
        let client = client(routes: [
            .post("/session/refresh"): .status(401),
            .any: body.map { .json($0) } ?? .status(401),
        ])
        try await signIn(client)
        let error = await #expect(throws: TargetKitError.self) { try await client.orders.request(.legacy) }
        #expect(error?.stage == (body == nil ? .status : .envelope))
        #expect(error?.kind == .unauthorized)
        #expect(client.session.signOuts == 1)
    }

    @Test("Staging has its own path and header field", arguments: ShopEnvironment.allCases)
    func environment(_ environment: ShopEnvironment) async throws {
        let client = client(environment, routes: [.any: .targetSample])
        _ = try await client.catalog.request(.product(id: "a/b"))
        let isStaging = environment == .staging
        let path = isStaging ? "/staging/products/a%2Fb" : "/products/a%2Fb"
        let url = try #require(calls.requests.first?.url)
        #expect(url.path(percentEncoded: true) == path && url.host() == "shop.example")
        #expect(calls.requests.first?.headers["X-Tester"] == (isStaging ? "yes" : nil))
    }

    @Test("A value is read from its envelope, and a refusal has the server's sentence")
    func envelope() async throws {
        let client = client(routes: [
            .get("/member"): .json(#"{"code":0,"message":"ok","data":{"name":"Ada","points":24}}"#),
            .post("/vouchers"): .json(#"{"code":40021,"message":"Expired."}"#),
        ])
        #expect(try await client.account.request(.member, as: Member.self).points == 24)
        let error = await #expect(throws: TargetKitError.self) {
            try await client.account.request(.redeem(voucher: "TEA"))
        }
        #expect(error?.stage == .envelope && error?.localizedDescription == "Expired.")
    }

    @Test("A busy server is asked again, and each retry is reported")
    func retry() async throws {
        let clock = ManualClock()
        let retries = Guarded<[Int?]>([])
        let client = client(routes: [.any: .sequence(.status(503), .status(503), .targetSample)]) { settings in
            settings.clock = clock
            settings.onRetry = { attempt in retries.withLock { $0.append(attempt.statusCode) } }
        }
        async let stock = client.catalog.request(.availability(id: "sencha"), as: Availability.self)
        for _ in 1...2 {
            try await clock.waitForSleepers()
            clock.advanceToNextDeadline()
        }
        #expect(try await stock.left == 12)
        #expect(retries.value == [503, 503])
    }

    @Test("Cancelling the task of a download cancels its call")
    func cancelDownload() async throws {
        let clock = ManualClock()
        var settings = ShopClient.Settings()
        settings.transport = StubTransport(routes: [.any: .text("film").after(.seconds(60))], clock: clock)
        let client = ShopClient(settings)
        let file = FileManager.default.temporaryDirectory.appending(path: "film-\(UUID())")
        let download = Task { try await client.films.response(to: .download(into: file)) { _ in } }
        try await clock.waitForSleepers()
        download.cancel()
        let error = await #expect(throws: TargetKitError.self) { try await download.value }
        #expect(error?.stage == .cancelled)
    }
}
