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

@Suite("OAuth", .throttled, .timeLimit(.minutes(2)))
struct OAuthAuthenticatorTests {
    private static let start = Date(timeIntervalSince1970: 1_000_000)

    private let old = OAuthCredential(accessToken: "old-access", refreshToken: "old-refresh", scope: "read")

    private func credential(_ json: String, status: Int = 200) throws -> OAuthCredential {
        try OAuthCredential(Response(statusCode: status, data: Data(json.utf8)), now: Self.start, renewing: old)
    }

    /// The request that the endpoint gets, and the result of its response.
    private func refresh(
        _ id: String = "app",
        _ authentication: OAuthClient.Authentication = .none,
        parameters: [String: String] = [:],
        answer: SampleResponse = .response(
            status: 200,
            data: Data(#"{"access_token":"new","token_type":"Bearer"}"#.utf8)
        )
    ) async throws -> (request: ReceivedRequest, result: Result<OAuthCredential, any Error>) {
        let running = try RunningBackend(.stub) { _ in answer }
        let provider = Provider<MultiTarget>(transport: running.transport)
        let tokenURL = try #require(URL(string: "https://login.example/oauth/token?tenant=7"))
        let client = OAuthClient(
            id: id,
            tokenURL: tokenURL,
            authentication: authentication,
            parameters: parameters
        ) { target in
            try await provider.request(target)
        }
        let authenticator = OAuthAuthenticator(client: client)
        let result: Result<OAuthCredential, any Error>
        do {
            result = .success(try await authenticator.refresh(old))
        } catch {
            result = .failure(error)
        }
        return (try #require(running.requests.first), result)
    }

    @Test(
        "The refresh is a form, with which the client authenticates itself by the Basic scheme or in the form",
        arguments: [
            ("app", .none, "client_id=app&", nil),
            ("app", .form(secret: "a&b c"), "client_id=app&client_secret=a%26b%20c&", nil),
            // The example of RFC 6749 §2.3.1.
            (
                "s6BhdRkqt3", .basic(secret: "7Fjfp0ZBr1KtDRbnfVdmIw"), "",
                "Basic czZCaGRSa3F0Mzo3RmpmcDBaQnIxS3REUmJuZlZkbUl3"
            ),
            // "a%3Ab:c%20%26": each part is escaped before they are joined.
            ("a:b", .basic(secret: "c &"), "", "Basic YSUzQWI6YyUyMCUyNg=="),
        ] as [(String, OAuthClient.Authentication, String, String?)]
    )
    func form(
        _ id: String,
        _ authentication: OAuthClient.Authentication,
        _ fields: String,
        _ field: String?
    ) async throws {
        let (request, result) = try await refresh(id, authentication)
        #expect(request.method == "POST")
        #expect(request.target == "/oauth/token?tenant=7")
        #expect(request.headers[.contentType]?.hasPrefix("application/x-www-form-urlencoded") == true)
        #expect(request.headers[.accept] == "application/json")
        #expect(request.headers[.authorization] == field)
        #expect(request.text == fields + "grant_type=refresh_token&refresh_token=old-refresh")
        #expect(try result.get().accessToken == "new")
    }

    @Test("The app's parameters are added, and do not replace required ones")
    func parameters() async throws {
        let parameters = ["scope": "read write", "grant_type": "password", "client_id": "other"]
        let (request, _) = try await refresh(parameters: parameters)
        #expect(
            request.text == "client_id=app&grant_type=refresh_token&refresh_token=old-refresh&scope=read%20write"
        )
    }

    @Test("A refresh token in the response replaces the old one, which is kept otherwise")
    func rotation() throws {
        let rotated = try credential(#"{"access_token":"a","token_type":"bearer","refresh_token":"r","scope":"all"}"#)
        #expect(rotated.refreshToken == "r")
        #expect(rotated.scope == "all")
        for none in [#"{"access_token":"a"}"#, #"{"access_token":"a","refresh_token":""}"#] {
            let kept = try credential(none)
            #expect(kept.refreshToken == "old-refresh")
            #expect(kept.scope == "read")
        }
    }

    @Test(
        "The lifetime counts from now, as a number or a string; an invalid value is ignored",
        arguments: [
            ("60", 60), (#""60""#, 60), ("1.5", 1.5), ("0", nil), (#""0""#, nil), ("-5", nil), ("null", nil),
            (#""soon""#, nil),
            ("1e300", nil),
        ] as [(String, Double?)]
    )
    func lifetime(_ json: String, _ seconds: Double?) throws {
        let credential = try credential(#"{"access_token":"a","expires_in":\#(json)}"#)
        #expect(credential.expiresAt == seconds.map { Self.start.addingTimeInterval($0) })
        #expect(credential.issuedAt == Self.start)
    }

    @Test(
        "A response without a bearer token is an error with the reason",
        arguments: [
            (200, "<html>", .unreadable("the body isn't a JSON object")),
            (200, "", .unreadable("the body isn't a JSON object")),
            (200, "[1]", .unreadable("the body isn't a JSON object")),
            (200, "{}", .unreadable("access_token is missing")),
            (200, #"{"access_token":""}"#, .unreadable("access_token is missing")),
            (200, #"{"access_token":7}"#, .unreadable("access_token is missing")),
            (200, #"{"access_token":"a","token_type":"mac"}"#, .unsupportedTokenType),
            (400, #"{"error":"invalid_grant"}"#, .refused(code: "invalid_grant", message: nil, statusCode: 400)),
            (
                401, #"{"error":"invalid_client","error_description":"who?"}"#,
                .refused(code: "invalid_client", message: "who?", statusCode: 401)
            ),
            (400, #"{"error":"teapot"}"#, .refused(code: "teapot", message: nil, statusCode: 400)),
            (400, #"{"error":7}"#, .unexpectedStatus(400)), (502, "<html>", .unexpectedStatus(502)),
            // GitHub reports a failure with status 200; Spring's pages and API gateways use `error` for the reason
            // phrase.
            (
                200, #"{"error":"bad_refresh_token"}"#,
                .refused(code: "bad_refresh_token", message: nil, statusCode: 200)
            ),
            (403, #"{"status":403,"error":"Forbidden"}"#, .unexpectedStatus(403)),
            (404, #"{"status":404,"error":"Not Found"}"#, .unexpectedStatus(404)),
            (400, #"{"error":"bad_request"}"#, .unexpectedStatus(400)),
            (401, #"{"error":"not_found"}"#, .unexpectedStatus(401)),
            // Neither can be sent: the credential would fail each call, and be stored.
            (200, #"{"access_token":"a\r\nX-Admin: 1"}"#, .unreadable("access_token contains a line break")),
            (200, #"{"access_token":"a\u0000"}"#, .unreadable("access_token contains a line break")),
            (302, "", .unexpectedStatus(302)),
        ] as [(Int, String, OAuthError)]
    )
    func errors(_ status: Int, _ body: String, _ expected: OAuthError) throws {
        #expect(throws: expected) { try credential(body, status: status) }
    }

    @Test(
        "Which errors end the session",
        arguments: [
            (.refused(code: "invalid_grant", message: nil, statusCode: 400), true),
            (.refused(code: "invalid_client", message: nil, statusCode: 401), true),
            (.refused(code: "teapot", message: nil, statusCode: 400), true),
            (.refused(code: "bad_refresh_token", message: nil, statusCode: 200), true),
            // Auth0 reports a revoked refresh token with 403. Other errors of that status may be those of a gateway.
            (.refused(code: "invalid_grant", message: nil, statusCode: 403), true),
            (.refused(code: "access_denied", message: nil, statusCode: 403), false),
            (.refused(code: "not_found", message: nil, statusCode: 404), false),
            (.refused(code: "teapot", message: nil, statusCode: 418), false),
            (.unexpectedStatus(400), false), (.unexpectedStatus(401), false), (.unexpectedStatus(403), false),
            (.unexpectedStatus(407), false), (.unexpectedStatus(413), false), (.unexpectedStatus(421), false),
            (.noRefreshToken, true), (.unsupportedTokenType, true),
            (.refused(code: "temporarily_unavailable", message: nil, statusCode: 400), false),
            (.refused(code: "server_error", message: nil, statusCode: 400), false),
            (.refused(code: "invalid_grant", message: nil, statusCode: 503), false), (.unexpectedStatus(429), false),
            (.unexpectedStatus(500), false), (.unexpectedStatus(302), false), (.unreadable("it is a page"), false),
        ] as [(OAuthError, Bool)]
    )
    func endsSession(_ error: OAuthError, _ ends: Bool) {
        #expect(OAuthAuthenticator { $0 }.endsSession(error) == ends)
    }

    @Test("The server's description is shown without secrets and control characters, and is limited in length")
    func redaction() async throws {
        let words = "no old-refresh nor old-access, app knows top secret\\u0007 " + String(repeating: "x", count: 1000)
        let body = #"{"error":"invalid_grant","error_description":"\#(words)"}"#
        let answer = SampleResponse.response(status: 400, data: Data(body.utf8))
        let (_, result) = try await refresh("app", .basic(secret: "top secret"), answer: answer)
        guard case .failure(let error) = result else { throw Boom() }
        let shown = "\(error) \(error.localizedDescription)"
        for secret in ["old-refresh", "old-access", "top secret", "\u{7}"] { #expect(!shown.contains(secret)) }
        #expect(shown.contains("invalid_grant"))
        #expect(shown.count < 1000)
    }

    @Test(
        "A secret of six characters is left out, a shorter text is not",
        arguments: [("abcdef", true), ("abcde", false)]
    )
    func shortSecrets(_ secret: String, _ isLeftOut: Bool) async throws {
        let body = #"{"error":"invalid_client","error_description":"who is \#(secret)?"}"#
        let answer = SampleResponse.response(status: 400, data: Data(body.utf8))
        let (_, result) = try await refresh("app", .basic(secret: secret), answer: answer)
        let error = try #require(result.failure as? OAuthError)
        #expect(error.description.contains(secret) == !isLeftOut)
    }

    @Test("A token counts only in a response with a status of 200 to 299", arguments: [(299, true), (300, false)])
    func status(_ status: Int, _ isToken: Bool) async throws {
        let answer = SampleResponse.response(status: status, data: Data(#"{"access_token":"new"}"#.utf8))
        let (_, result) = try await refresh(answer: answer)
        #expect((try? result.get().accessToken) == (isToken ? "new" : nil))
        #expect(result.failure as? OAuthError == (isToken ? nil : .unexpectedStatus(300)))
    }

    @Test("The words of any response without a token hold no secret", arguments: [300, 400, 503])
    func secretsByStatus(_ status: Int) async throws {
        let body = Data(#"{"error":"no","error_description":"not old-refresh"}"#.utf8)
        let (_, result) = try await refresh(answer: .response(status: status, data: body))
        let error = try #require(result.failure as? OAuthError)
        #expect(!error.description.contains("old-refresh"))
    }

    @Test("A refresh that is refused with a 401 does not sign out by itself")
    func noSignOut() async throws {
        let signedOut = Tally()
        let provider = Provider<MultiTarget>(
            transport: StubTransport { _ in .response(status: 401, data: Data(#"{"error":"invalid_client"}"#.utf8)) },
            plugins: [UnauthorizedPlugin { _ in signedOut.add() }]
        )
        let client = OAuthClient(id: "app", tokenURL: .shop) { target in try await provider.request(target) }
        let authenticator = OAuthAuthenticator(client: client)
        await #expect(throws: OAuthError.refused(code: "invalid_client", message: nil, statusCode: 401)) {
            try await authenticator.refresh(old)
        }
        #expect(signedOut.value == 0)
    }

    @Test("Without a refresh token nothing is sent, and the session ends")
    func noRefreshToken() async throws {
        let authenticator = OAuthAuthenticator(client: OAuthClient(id: "app", tokenURL: .shop) { _ in throw Boom() })
        await #expect(throws: OAuthError.noRefreshToken) {
            try await authenticator.refresh(OAuthCredential(accessToken: "a"))
        }
        #expect(authenticator.endsSession(OAuthError.noRefreshToken))
    }

    @Test(
        "A token is refreshed before it expires by the margin, but not in the first half of its lifetime",
        arguments: [
            // Lifetime, then at how many seconds it is due and ended.
            (3600, "r", 3569, false, true), (3600, "r", 3570, true, true), (3600, "r", 3600, true, false),
            (10, "r", 4.9, false, true), (10, "r", 5, true, true), (10, "r", 10, true, false),
            (3600, nil, 3599, false, true), (3600, nil, 3600, true, false), (nil, "r", 1e9, false, true),
        ] as [(Double?, String?, Double, Bool, Bool)]
    )
    func margin(_ lifetime: Double?, _ refreshToken: String?, _ time: Double, _ isDue: Bool, _ isUsable: Bool) {
        let credential = OAuthCredential(
            accessToken: "a",
            refreshToken: refreshToken,
            expiresAt: lifetime.map { Self.start.addingTimeInterval($0) },
            issuedAt: Self.start
        )
        let authenticator = OAuthAuthenticator(now: { Self.start.addingTimeInterval(time) }, refresh: { $0 })
        #expect(authenticator.needsRefresh(credential) == isDue)
        #expect(authenticator.canStillUse(credential) == isUsable)
    }

    @Test("The token replaces an existing field, and a token with a line break is an error")
    func apply() throws {
        let authenticator = OAuthAuthenticator { $0 }
        var request = URLRequest(url: .shop)
        request.setValue("old", forHTTPHeaderField: "authorization")
        try authenticator.apply(old, to: &request)
        #expect(request.allHTTPHeaderFields == ["Authorization": "Bearer old-access"])
        #expect(throws: InvalidRequest.invalidHeaderValue(name: "Authorization")) {
            try authenticator.apply(OAuthCredential(accessToken: "a\r\nb"), to: &request)
        }
    }

    @Test("Descriptions of credential, client and refresh contain no secrets")
    func descriptions() async throws {
        var shown = ""
        let target = Recorder<MultiTarget>()
        let client = OAuthClient(id: "app", tokenURL: .shop, authentication: .form(secret: "top-secret")) {
            target.append($0)
            throw Boom()
        }
        let authenticator = OAuthAuthenticator(client: client)
        _ = try? await authenticator.refresh(old)
        for value in [old, client, try #require(target.elements.first)] as [Any] {
            print(value, to: &shown)
            debugPrint(value, to: &shown)
            dump(value, to: &shown)
        }
        for secret in ["old-access", "old-refresh", "top-secret"] { #expect(!shown.contains(secret)) }
    }

    @Test("The credential is stored as JSON and read again")
    func codable() throws {
        var credential = old
        credential.expiresAt = Self.start
        let data = try JSONEncoder().encode(credential)
        #expect(try JSONDecoder().decode(OAuthCredential.self, from: data) == credential)
    }
}
