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

/// How often an outbox sends a call.
@Suite("An outbox: repetitions", .throttled, .timeLimit(.minutes(2)))
struct OutboxRepetitionTests {
    private let server = NoteServer()
    private let clock = ManualClock()

    private func outbox(_ plugins: any Plugin...) throws -> OfflineOutbox<Note> {
        try OfflineOutbox(Provider(transport: server, plugins: plugins), clock: clock)
    }

    @Test(
        "A call without a key that was processed before a redirect fails, whatever follows the redirect",
        arguments: [301, 302, 303],
        [
            NoteServer.Answer.status(401), .status(403), .status(503), .failure(.cannotConnectToHost),
            .failure(.timedOut),
        ]
    )
    func redirect(status: Int, answer: NoteServer.Answer) async throws {
        server.answer(1, .status(status, ["Location": "/receipts/0"]))
        server.answer(0, answer, answer, answer)
        let outbox = try outbox()
        try await outbox.keep(Note(1, policy: .ifUnsent))
        try await outbox.shows(["1 failed"], moving: clock)
        try await outbox.passDelays(of: clock)
        #expect(server.numbers == [1, 0])
        #expect(outbox.shown == ["1 failed"])
    }

    @Test("A call with a key waits for a sign-in after a redirect, and is sent again with its key")
    func redirectWithKey() async throws {
        server.answer(1, .status(303, ["Location": "/receipts/0"]), .status(200))
        server.answer(0, .status(401))
        let outbox = try outbox()
        try await outbox.keep(Note(1))
        try await outbox.shows(["1 needsSignIn"], moving: clock)
        outbox.sendNow()
        try await outbox.shows([], moving: clock)
        #expect(server.numbers == [1, 0, 1])
    }

    /// A server that rejects a call by its status, or by a code in the body of a 200.
    enum Rejection: CaseIterable, Sendable {
        case status, body
    }

    @Test("A call without a key that the server rejected itself waits for a sign-in", arguments: Rejection.allCases)
    func rejected(by rejection: Rejection) async throws {
        let sent = Tally()
        let transport = StubTransport { _ in
            sent.add()
            if sent.value > 1 { return .response(status: 200, data: Data(#"{"code":0}"#.utf8)) }
            let status = rejection == .status ? 401 : 200
            return .response(status: status, data: Data(#"{"code":401,"message":"no"}"#.utf8))
        }
        let codes = [BodyCode(keyPath: "code", equals: 401)]
        let authentication = AuthenticationPlugin(
            authenticator: OAuthAuthenticator(bodyCodes: codes) { _ in
                throw OAuthError.noRefreshToken
            },
            store: MemoryCredentialStore(OAuthCredential(accessToken: "old"))
        ) { _ in
        }
        let outbox = try OfflineOutbox(Provider<Note>(transport: transport, plugins: [authentication]), clock: clock)
        try await outbox.keep(Note(1, policy: .ifUnsent))
        try await outbox.shows(["1 needsSignIn"], moving: clock)
        #expect(sent.value == 1)
        try await authentication.signIn(OAuthCredential(accessToken: "new"))
        outbox.sendNow()
        try await outbox.shows([], moving: clock)
        #expect(sent.value == 2)
    }

    @Test(
        "An outbox waits for at least its own delay, whatever the server says",
        arguments: [409, 429, 503],
        ["0", "Wed, 21 Oct 2015 07:28:00 GMT"]
    )
    func shortestDelay(status: Int, retryAfter: String) async throws {
        server.answer(.status(status, ["Retry-After": retryAfter]))
        let outbox = try outbox()
        try await outbox.keep(Note(1))
        await server.sent.waitForCount(1)
        // The pass that ended while the entry was added can still have the shortest delay, for another look.
        while outbox.shown != ["1 waiting"] || clock.remainingSleeps.first.map({ $0 > .milliseconds(10) }) != true {
            try Task.checkCancellation()
            await Task.yield()
        }
        let wait = try #require(clock.remainingSleeps.first)
        #expect(wait >= .milliseconds(450))
        clock.advance(by: .milliseconds(400))
        for _ in 1...50 { await Task.yield() }
        #expect(server.sent.count == 1)
    }

    @Test("The delays of an outbox grow when the server says that it needs none")
    func growingDelays() async throws {
        server.answer(.status(503, ["Retry-After": "0"]))
        let outbox = try outbox()
        try await outbox.keep(Note(1))
        let start = clock.now
        while server.sent.count < 6 {
            try Task.checkCancellation()
            if !clock.remainingSleeps.isEmpty { clock.advanceToNextDeadline() }
            await Task.yield()
        }
        // At least half of 1 + 2 + 4 + 8 + 16 seconds.
        #expect(start.duration(to: clock.now) >= .seconds(15))
    }

    @Test(
        "A call without a key fails when the transport met the failure behind a redirect that it followed itself",
        arguments: [URLError.Code.cannotFindHost, .cannotConnectToHost, .notConnectedToInternet]
    )
    func behindOwnRedirect(code: URLError.Code) async throws {
        let sent = Tally()
        let transport = StubTransport { _ in
            sent.add()
            throw URLError(code, userInfo: [NSURLErrorFailingURLErrorKey: URL.shop.appending(path: "receipt")])
        }
        let outbox = try OfflineOutbox(Provider<Note>(transport: transport), clock: clock)
        try await outbox.keep(Note(1, policy: .ifUnsent))
        try await outbox.shows(["1 failed"], moving: clock)
        try await outbox.passDelays(of: clock)
        #expect(sent.value == 1)
    }

    @Test("A call without a key is sent again when the transport met the failure at the call's own URL")
    func atOwnURL() async throws {
        let sent = Tally()
        let transport = StubTransport { request in
            sent.add()
            if sent.value > 1 { return .response(status: 200, data: Data()) }
            let url = request.urlRequest.url ?? .shop
            throw URLError(.cannotFindHost, userInfo: [NSURLErrorFailingURLErrorKey: url])
        }
        let outbox = try OfflineOutbox(Provider<Note>(transport: transport), clock: clock)
        try await outbox.keep(Note(1, policy: .ifUnsent))
        try await outbox.shows([], moving: clock)
        #expect(sent.value == 2)
    }

    @Test(
        "A call that the server is still processing waits, also if the response is in an envelope",
        arguments: [true, false]
    )
    func inProgress(hasEnvelope: Bool) async throws {
        let sent = Tally()
        let transport = StubTransport { _ in
            sent.add()
            if sent.value > 1 { return .response(status: 200, data: Data(#"{"code":0}"#.utf8)) }
            let body = Data(#"{"code":5,"message":"in progress"}"#.utf8)
            return .response(status: 409, headers: ["Retry-After": "1"], data: body)
        }
        let options: CallOptions = hasEnvelope ? .setting(\.envelope, CodeMessageData()) : CallOptions()
        let outbox = try OfflineOutbox(Provider<Note>(transport: transport, options: options), clock: clock)
        try await outbox.keep(Note(1))
        try await outbox.shows([], moving: clock)
        #expect(sent.value == 2)
    }
}
