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

@Suite("Credentials", .throttled, .timeLimit(.minutes(2)))
struct CredentialsPluginTests {
    private static let anna = CredentialsPlugin { _ in
        URLCredential(user: "anna", password: "secret", persistence: .none)
    }

    /// A call that carries its credentials from the start.
    private let eager = PluginTarget(authorization: .basic)

    @Test("The first request of the scheme basic has user and password")
    func basic() async throws {
        #expect(try await sentAuthorization(eager, Self.anna) == ["Basic YW5uYTpzZWNyZXQ="])
    }

    @Test("Without a credential the request is not changed")
    func none() async throws {
        #expect(try await sentAuthorization(eager, CredentialsPlugin { _ in nil }) == [])
    }

    @Test(
        "Calls of another scheme are not changed, and those of the scheme automatic wait for a challenge",
        arguments: [(.basic, true), (.automatic, false), (.none, false), (.bearer, false), (.custom("Token"), false)]
            as [(AuthorizationScheme, Bool)]
    )
    func schemes(_ scheme: AuthorizationScheme, _ isSent: Bool) async throws {
        #expect(
            try await sentAuthorization(PluginTarget(authorization: scheme), Self.anna)
                == (isSent ? ["Basic YW5uYTpzZWNyZXQ="] : [])
        )
    }

    @Test("The closure gets the target")
    func perTarget() async throws {
        let plugin = CredentialsPlugin { target in
            guard (target as? PluginTarget)?.method == .post else { return nil }
            return URLCredential(user: "anna", password: "secret", persistence: .none)
        }
        #expect(try await sentAuthorization(eager, plugin) == [])
        let post = PluginTarget(method: .post, authorization: .basic)
        #expect(try await sentAuthorization(post, plugin) == ["Basic YW5uYTpzZWNyZXQ="])
    }

    @Test("A request that was processed before the redirect to a challenge is not sent again", arguments: [303, 307])
    func processedBeforeRedirect(_ status: Int) async throws {
        let server = try TestServer { request in
            guard request.path == "/landing" else { return .redirect(to: "/landing", status: status) }
            if request.headers["Authorization"] != nil { return .status(200) }
            return [.head(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"a\"", "Content-Length": "0"])]
        }
        let provider = Provider<PluginTarget>(plugins: [Self.anna])
        let target = PluginTarget(baseURL: server.baseURL, method: .post, authorization: .automatic)
        #expect(try await provider.request(target).statusCode == (status == 307 ? 200 : 401))
        #expect(server.requests.count { $0.path != "/landing" } == (status == 307 ? 2 : 1))
    }

    @Test("An existing field is not replaced", arguments: ["Authorization", "authorization"])
    func keeps(_ name: String) async throws {
        #expect(
            try await sentAuthorization(
                PluginTarget(headers: HTTPHeaders([name: "Own"]), authorization: .basic),
                Self.anna
            ) == ["Own"]
        )
        #expect(
            try await sentAuthorization(PluginTarget(), AccessTokenPlugin { _ in "token" }, Self.anna) == [
                "Bearer token"
            ]
        )
        #expect(
            try await sentAuthorization(PluginTarget(), Self.anna, AccessTokenPlugin { _ in "token" }) == [
                "Bearer token"
            ]
        )
    }

    @Test("A user with a colon ends the call with stage request")
    func colon() async throws {
        let plugin = CredentialsPlugin { _ in URLCredential(user: "a:b", password: "c", persistence: .none) }
        let error = try #require(await Provider<PluginTarget>.stubbed(plugin).result(eager).failure)
        #expect(error.stage == .request)
        #expect(error.underlying as? BasicCredentials.Problem == .colonInUser)
    }

    @Test("An error of the closure ends the call with stage request")
    func throwing() async throws {
        let plugin = CredentialsPlugin { _ in throw Boom() }
        let error = try #require(await Provider<PluginTarget>.stubbed(plugin).result(eager).failure)
        #expect(error.stage == .request)
        #expect(error.underlying is Boom)
    }
}

@Suite("Credentials: challenges", .throttled, .timeLimit(.minutes(2)))
struct CredentialsChallengeTests {
    /// A server that checks answers as RFC 7616 §3.4 says.
    private final class DigestServer: Sendable {
        struct State: Sendable {
            var nonce = 1
            /// How many answers each nonce is good for.
            var uses: Int
            var counts: [String: Int] = [:]
        }

        let password: String
        let algorithm: MessageDigest
        let state: Locked<State>
        let fields = Recorder<String?>()

        init(_ algorithm: MessageDigest = .sha256, password: String = "secret", uses: Int = .max) {
            (self.algorithm, self.password) = (algorithm, password)
            state = Locked(State(uses: uses))
        }

        func answer(_ request: ReceivedRequest) -> SampleResponse {
            let field = request.headers[.authorization]
            fields.append(field)
            let parameters = AuthenticationChallenge.challenges(in: [field ?? ""]).first
            let (isGood, nonce, isStale) = state.withLock { state -> (Bool, Int, Bool) in
                let isKnown = parameters?["nonce"] == "nonce-\(state.nonce)"
                let uri = parameters?["uri"] ?? ""
                guard let parameters, isRight(parameters, method: request.method), uri == request.target else {
                    return (false, state.nonce, false)
                }
                let count = state.counts["\(state.nonce)", default: 0]
                // Each answer to a nonce has a higher number.
                guard isKnown, Int(parameters["nc"] ?? "", radix: 16) == count + 1, count < state.uses else {
                    state.nonce += 1
                    return (false, state.nonce, true)
                }
                state.counts["\(state.nonce)"] = count + 1
                return (true, state.nonce, false)
            }
            if isGood { return .response(status: 200, data: request.body) }
            let name = algorithm == .md5 ? "MD5" : "SHA-256"
            let challenge =
                #"Digest realm="shop", qop="auth,auth-int", algorithm=\#(name), nonce="nonce-\#(nonce)", stale=\#(isStale)"#
            return .response(status: 401, headers: ["WWW-Authenticate": challenge], data: Data())
        }

        private func isRight(_ answer: AuthenticationChallenge, method: String) -> Bool {
            let hash = algorithm.hexadecimal
            let secret = hash("anna:shop:\(password)")
            let target = hash("\(method):\(answer["uri"] ?? "")")
            let middle = ["nonce", "nc", "cnonce", "qop"].map { answer[$0] ?? "" }.joined(separator: ":")
            return answer["response"] == hash("\(secret):\(middle):\(target)")
        }
    }

    private func plugin(_ closureCalls: Tally = Tally()) -> CredentialsPlugin {
        CredentialsPlugin { _ in
            closureCalls.add()
            return URLCredential(user: "anna", password: "secret", persistence: .none)
        }
    }

    @Test(
        "A Digest challenge is answered, with the body sent again, and later calls need no challenge",
        arguments: [Backend.stub, .system, .urlSession],
        MessageDigest.allCases
    )
    func digest(_ backend: Backend, _ algorithm: MessageDigest) async throws {
        let server = DigestServer(algorithm)
        let running = try RunningBackend(backend) { server.answer($0) }
        let provider = Provider<PluginTarget>(transport: running.transport, plugins: [plugin()])
        let target = PluginTarget(
            baseURL: running.baseURL,
            path: "/a b/ü",
            method: .post,
            task: .data(Data("tea".utf8)),
            validation: .successCodes
        )
        for _ in 0..<3 { #expect(try await provider.request(target).data == Data("tea".utf8)) }
        #expect(server.fields.count == 4)
        #expect(server.fields.elements.first.flatMap { $0 } == nil)
        #expect(server.fields.elements.compactMap { $0 }.allSatisfy { !$0.contains("secret") })
    }

    @Test("A nonce that is too old is replaced, and concurrent calls get their answers")
    func stale() async throws {
        let server = DigestServer(uses: 2)
        let running = try RunningBackend(.stub) { server.answer($0) }
        let provider = Provider<PluginTarget>(transport: running.transport, plugins: [plugin()])
        for _ in 0..<6 { #expect(try await provider.request(PluginTarget()).statusCode == 200) }
        let steady = DigestServer()
        let other = try RunningBackend(.stub) { steady.answer($0) }
        let many = Provider<PluginTarget>(transport: other.transport, plugins: [plugin()])
        _ = try await many.request(PluginTarget())
        #expect(steady.fields.count == 2)
    }

    @Test("Two calls that get the same nonce at the same time answer it with different counts")
    func sameNonce() async {
        let challenged = Gate()
        let script = ScriptedTransport { request, index in
            if request.value(forHTTPHeaderField: "Authorization") != nil { return .status(200) }
            if index == 1 { challenged.open() }
            try await challenged.waitUnlessCancelled()
            return .status(401, ["WWW-Authenticate": #"Digest realm=shop, nonce=n, qop="auth""#])
        }
        let provider = Provider<PluginTarget>(transport: script.transport, plugins: [plugin()])
        async let one = provider.result(PluginTarget())
        async let two = provider.result(PluginTarget())
        _ = await (one, two)
        let answers = AuthenticationChallenge.challenges(
            in: script.requests.elements.compactMap { $0.value(forHTTPHeaderField: "Authorization") }
        )
        #expect(answers.compactMap { $0["nc"] }.sorted() == ["00000001", "00000002"])
        #expect(Set(answers.map { $0["cnonce"] }).count == 1)
    }

    @Test("A wrong password gets the server's response, and is sent twice at most")
    func wrongPassword() async throws {
        for server in [DigestServer(password: "other"), DigestServer(.md5, password: "other")] {
            let running = try RunningBackend(.stub) { server.answer($0) }
            let provider = Provider<PluginTarget>(transport: running.transport, plugins: [plugin()])
            for _ in 0..<2 { #expect(try await provider.request(PluginTarget()).statusCode == 401) }
            #expect(server.fields.count == 4)
        }
    }

    @Test("A Basic challenge is answered, once")
    func basic() async throws {
        let script = ScriptedTransport { request, _ in
            let isGood = request.value(forHTTPHeaderField: "Authorization") == "Basic YW5uYTpzZWNyZXQ="
            return .status(isGood ? 200 : 401, ["WWW-Authenticate": #"Basic realm="shop""#])
        }
        let provider = Provider<PluginTarget>(transport: script.transport, plugins: [plugin()])
        for _ in 0..<3 { #expect(try await provider.request(PluginTarget()).statusCode == 200) }
        #expect(script.requests.count == 4)
        let wrong = CredentialsPlugin { _ in URLCredential(user: "a", password: "b", persistence: .none) }
        let other = Provider<PluginTarget>(transport: script.transport, plugins: [wrong])
        for count in [6, 7] {
            #expect(try await other.request(PluginTarget()).statusCode == 401)
            #expect(script.requests.count == count)
        }
    }

    @Test("The strongest challenge is answered: SHA-256, then MD5, then Basic")
    func strongest() async throws {
        let digests = #", Digest realm=a, nonce=n, algorithm=MD5, Digest realm=a, nonce=n, algorithm=SHA-256, qop=auth"#
        let unsupported = #", Digest realm=a, nonce=n, algorithm=SHA-512-256"#
        for (more, expected) in [(digests, "algorithm=SHA-256"), (unsupported, "Basic ")] {
            let script = ScriptedTransport(.status(401, ["WWW-Authenticate": "Basic realm=a" + more]))
            let provider = Provider<PluginTarget>(transport: script.transport, plugins: [plugin()])
            _ = await provider.result(PluginTarget())
            let fields = script.requests.elements.map { $0.value(forHTTPHeaderField: "Authorization") ?? "" }
            #expect(fields.count == 2)
            #expect(fields.last?.contains(expected) == true)
        }
    }

    @Test(
        "A challenge that cannot be answered ends the call with the reason",
        arguments: [
            (#"Digest realm=a, nonce=n, qop="auth-int""#, .integrityProtection),
            ("Digest realm=a, nonce=n, algorithm=SHA-512-256", .unsupportedAlgorithm),
        ] as [(String, DigestChallenge.Problem)]
    )
    func refused(_ challenge: String, _ problem: DigestChallenge.Problem) async throws {
        let script = ScriptedTransport(.status(401, ["WWW-Authenticate": challenge]))
        let provider = Provider<PluginTarget>(transport: script.transport, plugins: [plugin()])
        let error = try #require(await provider.result(PluginTarget()).failure)
        #expect(error.stage == .status)
        #expect(error.kind == .unauthorized)
        #expect(error.underlying as? DigestChallenge.Problem == problem)
        #expect(script.requests.count == 1)
    }

    @Test("Without a challenge, or for a call with a credential of its own, nothing is asked and nothing repeated")
    func unchallenged() async throws {
        let (asked, script) = (Tally(), ScriptedTransport(.status(401)))
        let provider = Provider<PluginTarget>(transport: script.transport, plugins: [plugin(asked)])
        #expect(try await provider.request(PluginTarget()).statusCode == 401)
        let challenging = ScriptedTransport(.status(401, ["WWW-Authenticate": "Basic realm=a"]))
        let other = Provider<PluginTarget>(transport: challenging.transport, plugins: [plugin(asked)])
        let own = PluginTarget(headers: ["Authorization": "Bearer own"])
        for target in [own, PluginTarget(authorization: .none), PluginTarget(authorization: .bearer)] {
            #expect(try await other.request(target).statusCode == 401)
        }
        #expect(script.requests.count == 1)
        #expect(challenging.requests.count == 3)
        #expect(asked.value == 0)
    }

    @Test("A challenge of another origin after a redirect is not answered")
    func redirect() async throws {
        let other = try TestServer(response: .status(401, headers: ["WWW-Authenticate": "Basic realm=\"a\""]))
        let server = try TestServer(response: .redirect(to: other.baseURL.absoluteString))
        let provider = Provider<PluginTarget>(plugins: [plugin()])
        #expect(try await provider.request(PluginTarget(baseURL: server.baseURL)).statusCode == 401)
        #expect(other.requestCount == 1)
    }
}

@Suite("Basic credentials", .throttled)
struct BasicCredentialsTests {
    @Test(
        "They are written in UTF-8 and base64",
        arguments: [
            // RFC 7617 §2 and §2.1.
            ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            ("test", "123£", "Basic dGVzdDoxMjPCow=="),
            ("", "", "Basic Og=="), ("user", "a:b", "Basic dXNlcjphOmI="),
        ]
    )
    func value(_ user: String, _ password: String, _ expected: String) throws {
        #expect(try BasicCredentials(user: user, password: password).fieldValue == expected)
        #expect(try BasicCredentials("\(user):\(password)").fieldValue == expected)
    }

    @Test(
        "What the scheme does not allow is refused",
        arguments: [
            ("a:b", "c", .colonInUser), ("a\n", "c", .controlCharacter), ("a", "c\u{7F}", .controlCharacter),
            ("a", "\u{0}", .controlCharacter),
        ] as [(String, String, BasicCredentials.Problem)]
    )
    func refused(_ user: String, _ password: String, _ problem: BasicCredentials.Problem) {
        #expect(throws: problem) { try BasicCredentials(user: user, password: password) }
    }

    @Test("A text without a colon is refused")
    func noColon() {
        #expect(throws: BasicCredentials.Problem.noColon) { try BasicCredentials("anna") }
    }

    @Test("No description contains the password")
    func redacted() throws {
        let credentials = try BasicCredentials(user: "anna", password: "hunter2")
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), dumped, "\([credentials])"] {
            #expect(text.contains("anna"))
            #expect(!text.contains("hunter2"))
        }
    }

    @Test("Each problem has a description", arguments: BasicCredentials.Problem.allCases)
    func problems(_ problem: BasicCredentials.Problem) {
        #expect(problem.errorDescription?.contains("Basic scheme") == true)
    }
}
