// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Credentials, as servers check them.
@Suite("httpbin and nginx: authorization", .throttled, .needs(.httpbin), .needs(.nginx), .timeLimit(.minutes(2)))
struct AuthorizationTests {
    private struct Identity: Decodable, Equatable {
        var authenticated: Bool
        var user: String?
        var token: String?
    }

    @Test("A bearer token is accepted", arguments: Engine.allCases)
    func bearer(engine: Engine) async throws {
        let call = ServerCall.httpbin(.get, "/bearer").with { $0.options.authorization = .bearer }
        let response = try await engine.response(to: call, AccessTokenPlugin { _ in "secret-7" })
        #expect(try response.decode(Identity.self) == Identity(authenticated: true, token: "secret-7"))
    }

    #if os(Linux)
    // Not over URLSession: Foundation on Linux ends the process at a challenge without a realm.
    @Test("Without its token the call is unauthorized")
    func noToken() async throws {
        let call = ServerCall.httpbin(.get, "/bearer").with { $0.validation = .successCodes }
        #expect(await Engine.curl.failure(of: call, AccessTokenPlugin { _ in "secret" })?.kind == .unauthorized)
        let asked = call.with { $0.options.authorization = .bearer }
        #expect(await Engine.curl.failure(of: asked, AccessTokenPlugin { _ in nil })?.kind == .unauthorized)
    }
    #endif

    @Test("User and password are accepted by the Basic scheme, from either plugin", arguments: Engine.allCases)
    func basic(engine: Engine) async throws {
        let expected = Identity(authenticated: true, user: "anna")
        let call = ServerCall.httpbin(.get, "/basic-auth/anna/t%3Aea")
        let asked = call.with { $0.options.authorization = .basic }
        let plugins: [any Plugin] = [
            AccessTokenPlugin { _ in "anna:t:ea" },
            CredentialsPlugin { _ in URLCredential(user: "anna", password: "t:ea", persistence: .none) },
        ]
        for plugin in plugins {
            #expect(try await engine.response(to: asked, plugin).decode(Identity.self) == expected)
        }
        let credentials = CredentialsPlugin { _ in URLCredential(user: "anna", password: "t:ea", persistence: .none) }
        let plain = call.with { $0.options.authorization = .automatic }
        #expect(try await engine.response(to: plain, credentials).decode(Identity.self) == expected)
        // The endpoint that does not ask: the credentials have to come with the first request.
        let hidden = asked.with { $0.path = "/hidden-basic-auth/anna/t%3Aea" }
        #expect(try await engine.response(to: hidden, credentials).decode(Identity.self) == expected)
        #expect(try await engine.response(to: hidden).statusCode == 404)
    }

    @Test("A Digest challenge is answered", arguments: Engine.allCases, ["MD5", "SHA-256"])
    func digest(engine: Engine, algorithm: String) async throws {
        let credentials = CredentialsPlugin { _ in URLCredential(user: "anna", password: "tea", persistence: .none) }
        let call = ServerCall.httpbin(.get, "/digest-auth/auth/anna/tea/\(algorithm)")
            .with { $0.options.authorization = .automatic }
        for _ in 0..<2 {
            let identity = try await engine.response(to: call, credentials).decode(Identity.self)
            #expect(identity == Identity(authenticated: true, user: "anna"))
        }
        let wrong = CredentialsPlugin { _ in URLCredential(user: "anna", password: "coffee", persistence: .none) }
        #expect(try await engine.response(to: call, wrong).statusCode == 401)
        // A plugin that has not met another challenge of this server.
        let fresh = CredentialsPlugin { _ in URLCredential(user: "anna", password: "tea", persistence: .none) }
        let integrity = call.with { $0.path = "/digest-auth/auth-int/anna/tea/\(algorithm)" }
        let error = try #require(await engine.failure(of: integrity, fresh))
        #expect(error.underlying as? DigestChallenge.Problem == .integrityProtection)
        let unsupported = call.with { $0.path = "/digest-auth/auth/anna/tea/SHA-512" }
        #expect(await engine.failure(of: unsupported, fresh)?.kind == .unauthorized)
    }

    @Test("Without or with a wrong password the response has status 401", arguments: Engine.allCases)
    func wrongPassword(engine: Engine) async throws {
        let call = ServerCall.httpbin(.get, "/basic-auth/anna/tea").with { $0.options.authorization = .automatic }
        let wrong = CredentialsPlugin { _ in URLCredential(user: "anna", password: "coffee", persistence: .none) }
        let response = try await engine.response(to: call, wrong)
        #expect(response.statusCode == 401)
        #expect(response.headers["WWW-Authenticate"]?.hasPrefix("Basic") == true)
        #expect(try await engine.response(to: call).statusCode == 401)
        #expect(await engine.failure(of: call.with { $0.validation = .successCodes })?.kind == .unauthorized)
        #expect(try await engine.response(to: .httpbin(.get, "/digest-auth/auth/anna/tea")).statusCode == 401)
    }

    @Test("nginx knows the user, in UTF-8 or not at all", arguments: Engine.allCases)
    func nginx(engine: Engine) async throws {
        let call = ServerCall.nginx(.get, "/private").with { $0.options.authorization = .basic }
        let response = try await engine.response(to: call, AccessTokenPlugin { _ in "anna:tea:time" })
        #expect(String(decoding: response.data, as: UTF8.self) == "welcome anna\n")
        let stranger = try await engine.response(to: call, AccessTokenPlugin { _ in "änna:tea:time" })
        #expect(stranger.statusCode == 401)
    }

    @Test(
        "A token replaces the target's own field, and is requested once for each call",
        arguments: Engine.allCases
    )
    func replaced(engine: Engine) async throws {
        let asked = Tally()
        let plugin = AccessTokenPlugin { _ in
            asked.add()
            return "new"
        }
        let call = ServerCall.httpbin(.get, "/anything").with {
            $0.options.authorization = .custom("Token")
            $0.headers = ["authorization": "Bearer old"]
        }
        let response = try await engine.response(to: call, plugin)
        #expect(try response.decode(Echo.self).headers["Authorization"] == "Token new")
        #expect(asked.value == 1)
    }

    @Test("A 401 signs out once and cancels the other calls", arguments: Engine.allCases)
    func signOut(engine: Engine) async throws {
        let recorder = RecordingPlugin()
        let signedOut = Recorder<RequestContext.ID>()
        let plugin = UnauthorizedPlugin { signedOut.append($0.id) }
        let plugins: [any Plugin] = [recorder, plugin]
        let provider = Provider<ServerCall>(transport: engine.ownTransport, plugins: plugins)
        let waiting = (0..<20).map { _ in
            Task { await provider.failure(of: .endless.with { $0.headers = ["Authorization": "Bearer old"] }) }
        }
        // Each call writes down two hooks before it is on its way.
        await recorder.waitForEvents(40)
        let rejected = ServerCall.httpbin(.get, "/status/401").with { $0.headers = ["Authorization": "Bearer old"] }
        let response = try await provider.request(rejected) as Response
        #expect(response.statusCode == 401)
        for task in waiting { #expect(await task.value?.stage == .cancelled) }
        #expect(try await provider.request(rejected).statusCode == 401)
        #expect(signedOut.count == 1)
        plugin.reset()
        #expect(try await provider.request(rejected).statusCode == 401)
        #expect(signedOut.count == 2)
        #expect(provider.scope.inFlightCount == 0)
    }
}
