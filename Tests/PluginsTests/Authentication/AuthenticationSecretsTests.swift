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

@Suite("Authentication: secrets", .throttled, .timeLimit(.minutes(2)))
struct AuthenticationSecretsTests {
    /// An authenticator with a header field of its own.
    private struct KeyAuthenticator: Authenticator {
        var secretHeaders: Set<HTTPHeaderName> { ["X-Session-Key"] }

        func apply(_ token: Token, to request: inout URLRequest) {
            request.setValue("key-\(token.number)", forHTTPHeaderField: "X-Session-Key")
        }

        func refresh(_ token: Token) -> Token { Token(token.number + 1) }
    }

    private let signOuts = SignOuts()

    @Test(
        "No redirect sends the credential to another origin, whose 401 is not a rejection",
        arguments: [302, 307]
    )
    func redirects(_ status: Int) async throws {
        let other = try TestServer(response: .status(401))
        let location = other.baseURL.appending(path: "landing").absoluteString
        let server = try TestServer(response: .redirect(to: location, status: status))
        let keys = AuthenticationPlugin(authenticator: KeyAuthenticator(), store: MemoryCredentialStore(Token(1))) {
            _ in
        }
        let bearer = signOuts.plugin(TokenAuthenticator())
        let target = PluginTarget(baseURL: server.baseURL)
        for plugin in [keys, bearer] as [any Plugin] {
            let response = try await Provider<PluginTarget>(plugins: [plugin]).request(target)
            #expect(response.statusCode == 401)
        }
        #expect(server.requests.map { $0.headers["X-Session-Key"] } == ["key-1", nil])
        #expect(server.requests.map { $0.headers["Authorization"] } == [nil, "Bearer token-1"])
        #expect(other.requestCount == 2)
        for request in other.requests {
            #expect(request.headers["Authorization"] == nil)
            #expect(request.headers["X-Session-Key"] == nil)
        }
    }

    @Test("A redirect within the origin keeps it, and a 401 at its end is a rejection")
    func sameOrigin() async throws {
        let server = try TestServer { request in
            guard request.path == "/landing" else { return .redirect(to: "/landing") }
            return .status(request.headers["Authorization"] == "Bearer token-2" ? 200 : 401)
        }
        let provider = Provider<PluginTarget>(plugins: [signOuts.plugin(TokenAuthenticator())])
        #expect(try await provider.request(PluginTarget(baseURL: server.baseURL)).statusCode == 200)
        #expect(server.requestCount == 4)
    }

    @Test(
        "A request that was processed before the redirect to a 401 is not sent again, and the next has a new credential",
        arguments: [301, 302, 303, 307]
    )
    func processedBeforeRedirect(_ status: Int) async throws {
        let server = try TestServer { request in
            guard request.path == "/landing" else { return .redirect(to: "/landing", status: status) }
            return .status(request.headers["Authorization"] == "Bearer token-2" ? 200 : 401)
        }
        let provider = Provider<PluginTarget>(plugins: [signOuts.plugin(TokenAuthenticator())])
        let target = PluginTarget(baseURL: server.baseURL, method: .post)
        #expect(try await provider.request(target).statusCode == (status == 307 ? 200 : 401))
        #expect(server.requests.count { $0.path != "/landing" } == (status == 307 ? 2 : 1))
        #expect(try await provider.request(target).statusCode == 200)
        #expect(signOuts.count == 0)
    }

    @Test("By default a refresh does not follow redirects", arguments: [302, 307])
    func refreshRedirect(_ status: Int) async throws {
        let other = try TestServer(response: .json(#"{"access_token":"stolen"}"#))
        let server = try TestServer(response: .redirect(to: other.baseURL.absoluteString, status: status))
        let authenticator = OAuthAuthenticator(client: OAuthClient(id: "app", tokenURL: server.baseURL))
        await #expect(throws: OAuthError.unexpectedStatus(status)) {
            try await authenticator.refresh(OAuthCredential(accessToken: "a", refreshToken: "r"))
        }
        #expect(server.requestCount == 1)
        #expect(other.requestCount == 0)
    }

    @Test(
        "No token request follows a redirect to another origin, whatever the policy of the provider that sends it",
        arguments: [302, 307, 308]
    )
    func redirectOfAProvider(_ status: Int) async throws {
        let other = try TestServer(response: .json(#"{"access_token":"stolen"}"#))
        let server = try TestServer(response: .redirect(to: other.baseURL.absoluteString, status: status))
        for policy in [RedirectPolicy.follow(), .custom { next, _ in next }] {
            let provider = Provider<MultiTarget>(redirects: policy)
            let client = OAuthClient(id: "app", tokenURL: server.baseURL, authentication: .form(secret: "s")) {
                target in
                try await provider.request(target)
            }
            await #expect(throws: OAuthError.unexpectedStatus(status)) {
                try await client.credential(.clientCredentials())
            }
        }
        #expect(server.requestCount == 2)
        #expect(other.requestCount == 0)
    }

    @Test(
        "Neither log nor error shows a token, whether the refresh succeeds or fails",
        arguments: [true, false]
    )
    func logsAndErrors(_ refreshSucceeds: Bool) async throws {
        let lines = Recorder<String>()
        let logger = NetworkLoggerPlugin(level: .body) { lines.append($0) }
        let transport = StubTransport { request in
            guard request.urlRequest.url?.lastPathComponent == "token" else {
                let isNew = request.urlRequest.value(forHTTPHeaderField: "Authorization") == "Bearer new-access"
                return .response(status: isNew ? 200 : 401, data: Data("{}".utf8))
            }
            let good = #"{"access_token":"new-access","refresh_token":"new-refresh"}"#
            let bad = #"{"error":"invalid_grant","error_description":"it was revoked"}"#
            return .response(status: refreshSucceeds ? 200 : 400, data: Data((refreshSucceeds ? good : bad).utf8))
        }
        let tokens = Provider<MultiTarget>(transport: transport, plugins: [logger])
        let client = OAuthClient(
            id: "app",
            tokenURL: URL.shop.appending(path: "token"),
            authentication: .form(secret: "app-secret")
        ) { target in
            try await tokens.request(target)
        }
        let authenticator = OAuthAuthenticator(client: client)
        let credential = OAuthCredential(accessToken: "old-access", refreshToken: "old-refresh")
        let plugin = AuthenticationPlugin(
            authenticator: authenticator,
            store: MemoryCredentialStore(credential)
        ) { error in
            lines.append("\(error) \(error.localizedDescription)")
        }
        let provider = Provider<PluginTarget>(transport: transport, plugins: [plugin, logger])
        let result = await provider.result(PluginTarget())
        #expect((result.failure == nil) == refreshSucceeds)
        if let error = result.failure {
            #expect("\(error)".contains("invalid_grant"))
            lines.append("\(error) \(error.localizedDescription)")
        }
        let shown = lines.elements.joined(separator: "\n")
        #expect(shown.contains("Authorization"))
        for secret in ["old-access", "old-refresh", "new-access", "new-refresh", "app-secret"] {
            #expect(!shown.contains(secret), "\(secret)")
        }
    }

    /// The target of a refresh, which holds a secret.
    private struct SecretTarget: TargetType {
        let secret: String
        var baseURL: URL { .shop }
        var path: RequestPath { "/token" }
    }

    @Test(
        "The caller's error contains neither the refresh's request nor its response",
        arguments: [503, 403, 200],
        [true, false]
    )
    func refreshErrors(_ status: Int, _ isEarly: Bool) async throws {
        var request = URLRequest(url: .shop)
        request.httpBody = Data("refresh_token=hunter2".utf8)
        let inner = TargetKitError(
            stage: status == 200 ? .decoding : .status,
            target: SecretTarget(secret: "hunter2"),
            request: request,
            response: Response(statusCode: status, data: Data("hunter2".utf8), request: request)
        )
        let outer = TargetKitError(
            stage: inner.stage,
            target: inner.target,
            request: request,
            response: inner.response,
            underlying: inner
        )
        let authenticator = TokenAuthenticator(renew: { _ in throw outer }, isDue: { _ in isEarly })
        let plugin = signOuts.plugin(authenticator)
        let provider = Provider<PluginTarget>(transport: TokenServer().transport, plugins: [plugin])
        let error = try #require(await provider.result(PluginTarget()).failure)
        #expect(error.target is PluginTarget)
        #expect(error.request?.url?.lastPathComponent == "things")
        #expect(error.kind == (status == 503 ? .server : status == 403 ? .unauthorized : .decoding))
        var layer: TargetKitError? = error
        var depth = 0
        while let error = layer {
            #expect(!(error.target is SecretTarget))
            #expect(error.request?.httpBody == nil)
            #expect(error.response?.request?.httpBody == nil)
            #expect(error.response.map { !$0.data.contains(UInt8(ascii: "h")) } ?? true)
            layer = error.underlying as? TargetKitError
            depth += 1
        }
        #expect(depth == (status == 403 ? 3 : 2))
    }
}
