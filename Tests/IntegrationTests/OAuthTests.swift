// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
@testable import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tokens that end, rotate and are revoked, as an OAuth server of Authlib sees it. Each test has a user of its own.
@Suite("OAuth server", .throttled, .needs(.oauth), .timeLimit(.minutes(2)))
struct OAuthTests {
    private let user = "user-\(UUID().uuidString)"
    private let signOuts = Recorder<any Error>()

    private struct Counts: Decodable, Equatable {
        var renewed = 0
        var refused = 0
    }

    private struct Owner: Decodable {
        var user: String
    }

    private var counts: Counts {
        get async throws { try await call(.get, "/counts?user=\(user)").decode(Counts.self) }
    }

    private var things: ServerCall { .oauth(.get, "/things").with { $0.options.authorization = .bearer } }

    /// A call without the plugin.
    @discardableResult
    private func call(_ method: HTTPMethod, _ path: RequestPath, _ task: HTTPTask = .plain) async throws -> Response {
        try await Provider<ServerCall>().request(.oauth(method, path, task)).filter()
    }

    /// Signs in with a password.
    ///
    /// - Parameter lifetime: How long an access token lives, in seconds.
    private func signIn(_ client: OAuthClient = .phone, lifetime: Int = 3600) async throws -> OAuthCredential {
        let fields = ["username": user, "password": "tea", "scope": "\(lifetime)"]
        return try await client.credential(OAuthGrant(type: "password", fields: fields))
    }

    private func plugin(
        _ store: any CredentialStore<OAuthCredential> = MemoryCredentialStore<OAuthCredential>(),
        client: OAuthClient = .phone
    ) -> AuthenticationPlugin<OAuthAuthenticator> {
        AuthenticationPlugin(authenticator: OAuthAuthenticator(client: client), store: store) { [signOuts] error in
            signOuts.append(error)
        }
    }

    @Test("200 calls whose token expires cause one refresh, and all succeed", arguments: Engine.allCases)
    func expiry(engine: Engine) async throws {
        let plugin = plugin()
        try await plugin.signIn(signIn())
        let provider = Provider<ServerCall>(transport: engine.wideTransport, plugins: [plugin])
        let held = things.with {
            $0.path = "/things?hold=\(user)"
            $0.options.timeout = .none
        }
        let calls = (0..<200).map { _ in Task { try await provider.request(held, as: Owner.self).user } }
        // The server ends its wait after 60 seconds.
        let arrivals = ServerCall.oauth(.get, "/held?user=\(user)&count=200").with { $0.options.timeout = .none }
        _ = try await Provider<ServerCall>().request(arrivals).filter()
        try await call(.post, "/expire?user=\(user)")
        for call in calls { #expect(try await call.value == user) }
        #expect(try await counts == Counts(renewed: 1))
        #expect(signOuts.count == 0)
    }

    @Test("A revoked refresh token signs out once, and each call fails with the reason", arguments: Engine.allCases)
    func revoked(engine: Engine) async throws {
        let (plugin, credential) = (plugin(), try await signIn())
        try await plugin.signIn(credential)
        let token = try #require(credential.refreshToken)
        try await OAuthClient.phone.revoke(credential, at: .server("revoke"))
        try await call(.post, "/expire?user=\(user)")
        let provider = Provider<ServerCall>(transport: engine.ownTransport, plugins: [plugin])
        let calls = (0..<50).map { _ in Task { [things] in await provider.failure(of: things) } }
        for call in calls {
            let error = try #require(await call.value)
            #expect(error.kind == .unauthorized)
            #expect(error.underlying as? OAuthError == .refused(code: "invalid_grant", message: nil, statusCode: 400))
            #expect(!"\(error)".contains(token))
        }
        #expect(signOuts.count == 1)
        #expect(try await counts == Counts(refused: 1))
        try await plugin.signIn(signIn())
        #expect(try await provider.request(things).statusCode == 200)
        #expect(signOuts.count == 1)
    }

    @Test("Each refresh token is used once, and the last one is loaded at the next launch")
    func rotation() async throws {
        let folder = try TemporaryFolder()
        let store = FileCredentialStore<OAuthCredential>(folder.url.appending(path: "session.json"))
        let first = try await signIn()
        try await store.save(first)
        for round in 1...3 {
            // A new plugin each time: what it knows comes from the file.
            let provider = Provider<ServerCall>(plugins: [plugin(store)])
            try await call(.post, "/expire?user=\(user)")
            #expect(try await provider.request(things).statusCode == 200)
            #expect(try await counts == Counts(renewed: round))
        }
        #expect(try await store.load()?.refreshToken != first.refreshToken)
        // The first one has had its turn.
        let stale = plugin(MemoryCredentialStore(first))
        let error = await Provider<ServerCall>(plugins: [stale]).failure(of: things)
        #expect(error?.underlying as? OAuthError == .refused(code: "invalid_grant", message: nil, statusCode: 400))
    }

    @Test("Tokens with a lifetime of a minute are refreshed before they expire: no call is rejected")
    func shortLived() async throws {
        let time = Locked(Date())
        let client = OAuthClient(id: "phone", tokenURL: .server("token"), now: { time.withLock { $0 } })
        let plugin = AuthenticationPlugin(authenticator: OAuthAuthenticator(client: client)) { [signOuts] in
            signOuts.append($0)
        }
        try await plugin.signIn(signIn(client, lifetime: 60))
        let rejected = Tally()
        let watch = RecordingPlugin(retry: { result, _ in
            if (try? result.get().statusCode) != 200 { rejected.add() }
            return .doNotRetry
        })
        let provider = Provider<ServerCall>(plugins: [watch, plugin])
        for round in 1...3 {
            time.withLock { $0 += 20 }
            #expect(try await provider.request(things).statusCode == 200)
            #expect(try await counts == Counts(renewed: round - 1))
            // Past the second half of its life.
            time.withLock { $0 += 20 }
            #expect(try await provider.request(things).statusCode == 200)
            #expect(try await counts == Counts(renewed: round))
        }
        #expect(rejected.value == 0)
    }

    @Test(
        "A client authenticates itself by the Basic scheme, in the form, or not at all",
        arguments: [OAuthClient.phone, .shop(.basic(secret: .secret)), .shop(.form(secret: .secret))]
    )
    func clients(_ client: OAuthClient) async throws {
        let plugin = plugin(client: client)
        try await plugin.signIn(signIn(client))
        try await call(.post, "/expire?user=\(user)")
        let provider = Provider<ServerCall>(plugins: [plugin])
        #expect(try await provider.request(things).statusCode == 200)
        #expect(try await counts == Counts(renewed: 1))
    }

    @Test("The error of a wrong client secret does not contain the secret")
    func wrongSecret() async throws {
        let plugin = plugin(client: .shop(.basic(secret: "hunter2")))
        try await plugin.signIn(signIn(.shop(.form(secret: .secret))))
        try await call(.post, "/expire?user=\(user)")
        let error = try #require(await Provider<ServerCall>(plugins: [plugin]).failure(of: things))
        guard case .refused(let code, _, _) = error.underlying as? OAuthError else {
            Issue.record("\(error)")
            return
        }
        #expect(code == "invalid_client")
        #expect(!"\(error)".contains("hunter2"))
    }

    /// Whether the server accepts an access token, for this test's user.
    private func accepts(_ credential: OAuthCredential) async throws -> Bool {
        let plugin = plugin()
        try await plugin.signIn(credential)
        return try await Provider<ServerCall>(plugins: [plugin]).request(things, as: Owner.self).user == user
    }

    @Test("A code from a browser is exchanged with PKCE, once")
    func authorizationCode() async throws {
        let authorization = OAuthClient.phone.authorization(
            at: .server("authorize"),
            redirectURI: try #require(URL(string: "shop://signed-in")),
            scope: "orders",
            parameters: ["user": user]
        )
        let page = ServerCall(baseURL: authorization.url, path: "").with { $0.validation = .none }
        let response = try await Provider<ServerCall>(redirects: .none).request(page)
        let callback = try #require(response.headers["Location"].flatMap { URL(string: $0) })
        let grant = try authorization.grant(from: callback)
        let credential = try await OAuthClient.phone.credential(grant)
        #expect(try await accepts(credential))
        await #expect(throws: OAuthError.self) { try await OAuthClient.phone.credential(grant) }
        // Another authorization has another verifier.
        let other = OAuthClient.phone.authorization(at: .server("authorize"), redirectURI: authorization.url)
        #expect(throws: OAuthError.self) { try other.grant(from: callback) }
    }

    @Test("A user signs in on another device, or refuses", arguments: [true, false])
    func device(_ allows: Bool) async throws {
        let device = try await OAuthClient.phone.deviceAuthorization(at: .server("device"))
        let result = Task { try await OAuthClient.phone.credential(for: device) }
        try await call(.post, "/allow?user=\(user)&code=\(device.userCode)&allows=\(allows)")
        if allows {
            let credential = try await result.value
            #expect(try await accepts(credential))
        } else {
            let refusal = await #expect(throws: OAuthError.self) { try await result.value }
            guard case .refused("access_denied", _, _) = refusal else {
                Issue.record("\(refusal as Any)")
                return
            }
        }
    }

    @Test("A service signs in with its secret, and its token is renewed by the same grant")
    func clientCredentials() async throws {
        let client = OAuthClient.shop(.basic(secret: .secret))
        let credential = try await client.credential(.clientCredentials(scope: "1"))
        let authenticator = OAuthAuthenticator(client: client, renewal: .clientCredentials())
        let renewed = try await authenticator.refresh(OAuthCredential(accessToken: credential.accessToken))
        #expect(renewed.accessToken != credential.accessToken)
    }

    #if os(Linux)
    @Test("A service signs in with a JWT of its private key, each of which is accepted once")
    func privateKeyJWT() async throws {
        let folder = try TemporaryFolder()
        let path = folder.url.path
        _ = try ChildProcess.run("/usr/bin/env", ["openssl", "genrsa", "-out", "\(path)/key", "2048"])
        let key = try ChildProcess.run("/usr/bin/env", ["openssl", "rsa", "-in", "\(path)/key", "-pubout"]).output
        try await call(.post, "/key", .data(key))
        let (lastToken, repeats) = (Locked(""), Locked(false))
        let client = OAuthClient(
            id: "service",
            tokenURL: .server("token"),
            authentication: .privateKeyJWT { audience in
                if repeats.withLock({ $0 }) { return lastToken.withLock { $0 } }
                let token = try Self.token(for: audience, signedIn: folder.url)
                lastToken.withLock { $0 = token }
                return token
            }
        )
        for _ in 0..<2 { #expect(try await !client.credential(.clientCredentials()).accessToken.isEmpty) }
        repeats.withLock { $0 = true }
        let error = await #expect(throws: OAuthError.self) { try await client.credential(.clientCredentials()) }
        #expect(error.map { "\($0)".contains(lastToken.withLock { $0 }) } == false)
    }

    /// A JWT (RFC 7519) that openssl signs by RS256.
    private static func token(for audience: URL, signedIn folder: URL) throws -> String {
        let now = Int(Date().timeIntervalSince1970)
        let claims =
            #"{"iss":"service","sub":"service","aud":"\#(audience)","jti":"\#(UUID())","iat":\#(now),"exp":\#(now + 60)}"#
        let content = [#"{"alg":"RS256","typ":"JWT"}"#, claims].map { base64URL(Data($0.utf8)) }.joined(separator: ".")
        let file = folder.appending(path: UUID().uuidString)
        try Data(content.utf8).write(to: file)
        let words = ["openssl", "dgst", "-sha256", "-sign", folder.appending(path: "key").path, file.path]
        return content + "." + base64URL(try ChildProcess.run("/usr/bin/env", words).output)
    }

    private static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }
    #endif

    @Test("The refresh goes through the provider whose calls wait for it")
    func sameProvider() async throws {
        let own = Locked<Provider<MultiTarget>?>(nil)
        let client = OAuthClient(id: "phone", tokenURL: .server("token")) { target in
            try await #require(own.withLock { $0 }).request(MultiTarget(target))
        }
        let plugin = AuthenticationPlugin(authenticator: OAuthAuthenticator(client: client)) { [signOuts] in
            signOuts.append($0)
        }
        let provider = Provider<MultiTarget>(plugins: [plugin])
        own.withLock { $0 = provider }
        defer { own.withLock { $0 = nil } }
        try await plugin.signIn(signIn())
        try await call(.post, "/expire?user=\(user)")
        let calls = (0..<20).map { _ in Task { [things] in try await provider.request(MultiTarget(things)).statusCode }
        }
        for call in calls { #expect(try await call.value == 200) }
        #expect(try await counts == Counts(renewed: 1))
    }
}

extension Engine {
    /// A transport that sends 200 calls at once: both have fewer connections for one host, unless told.
    fileprivate var wideTransport: any Transport {
        switch self {
        #if os(Linux)
        case .curl:
            return CurlTransport(
                connectTimeout: .seconds(600),
                idleTimeout: .seconds(600),
                maxConnectionsPerHost: 256
            )
        #endif
        case .urlSession:
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpMaximumConnectionsPerHost = 256
            return URLSessionTransport(configuration: configuration)
        }
    }
}

extension ServerCall {
    /// A call of the OAuth server.
    fileprivate static func oauth(_ method: HTTPMethod, _ path: RequestPath, _ task: HTTPTask = .plain) -> Self {
        Self(baseURL: ServerAvailability.oauth.baseURL, path: path, method: method, task: task)
    }
}

extension URL {
    fileprivate static func server(_ path: String) -> URL { ServerAvailability.oauth.baseURL.appending(path: path) }
}

extension String {
    /// The secret of the client `shop`, with characters that a form escapes.
    fileprivate static let secret = "s3cret: &%"
}

extension OAuthClient {
    /// A client without a secret.
    fileprivate static let phone = OAuthClient(id: "phone", tokenURL: .server("token"))

    /// A client with a secret.
    fileprivate static func shop(_ authentication: OAuthClient.Authentication) -> OAuthClient {
        OAuthClient(id: "shop", tokenURL: .server("token"), authentication: authentication)
    }
}
