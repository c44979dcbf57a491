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

@Suite("OAuth client", .throttled, .timeLimit(.minutes(2)))
struct OAuthClientTests {
    private let time = Locked(Date(timeIntervalSince1970: 1_000_000))

    /// A client whose requests are answered one after another, and the requests.
    private func client(
        _ authentication: OAuthClient.Authentication = .none,
        _ answers: (Int, String)...
    ) throws -> (client: OAuthClient, backend: RunningBackend) {
        let next = Locked(0)
        let backend = try RunningBackend(.stub) { _ in
            let index = next.withLock { index in
                defer { index += 1 }
                return index
            }
            let (status, body) = answers[min(index, answers.count - 1)]
            if status == 0 { throw URLError(.timedOut) }
            return .response(status: status, data: Data(body.utf8))
        }
        let provider = Provider<MultiTarget>(transport: backend.transport)
        let client = OAuthClient(
            id: "app",
            tokenURL: .shop.appending(path: "token"),
            authentication: authentication,
            send: { try await provider.request($0) },
            now: { [time] in time.withLock { $0 } }
        )
        return (client, backend)
    }

    private static let token = #"{"access_token":"new","token_type":"Bearer","expires_in":60}"#

    @Test("Client credentials are a form with the client's own authentication (RFC 6749 §4.4.2)")
    func clientCredentials() async throws {
        let (client, backend) = try client(.basic(secret: "s"), (200, Self.token))
        #expect(try await client.credential(.clientCredentials(scope: "read write")).accessToken == "new")
        #expect(backend.requests.map(\.text) == ["grant_type=client_credentials&scope=read%20write"])
        #expect(backend.requests.first?.headers[.authorization] == "Basic YXBwOnM=")
    }

    @Test("A token without a refresh token is renewed by the grant, before it expires")
    func renewal() async throws {
        let (client, backend) = try client(.form(secret: "s"), (200, Self.token), (200, #"{"access_token":"next"}"#))
        let authenticator = OAuthAuthenticator(client: client, renewal: .clientCredentials())
        let first = try await client.credential(.clientCredentials())
        #expect(!authenticator.needsRefresh(first))
        time.withLock { $0 += 31 }
        #expect(authenticator.needsRefresh(first))
        #expect(try await authenticator.refresh(first).accessToken == "next")
        #expect(backend.requests.last?.text == "client_id=app&client_secret=s&grant_type=client_credentials")
        #expect(!OAuthAuthenticator(client: client).needsRefresh(first))
    }

    @Test("A JWT is signed for each request, and no error shows it")
    func privateKeyJWT() async throws {
        let audiences = Recorder<URL>()
        let authentication = OAuthClient.Authentication.privateKeyJWT { audience in
            audiences.append(audience)
            return "header.payload.signature-\(audiences.count)"
        }
        let refusal = #"{"error":"invalid_client","error_description":"what is header.payload.signature-2?"}"#
        let (client, backend) = try client(authentication, (200, Self.token), (401, refusal))
        _ = try await client.credential(.clientCredentials())
        let form = try #require(backend.requests.first?.text)
        #expect(form.contains("client_assertion=header.payload.signature-1"))
        #expect(form.contains("client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer"))
        let error = await #expect(throws: OAuthError.self) { try await client.credential(.clientCredentials()) }
        #expect(error.map { "\($0)".contains("signature-2") } == false)
        #expect(audiences.elements == [.shop.appending(path: "token"), .shop.appending(path: "token")])
    }

    @Test("The refresh token is revoked, or else the access token (RFC 7009 §2.1)", arguments: ["r", nil])
    func revocation(_ refreshToken: String?) async throws {
        let (client, backend) = try client(.none, (200, ""), (400, #"{"error":"unsupported_token_type"}"#))
        let credential = OAuthCredential(accessToken: "a", refreshToken: refreshToken)
        let url = URL.shop.appending(path: "revoke")
        try await client.revoke(credential, at: url)
        let expected =
            refreshToken == nil
            ? "client_id=app&token=a&token_type_hint=access_token"
            : "client_id=app&token=r&token_type_hint=refresh_token"
        #expect(backend.requests.map(\.text) == [expected])
        #expect(backend.requests.first?.target == "/api/revoke")
        await #expect(throws: OAuthError.refused(code: "unsupported_token_type", message: nil, statusCode: 400)) {
            try await client.revoke(credential, at: url)
        }
    }

    @Test("Another grant is a form with its type and fields")
    func otherGrant() async throws {
        let (client, backend) = try client(.none, (200, Self.token))
        _ = try await client.credential(OAuthGrant(type: "password", fields: ["username": "a", "password": "b"]))
        #expect(backend.requests.first?.text == "client_id=app&grant_type=password&password=b&username=a")
    }
}

// MARK: - Authorization code

extension OAuthClientTests {
    private static let redirectURI = URL(string: "shop://signed-in") ?? .shop

    private func authorization(_ endpoint: String, verifier: String = "v", state: String = "s") throws
        -> OAuthAuthorization
    {
        OAuthAuthorization(
            try #require(URL(string: endpoint)),
            clientID: "app",
            redirectURI: Self.redirectURI,
            scope: "read write",
            parameters: ["prompt": "login", "client_id": "other"],
            state: state,
            verifier: verifier
        )
    }

    private func callback(_ query: String) throws -> URL {
        try #require(URL(string: "shop://signed-in?" + query))
    }

    @Test("The challenge of RFC 7636's example, appendix B")
    func challenge() {
        #expect(
            OAuthAuthorization.challenge(for: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
                == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        )
    }

    @Test(
        "The URL has the parameters of RFC 6749 §4.1.1 and RFC 7636 §4.3, after those of the endpoint",
        arguments: [("https://login.example/auth", "?"), ("https://login.example/auth?tenant=7", "?tenant=7&")]
    )
    func url(_ endpoint: String, _ start: String) throws {
        let url = try authorization(endpoint).url.absoluteString
        #expect(url.hasPrefix("https://login.example/auth" + start + "client_id=app&code_challenge="))
        #expect(
            url.hasSuffix(
                "&code_challenge_method=S256&prompt=login&redirect_uri=shop%3A%2F%2Fsigned-in&response_type=code"
                    + "&scope=read%20write&state=s"
            )
        )
    }

    @Test("The code is exchanged with the verifier and the redirect URI")
    func exchange() async throws {
        let (client, backend) = try client(.none, (200, Self.token))
        let authorization = try authorization("https://login.example/auth", verifier: "verifier")
        let grant = try authorization.grant(from: callback("state=s&code=c%2F1"))
        #expect(try await client.credential(grant).accessToken == "new")
        #expect(
            backend.requests.first?.text
                == "client_id=app&code=c/1&code_verifier=verifier&grant_type=authorization_code"
                + "&redirect_uri=shop%3A//signed-in"
        )
    }

    @Test("A response to another authorization, without a code, or with an error has no grant")
    func refusals() throws {
        let authorization = try authorization("https://login.example/auth")
        for query in [
            "code=c", "state=other&code=c", "state=&code=c", "error=access_denied", "state=s", "state=s&code=",
        ] {
            #expect(throws: OAuthError.self) { try authorization.grant(from: callback(query)) }
        }
        #expect(throws: OAuthError.refused(code: "access_denied", message: "no", statusCode: 302)) {
            try authorization.grant(from: callback("state=s&error=access_denied&error_description=no"))
        }
    }

    @Test(
        "A URL that is not the redirect URI, or repeats a parameter, has no grant",
        arguments: [
            "other://signed-in?state=s&code=c", "shop://other?state=s&code=c", "shop://signed-in/more?state=s&code=c",
            "shop://signed-in:8080?state=s&code=c", "shop://user@signed-in?state=s&code=c",
            "shop://signed-in?state=s&code=c&code=d", "shop://signed-in?state=s&state=s&code=c",
            "shop://signed-in?state=s&code=c&iss=a&iss=b", "shop://signed-in?state=s&error=a&error=b",
        ]
    )
    func otherURLs(_ text: String) throws {
        let authorization = try authorization("https://login.example/auth")
        let url = try #require(URL(string: text))
        #expect(throws: OAuthError.self) { try authorization.grant(from: url) }
    }

    @Test(
        "A redirect to the same URL in another spelling has a grant",
        arguments: [
            ("shop://signed-in", "SHOP://Signed-In?state=s&code=c"),
            ("shop:/signed-in", "shop:/signed-in?code=c&state=s"),
            ("https://shop.example", "https://shop.example/?code=c&state=s"),
            ("https://shop.example:443/in", "https://shop.example/in?code=c&state=s#_=_"),
            ("http://127.0.0.1/in", "http://127.0.0.1:51004/in?code=c&state=s"),
            ("http://127.0.0.1:7/in?a=b", "http://127.0.0.1:7/in?a=b&code=c&state=s"),
        ]
    )
    func sameURL(_ redirectURI: String, _ callback: String) throws {
        let authorization = OAuthAuthorization(
            .shop,
            clientID: "app",
            redirectURI: try #require(URL(string: redirectURI)),
            scope: nil,
            parameters: [:],
            state: "s",
            verifier: "v"
        )
        let url = try #require(URL(string: callback))
        #expect(throws: Never.self) { try authorization.grant(from: url) }
    }

    @Test("A response of another server, or without an issuer, has no grant (RFC 9207)")
    func issuers() throws {
        let client = OAuthClient(id: "app", tokenURL: .shop)
        let authorization = client.authorization(
            at: .shop,
            redirectURI: Self.redirectURI,
            issuer: "https://login.example"
        )
        let state = try Stored(authorization).state
        for issuer in ["", "&iss=", "&iss=https://evil.example", "&iss=https://login.example/"] {
            let url = try callback("state=\(state)&code=c\(issuer)")
            #expect(throws: OAuthError.self) { try authorization.grant(from: url) }
        }
        let url = try callback("state=\(state)&code=c&iss=https%3A%2F%2Flogin.example")
        #expect(throws: Never.self) { try authorization.grant(from: url) }
    }

    @Test("States and verifiers are random, of the length that RFC 7636 §4.1 allows, and stored with the authorization")
    func random() throws {
        let client = OAuthClient(id: "app", tokenURL: .shop)
        let authorizations = (0..<20).map { _ in client.authorization(at: .shop, redirectURI: Self.redirectURI) }
        #expect(Set(authorizations.map(\.url)).count == 20)
        let stored = try JSONEncoder().encode(authorizations[0])
        #expect(try JSONDecoder().decode(OAuthAuthorization.self, from: stored) == authorizations[0])
        let secrets = try JSONDecoder().decode(Stored.self, from: stored)
        #expect(secrets.verifier.count == 43)
        #expect(secrets.state.count == 43)
        var shown = "\(authorizations[0])"
        dump(authorizations[0], to: &shown)
        #expect(!shown.contains(secrets.verifier))
    }

    /// What an app stores of an authorization.
    private struct Stored: Decodable {
        var state: String
        var verifier: String

        init(_ authorization: OAuthAuthorization) throws {
            self = try JSONDecoder().decode(Self.self, from: JSONEncoder().encode(authorization))
        }
    }
}

// MARK: - Device code

extension OAuthClientTests {
    private static let device = #"""
        {"device_code":"d","user_code":"WDJB-MJHT","verification_uri":"https://login.example/device","expires_in":1800,
        "verification_uri_complete":"https://login.example/device?user_code=WDJB-MJHT"}
        """#
    private static let pending = (400, #"{"error":"authorization_pending"}"#)

    @Test("A device asks as often as the server allows until the user has signed in (RFC 8628 §3.5)")
    func device() async throws {
        let (client, backend) = try client(
            .none,
            (200, Self.device),
            Self.pending,
            (400, #"{"error":"slow_down"}"#),
            (0, ""),
            (502, "<html>"),
            Self.pending,
            (200, Self.token)
        )
        let device = try await client.deviceAuthorization(at: .shop.appending(path: "device"), scope: "read")
        #expect(backend.requests.first?.text == "client_id=app&scope=read")
        #expect(device.userCode == "WDJB-MJHT")
        #expect(device.verificationURL.absoluteString == "https://login.example/device")
        #expect(device.completeVerificationURL?.query() == "user_code=WDJB-MJHT")
        #expect(device.expiresAt == time.withLock { $0 } + 1800)
        let clock = ManualClock()
        let (credential, sleeps) = await clock.stepping { try? await client.credential(for: device, clock: clock) }
        #expect(credential?.accessToken == "new")
        #expect(sleeps == [5, 5, 10, 20, 40, 40].map { .seconds($0) })
        #expect(
            backend.requests.last?.text
                == "client_id=app&device_code=d&grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code"
        )
    }

    @Test("A refusal, an expired code and a cancelled task end the wait")
    func deviceEnds() async throws {
        let (client, _) = try client(.none, (200, Self.device), Self.pending, (400, #"{"error":"access_denied"}"#))
        let (device, clock) = (try await client.deviceAuthorization(at: .shop), ManualClock())
        let wait = { @Sendable in
            await Result { () async throws(OAuthError) in
                do { return try await client.credential(for: device, clock: clock) } catch let error as OAuthError {
                    throw error
                } catch {
                    throw .unreadable("\(type(of: error))")
                }
            }
        }
        let denied = await clock.stepping { await wait() }.value
        #expect(denied.failure == .refused(code: "access_denied", message: nil, statusCode: 400))
        let cancelled = Task { await wait() }
        try await clock.waitForSleepers()
        cancelled.cancel()
        #expect(await cancelled.value.failure == .unreadable("CancellationError"))
        time.withLock { $0 += 1800 }
        let expired = await clock.stepping { await wait() }.value
        #expect(expired.failure == .refused(code: "expired_token", message: nil, statusCode: 400))
    }

    @Test(
        "An incomplete answer is an error",
        arguments: ["{}", "[]", #"{"device_code":"d","user_code":"u","verification_uri":"https://a"}"#]
    )
    func incompleteDevice(_ body: String) async throws {
        let (client, _) = try client(.none, (200, body))
        await #expect(throws: OAuthError.self) { try await client.deviceAuthorization(at: .shop) }
    }
}
