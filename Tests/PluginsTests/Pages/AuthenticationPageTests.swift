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

private let tokenURL = URL.shop.appending(path: "token")
private let authorizationURL = URL.shop.appending(path: "authorize")
private let deviceURL = URL.shop.appending(path: "device")
private let revocationURL = URL.shop.appending(path: "revoke")
private let redirectURI = URL.shop.appending(path: "signed-in")
private let transport = AuthenticationPageTests.server(accepting: "new", refreshing: #"{"access_token":"new"}"#)

@Suite("The page about authentication", .throttled, .timeLimit(.minutes(2)))
struct AuthenticationPageTests {
    private let session = Screen()
    private let folder: URL
    private let owner: TemporaryFolder

    init() throws {
        owner = try TemporaryFolder()
        folder = owner.url
    }

    @Test("Signing in, calling and signing out")
    func overview() async throws {
        let authentication = AuthenticationPlugin(
            authenticator: OAuthAuthenticator(client: OAuthClient(id: "shop-app", tokenURL: tokenURL)),
            store: FileCredentialStore<OAuthCredential>(folder.appending(path: "session.json"))
        ) { error in
            await session.showSignIn(because: error)
        }
        do {
            let provider = Provider<Orders>(plugins: [authentication])
            #expect(provider.scope.inFlightCount == 0)
        }
        let provider = Provider<Orders>(stubClosure: { _ in .immediate }, plugins: [authentication])
        let answer = try await provider.request(.signIn(user: "anna", password: "tea"))
        try await authentication.signIn(OAuthCredential(answer))
        let response = try await provider.request(.list)
        #expect(response.request?.value(forHTTPHeaderField: "Authorization") == "Bearer first")
        let forms = Recorder<String>()
        let client = Self.client(forms)
        if let credential = try await authentication.signOut() {
            try await client.revoke(credential, at: revocationURL)
        }
        #expect(forms.elements == ["client_id=shop-app&token=next&token_type_hint=refresh_token"])
        #expect(session.events.count == 0)
    }

    @Test("Signing in with a browser, on another device, and as a service")
    func clients() async throws {
        let (forms, key, browser) = (Recorder<String>(), PrivateKey(), Browser())
        let authenticator = OAuthAuthenticator { $0 }
        let authentication = AuthenticationPlugin(authenticator: authenticator) { _ in
        }
        do {
            let client = OAuthClient(id: "shop-app", tokenURL: tokenURL)
            #expect(client.id == "shop-app")
            let service = OAuthClient(
                id: "reports",
                tokenURL: tokenURL,
                authentication: .privateKeyJWT { audience in
                    try await key.signedToken(for: audience)
                }
            )
            #expect(service.id == "reports")
        }
        let client = Self.client(forms)
        let authorization = client.authorization(at: authorizationURL, redirectURI: redirectURI, scope: "orders")
        let callback = try await browser.open(authorization.url)
        try await authentication.signIn(client.credential(authorization.grant(from: callback)))
        #expect(try await authentication.credential?.accessToken == "new")
        func show(_ text: String) { session.events.append(text) }
        let device = try await client.deviceAuthorization(at: deviceURL)
        show("Open \(device.verificationURL) and enter \(device.userCode)")
        try await authentication.signIn(client.credential(for: device))
        #expect(session.events.elements == ["Open https://shop.example/device and enter WDJB"])
        let service = Self.client(forms, .privateKeyJWT { try await key.signedToken(for: $0) })
        let reports = AuthenticationPlugin(
            authenticator: OAuthAuthenticator(client: service, renewal: .clientCredentials())
        ) { _ in
        }
        try await reports.signIn(service.credential(.clientCredentials()))
        #expect(forms.elements.last?.contains("client_assertion=jwt") == true)
    }

    @Test("User and password")
    func credentials() async throws {
        let credentials = CredentialsPlugin { _ in
            URLCredential(user: "anna", password: "tea", persistence: .none)
        }
        let script = ScriptedTransport(.status(401, ["WWW-Authenticate": "Basic realm=a"]), .status(200))
        let provider = Provider<Orders>(transport: script.transport, plugins: [credentials])
        #expect(try await provider.request(.list).statusCode == 200)
    }

    @Test("The error of a refused refresh contains its code", arguments: [400, 503])
    func failure(_ status: Int) async throws {
        let transport = Self.server(accepting: "new", refreshing: #"{"error":"invalid_grant"}"#, status: status)
        let tokens = Provider<MultiTarget>(transport: transport)
        let client = OAuthClient(id: "shop-app", tokenURL: tokenURL) { try await tokens.request($0) }
        let authenticator = OAuthAuthenticator(client: client)
        let store = MemoryCredentialStore(OAuthCredential(accessToken: "old", refreshToken: "r"))
        let authentication = AuthenticationPlugin(authenticator: authenticator, store: store) { _ in
        }
        let provider = Provider<Orders>(transport: transport, plugins: [authentication])
        var reasons: [String] = []
        func showRetry() {}
        func show(_ text: String) { reasons.append("other") }
        do {
            _ = try await provider.request(.list)
        } catch {
            switch (error.kind, error.underlying as? OAuthError) {
            case (.unauthorized, .refused(let code, _, _)?): reasons.append(code)
            case (.offline, _): showRetry()
            default: show(error.localizedDescription)
            }
        }
        #expect(reasons == [status == 400 ? "invalid_grant" : "other"])
    }

    @Test("The refresh through the provider whose calls wait for it")
    func sameProvider() async throws {
        try await API.authentication.signIn(OAuthCredential(accessToken: "old", refreshToken: "r"))
        #expect(try await API.provider.request(MultiTarget(Orders.list)).statusCode == 200)
    }

    @Test("A custom store")
    func store() async throws {
        let store = VaultStore(vault: Vault())
        let credential = OAuthCredential(accessToken: "a", refreshToken: "r")
        try await store.save(credential)
        #expect(try await store.load() == credential)
        try await store.clear()
        #expect(try await store.load() == nil)
    }

    @Test("Tokens that a closure refreshes")
    func closure() async throws {
        let sessions = Sessions()
        let authenticator = OAuthAuthenticator(bodyCodes: [BodyCode(keyPath: "status", equals: 401)]) { old in
            let renewed = try await sessions.renew(old.refreshToken)
            return OAuthCredential(accessToken: renewed.token, refreshToken: renewed.next)
        }
        let store = MemoryCredentialStore(OAuthCredential(accessToken: "old", refreshToken: "r"))
        let plugin = AuthenticationPlugin(authenticator: authenticator, store: store) { _ in
        }
        let transport = StubTransport { request in
            let isNew = request.urlRequest.value(forHTTPHeaderField: "Authorization") == "Bearer new"
            return .response(status: 200, data: Data((isNew ? "{}" : #"{"status":401}"#).utf8))
        }
        let response = try await Provider<Orders>(transport: transport, plugins: [plugin]).request(.list)
        #expect(response.data == Data("{}".utf8))
        #expect(store.load()?.refreshToken == "r+")
    }

    @Test("A custom authenticator")
    func ownAuthenticator() async throws {
        let keys = SessionKeys { _ in "new" }
        let plugin = AuthenticationPlugin(authenticator: keys, store: MemoryCredentialStore("old")) { _ in
        }
        let provider = Provider<Orders>(transport: Self.server(accepting: "new"), plugins: [plugin])
        #expect(try await provider.request(.list).statusCode == 200)
    }

    @Test("Beside the plugin that signs out", arguments: [true, false])
    func unauthorized(_ succeeds: Bool) async throws {
        let authenticator = OAuthAuthenticator { _ in
            guard succeeds else { throw Boom() }
            return OAuthCredential(accessToken: "new")
        }
        let store = MemoryCredentialStore(OAuthCredential(accessToken: "old"))
        let authentication = AuthenticationPlugin(authenticator: authenticator, store: store) { _ in
        }
        let unauthorized = UnauthorizedPlugin(after: authentication) { _ in
            await session.signOut()
        }
        do {
            let provider = Provider<Orders>(plugins: [authentication, unauthorized])
            #expect(provider.scope.inFlightCount == 0)
        }
        let plugins: [any Plugin] = [authentication, unauthorized]
        let provider = Provider<Orders>(transport: Self.server(accepting: "new"), plugins: plugins)
        #expect((await provider.result(.list).failure == nil) == succeeds)
        #expect(session.events.elements == (succeeds ? [] : ["signed out"]))
    }
}

// MARK: - The app of the page

extension AuthenticationPageTests {
    enum Orders: TargetType {
        case list
        case signIn(user: String, password: String)

        var options: CallOptions {
            switch self {
            case .list: .init()
            case .signIn: .setting(\.authorization, .none).setting(\.endsSessionOnUnauthorized, false)
            }
        }

        // baseURL and path
        var baseURL: URL { .shop }
        var path: RequestPath { "/orders" }
        var sampleData: Data { Data(#"{"access_token":"first","refresh_token":"next","expires_in":3600}"#.utf8) }
        var validation: StatusValidation { .successCodes }
    }

    /// What the page's app shows.
    struct Screen: Sendable {
        let events = Recorder<String>()

        func showSignIn(because error: any Error) async { events.append("sign in: \(error)") }
        func signOut() async { events.append("signed out") }
    }

    struct Sessions: Sendable {
        func renew(_ token: String?) async throws -> (token: String, next: String) { ("new", (token ?? "") + "+") }
    }

    struct Vault: Sendable {
        private let contents = Locked<[String: Data]>([:])

        func read(_ name: String) async throws -> Data? { contents.withLock { $0[name] } }
        func write(_ data: Data, to name: String) async throws { contents.withLock { $0[name] = data } }
        func remove(_ name: String) async throws { contents.withLock { $0[name] = nil } }
    }

    struct VaultStore: CredentialStore {
        let vault: Vault

        func load() async throws -> OAuthCredential? {
            guard let data = try await vault.read("session") else { return nil }
            return try JSONDecoder().decode(OAuthCredential.self, from: data)
        }

        func save(_ credential: OAuthCredential) async throws {
            try await vault.write(JSONEncoder().encode(credential), to: "session")
        }

        func clear() async throws {
            try await vault.remove("session")
        }
    }

    struct Browser: Sendable {
        /// The server's answer, which repeats the state.
        func open(_ url: URL) async throws -> URL {
            let items = URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems ?? []
            let state = items.filter { $0.name == "state" }
            return redirectURI.appending(queryItems: state + [URLQueryItem(name: "code", value: "c")])
        }
    }

    struct PrivateKey: Sendable {
        func signedToken(for audience: URL) async throws -> String { "jwt" }
    }

    /// A client whose server gives out a token for every grant.
    static func client(
        _ forms: Recorder<String>,
        _ authentication: OAuthClient.Authentication = .none
    ) -> OAuthClient {
        let answer =
            #"{"access_token":"new","device_code":"d","user_code":"WDJB","expires_in":60,"interval":1,"#
            + #""verification_uri":"https://shop.example/device"}"#
        let provider = Provider<MultiTarget>(
            transport: StubTransport { request in
                if case .data(let data) = request.body { forms.append(String(decoding: data, as: UTF8.self)) }
                return .response(status: 200, data: Data(answer.utf8))
            }
        )
        return OAuthClient(id: "shop-app", tokenURL: tokenURL, authentication: authentication) { request in
            try await provider.request(request)
        }
    }

    struct SessionKeys: Authenticator {
        let renew: @Sendable (String) async throws -> String

        var secretHeaders: Set<HTTPHeaderName> { ["X-Session-Key"] }

        func apply(_ key: String, to request: inout URLRequest) {
            request.setValue(key, forHTTPHeaderField: "X-Session-Key")
        }

        func refresh(_ key: String) async throws -> String { try await renew(key) }
    }

    /// A server that accepts one token, whatever the field that it is in.
    static func server(accepting token: String, refreshing answer: String = "{}", status: Int = 200) -> StubTransport {
        StubTransport { request in
            if request.urlRequest.url?.lastPathComponent == "token" {
                return .response(status: status, data: Data(answer.utf8))
            }
            let fields = request.urlRequest.allHTTPHeaderFields ?? [:]
            let isGood = fields.values.contains { $0.hasSuffix(token) }
            return .response(status: isGood ? 200 : 401, data: Data("{}".utf8))
        }
    }

    enum API {
        static let client = OAuthClient(id: "shop-app", tokenURL: tokenURL) { request in
            try await provider.request(request)
        }
        static let authentication = AuthenticationPlugin(authenticator: OAuthAuthenticator(client: client)) { _ in
        }
        static let provider: Provider<MultiTarget> = Provider(
            transport: transport,
            plugins: [authentication],
            redirects: .none
        )
    }
}
