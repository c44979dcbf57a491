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

/// To whom a stored response belongs, with an ``AuthenticationPlugin``.
@Suite("Cache: sessions", .throttled, .timeLimit(.minutes(2)))
struct CacheSessionTests {
    /// Where a request has a secret besides the credential of the session.
    enum Place: String, CaseIterable, Sendable {
        case cookie, cookieStore, pluginField, ownField, credentialsCookie

        func headers(_ value: String) -> HTTPHeaders {
            switch self {
            case .cookie, .credentialsCookie: ["Cookie": "org=\(value)"]
            case .ownField: ["token": value]
            case .cookieStore, .pluginField: [:]
            }
        }
    }

    private struct KeyPlugin: Plugin {
        let key: Locked<String>
        var secretHeaders: Set<HTTPHeaderName> { ["X-Tenant"] }

        func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
            var request = request
            request.setValue(key.withLock { $0 }, forHTTPHeaderField: "X-Tenant")
            return request
        }
    }

    /// Sends the session in a cookie, beside those that are there.
    private struct CookieAuthenticator: Authenticator {
        var secretHeaders: Set<HTTPHeaderName> { [.cookie] }

        func apply(_ token: Token, to request: inout URLRequest) {
            let cookies = [request.value(forHTTPHeaderField: "Cookie"), "session=\(token.number)"]
            request.setValue(cookies.compactMap { $0 }.joined(separator: "; "), forHTTPHeaderField: "Cookie")
        }

        func refresh(_ token: Token) async throws -> Token { token }
    }

    @Test(
        "A stored response is not used for a request with another cookie or secret field",
        arguments: Place.allCases,
        [true, false]
    )
    func otherSecrets(_ place: Place, _ isSignedIn: Bool) async throws {
        let (key, cookies) = (Locked("1"), CookieStore())
        let authentication: any Plugin
        if place == .credentialsCookie {
            let store = MemoryCredentialStore(isSignedIn ? Token(1) : nil)
            authentication = AuthenticationPlugin(authenticator: CookieAuthenticator(), store: store) { _ in }
        } else {
            authentication = SignOuts().plugin(TokenAuthenticator(), holding: isSignedIn ? 1 : nil)
        }
        let plugins: [any Plugin] = [authentication] + (place == .pluginField ? [KeyPlugin(key: key)] : [])
        let world = CacheWorld(plugins: plugins, cookies: place == .cookieStore ? cookies : nil)
        for value in ["1", "2"] {
            key.withLock { $0 = value }
            cookies.store(["org=\(value); Path=/"], from: .shop)
            world.answer { _ in .cacheable(value) }
            let target = CachedTarget(.get, "/list", place.headers(value))
            #expect(try await world.provider.request(target).body == value)
            #expect(try await world.provider.request(target).origin == .cache(age: .zero))
        }
        #expect(world.requests.count == 2)
    }

    @Test(
        "A signature in a field of the target's own, which differs for each request, does not keep it from the cache",
        arguments: ["X-Signature", "X-Ca-Signature", "X-Sign", "sign", "X-Request-Hmac"]
    )
    func signature(_ name: String) async throws {
        let world = CacheWorld()
        for value in ["1", "2"] {
            _ = try await world.provider.request(CachedTarget(.get, "/list", ["token": "a", name: value]))
        }
        #expect(world.requests.count == 1)
    }

    /// How the credential is kept between launches.
    enum Keeping: String, CaseIterable, Sendable {
        case file
        /// A file that was written without the identifier of a session.
        case oldFile
        /// A store of the app.
        case custom
    }

    private struct CustomStore: CredentialStore {
        let file: URL

        func load() async throws -> OAuthCredential? {
            guard let data = try? Data(contentsOf: file) else { return nil }
            return try JSONDecoder().decode(OAuthCredential.self, from: data)
        }

        func save(_ credential: OAuthCredential) async throws { try JSONEncoder().encode(credential).write(to: file) }
        func clear() async throws { try FileManager.default.removeItem(at: file) }
    }

    @Test(
        "After a relaunch the responses of the session are found, although its token was refreshed",
        arguments: Keeping.allCases
    )
    func relaunch(_ keeping: Keeping) async throws {
        let (folder, files) = (try TemporaryFolderOfCache(), try TemporaryFolder())
        let file = files.url.appending(path: "session.json")
        let store: any CredentialStore<OAuthCredential> =
            keeping == .custom ? CustomStore(file: file) : FileCredentialStore<OAuthCredential>(file)
        let credential = OAuthCredential(accessToken: "a", refreshToken: "r")
        try await store.save(credential)
        let launch = {
            let plugin = AuthenticationPlugin(
                authenticator: OAuthAuthenticator { OAuthCredential(accessToken: $0.accessToken + "+") },
                store: store
            ) { _ in
            }
            return (plugin, CacheWorld(storedIn: folder.url, plugins: [plugin]))
        }
        let (plugin, world) = launch()
        if keeping != .oldFile { try await plugin.signIn(credential) }
        _ = try await world.provider.request(CachedTarget())
        world.answer { $0.value(forHTTPHeaderField: "Authorization") == "Bearer a" ? .status(401) : .status(200) }
        _ = try await world.provider.request(CachedTarget(.get, "/other"))
        await world.cache.waitForWrites()
        let (next, later) = launch()
        #expect(try await next.credential?.accessToken == "a+")
        later.answer { _ in throw URLError(.notConnectedToInternet) }
        #expect(try await later.provider.request(CachedTarget()).body == "first")
        #expect(later.requests.count == 0)
    }

    @Test("After a relaunch another user does not find the responses of the one before", arguments: [true, false])
    func otherUser(_ hasSameToken: Bool) async throws {
        let (folder, files) = (try TemporaryFolderOfCache(), try TemporaryFolder())
        let store = FileCredentialStore<Token>(files.url.appending(path: "session.json"))
        let world = CacheWorld(
            storedIn: folder.url,
            plugins: [SignOuts().plugin(TokenAuthenticator(), store)]
        )
        try await store.save(Token(1))
        _ = try await world.provider.request(CachedTarget())
        await world.cache.waitForWrites()
        // Without a call before it, the sign-in removes no response.
        let plugin = SignOuts().plugin(TokenAuthenticator(), store)
        try await plugin.signIn(Token(hasSameToken ? 1 : 2))
        let later = CacheWorld(storedIn: folder.url, plugins: [plugin]) { _ in .cacheable("second") }
        #expect(try await later.provider.request(CachedTarget()).body == "second")
    }
}
