// SPDX-License-Identifier: MIT
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

/// Whose responses are stored, and for whom.
@Suite("Cache: owners", .throttled, .timeLimit(.minutes(2)))
struct CacheOwnerTests {
    private static func login(_ user: String) -> CredentialsPlugin {
        CredentialsPlugin { _ in URLCredential(user: user, password: "open sesame", persistence: .none) }
    }

    private static let challenges = [
        #"Basic realm="reports""#, #"Digest realm="reports", qop="auth", nonce="1", algorithm=SHA-256"#,
    ]

    @Test("After a relaunch, the responses of a user with a password are read offline", arguments: challenges)
    func password(_ challenge: String) async throws {
        let folder = try TemporaryFolderOfCache()
        let world = CacheWorld(storedIn: folder.url, plugins: [Self.login("anna")]) { request in
            request.value(forHTTPHeaderField: "Authorization") == nil
                ? .status(401, ["WWW-Authenticate": challenge]) : .cacheable("Anna's")
        }
        let target = CachedTarget().validated().with(.staleOnFailure)
        #expect(try await world.provider.request(target).body == "Anna's")
        #expect(try await world.provider.request(target).origin == .cache(age: .zero))
        await world.cache.waitForWrites()
        for (user, isOwner) in [("anna", true), ("bob", false)] {
            let later = CacheWorld(storedIn: folder.url, plugins: [Self.login(user)]) { _ in
                .error(.notConnectedToInternet)
            }
            #expect((await later.provider.result(target).failure == nil) == isOwner)
            later.pass(70)
            #expect((await later.provider.result(target).failure == nil) == isOwner)
            #expect((await later.provider.result(target.with(.onlyCached)).failure == nil) == isOwner)
        }
        let guest = CacheWorld(storedIn: folder.url) { _ in .error(.notConnectedToInternet) }
        #expect(await guest.provider.result(target).failure != nil)
    }

    @Test("The app isn't asked for a password of a server that sends no challenge", arguments: [true, false])
    func unasked(isStored: Bool) async throws {
        let asked = Tally()
        let plugin = CredentialsPlugin { _ in
            asked.add()
            return nil
        }
        let world = CacheWorld(plugins: [plugin])
        for path in ["/list", isStored ? "/list" : "/other"] as [RequestPath] {
            _ = try await world.provider.request(CachedTarget(.get, path))
        }
        #expect(asked.value == 0)
    }

    @Test("The first responses after a sign-in or a removal stay in the folder", arguments: [true, false])
    func firstResponses(afterSignIn: Bool) async throws {
        let folder = try TemporaryFolderOfCache()
        let authentication = SignOuts().plugin(TokenAuthenticator())
        let world = CacheWorld(storedIn: folder.url, plugins: [authentication])
        let paths: [RequestPath] = ["/1", "/2", "/3"]
        for number in 1...20 {
            _ = try await world.provider.request(CachedTarget(.get, "/old"))
            await world.cache.waitForWrites()
            let (events, begun) = (world.cache.events, Gate())
            let removal = Task {
                guard !afterSignIn else { return }
                await world.cache.removeAll { entry in
                    begun.open()
                    return entry.isPersonal
                }
            }
            if afterSignIn {
                try await authentication.signIn(Token(number + 1))
            } else {
                await begun.wait()
            }
            for path in paths { _ = try await world.provider.request(CachedTarget(.get, path)) }
            await removal.value
            for await event in events {
                if case .removed = event { break }
            }
            await world.cache.waitForWrites()
            #expect(folder.entries.count == 3)
            for path in paths {
                #expect(await world.provider.result(CachedTarget(.get, path).with(.onlyCached)).failure == nil)
            }
            #expect(await world.provider.result(CachedTarget(.get, "/old").with(.onlyCached)).failure != nil)
        }
    }

    /// Sends a token in a field.
    private struct DeviceAuthenticator: Authenticator {
        let isDue: Locked<Bool>
        var secretHeaders: Set<HTTPHeaderName> { ["X-Device-Token"] }

        func apply(_ token: Token, to request: inout URLRequest) {
            request.setValue(token.field, forHTTPHeaderField: "X-Device-Token")
        }

        func needsRefresh(_ token: Token) -> Bool { isDue.withLock(\.self) }

        func refresh(_ token: Token) async throws -> Token {
            isDue.withLock { $0 = false }
            return Token(token.number + 1)
        }
    }

    @Test("With two credentials, the sessions of both are the owner of a response", arguments: [0, 1])
    func twoCredentials(changed index: Int) async throws {
        let dues = [Locked(false), Locked(false)]
        let user = SignOuts().plugin(
            TokenAuthenticator(
                renew: { token in
                    dues[0].withLock { $0 = false }
                    return Token(token.number + 1)
                },
                isDue: { _ in dues[0].withLock(\.self) }
            )
        )
        let device = AuthenticationPlugin(authenticator: DeviceAuthenticator(isDue: dues[1])) { _ in }
        try await device.signIn(Token(1))
        let world = CacheWorld(plugins: [user, device])
        let target = CachedTarget().with(.cachedElseLoad)
        _ = try await world.provider.request(target)
        // A refresh of one of them, whose response belongs to the same owner.
        dues[index].withLock { $0 = true }
        _ = try await world.provider.request(CachedTarget(.get, "/other"))
        #expect(dues[index].withLock(\.self) == false)
        #expect(try await world.provider.request(CachedTarget(.get, "/other")).origin == .cache(age: .zero))
        #expect(try await world.provider.request(target).origin == .cache(age: .zero))
        if index == 0 { try await user.signIn(Token(8)) } else { try await device.signIn(Token(8)) }
        #expect(try await world.provider.request(target).origin == .network)
    }

    /// A response that contains credentials.
    enum Returned: String, CaseIterable, Sendable {
        case accessToken, nested, session, header, form

        var body: String {
            switch self {
            case .accessToken: #"{"access_token":"s3cret","token_type":"bearer","expires_in":3600}"#
            case .nested: #"{"code":0,"data":{"user":{"name":"Anna"},"token":{"access":"s3cret"}}}"#
            case .session: #"{"openid":"1","session_key":"s3cret"}"#
            case .header: "{}"
            case .form: "access_token=s3cret&token_type=bearer"
            }
        }

        var headers: HTTPHeaders {
            switch self {
            case .header: ["X-Auth-Token": "s3cret"]
            case .form: ["Content-Type": "application/x-www-form-urlencoded"]
            default: [:]
            }
        }
    }

    @Test(
        "A response with credentials isn't stored unless the server allows it for its user",
        arguments: Returned.allCases,
        [true, false]
    )
    func credentials(_ token: Returned, hasPassword: Bool) async throws {
        let folder = try TemporaryFolderOfCache()
        let world = CacheWorld(storedIn: folder.url) { _ in
            .response(status: 200, headers: token.headers, data: Data(token.body.utf8))
        }
        let fields: HTTPHeaders = hasPassword ? ["Authorization": "Basic YTpi"] : [:]
        let target = CachedTarget(.get, "/login", fields).with(.cachedElseLoad)
        for _ in 0..<2 { #expect(try await world.provider.request(target).origin == .network) }
        await world.cache.waitForWrites()
        #expect(await world.cache.size == (0, 0))
        world.answer { _ in
            let headers = token.headers.merging(["Cache-Control": "max-age=60"])
            return .response(status: 200, headers: headers, data: Data(token.body.utf8))
        }
        _ = try await world.provider.request(target)
        #expect(try await world.provider.request(target).origin == (hasPassword ? .cache(age: .zero) : .network))
        await world.cache.removeAll(where: \.isPersonal)
        #expect(await world.cache.size == (0, 0))
    }

    @Test(
        "Names that only resemble those of credentials don't keep a response from the cache",
        arguments: [
            #"{"nextPageToken":"abc","csrf_token":"1","token":null,"tokens":12,"session":{}}"#,
            #"["access_token"]"#, #"{"text":"\"access_token\":\"1\""}"#, "access_token", #"{"access_token":""}"#,
        ]
    )
    func harmless(_ body: String) async throws {
        let world = CacheWorld { _ in .response(status: 200, data: Data(body.utf8)) }
        let target = CachedTarget().with(.cachedElseLoad)
        for _ in 0..<2 { _ = try await world.provider.request(target) }
        #expect(world.requests.count == 1)
    }

    @Test(
        "The response to a request with a credential in its URL is personal",
        arguments: [("access_token=1", true), ("password=1", true), ("page_token=1", false), ("q=token", false)]
    )
    func credentialInURL(_ query: String, isPersonal: Bool) async throws {
        let world = CacheWorld()
        var target = CachedTarget()
        let parts = query.split(separator: "=").map(String.init)
        target.task = .query([parts[0]: parts[1]])
        _ = try await world.provider.request(target)
        #expect(try await world.provider.request(target).origin == .cache(age: .zero))
        await world.cache.removeAll(where: \.isPersonal)
        #expect((await world.provider.result(target.with(.onlyCached)).failure != nil) == isPersonal)
    }
}
