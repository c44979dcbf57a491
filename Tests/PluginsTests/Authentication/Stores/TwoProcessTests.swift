// SPDX-License-Identifier: MIT
#if os(Linux)
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

/// Two processes with one credential file, whose server accepts each refresh token once.
///
/// The second process is this test program, which finds what it has to do in its environment. The server is one of the
/// tests', or that of `.ci/oauth_server.py` at `TARGETKIT_OAUTH`. `TARGETKIT_EXPIRIES` is the number of expiries.
@Suite("Authentication: two processes", .throttled, .serialized, .timeLimit(.minutes(10)))
struct TwoProcessTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let expiries = environment["TARGETKIT_EXPIRIES"].flatMap { Int($0) } ?? 60

    @Test("Each expiry leads to one refresh of one of the processes, and every call succeeds")
    func loopback() async throws {
        let server = try RotatingServer()
        let first = OAuthCredential(accessToken: "a1", refreshToken: "r1")
        try await run(at: server.url, user: "anna", from: first)
        #expect(server.counts == RotatingServer.Counts(refreshed: Self.expiries, reused: 0))
    }

    @Test(
        "The same with the OAuth server",
        .enabled(if: ServerAvailability.oauth.isRunning, Comment(rawValue: ServerAvailability.oauth.skipReason))
    )
    func oauthServer() async throws {
        let (url, user) = (ServerAvailability.oauth.baseURL, "user-\(UUID().uuidString)")
        let client = OAuthClient(id: "phone", tokenURL: url.appending(path: "token"))
        let fields = ["username": user, "password": "tea", "scope": "3600"]
        try await run(at: url, user: user, from: client.credential(OAuthGrant(type: "password", fields: fields)))
        struct Counts: Decodable, Equatable { var renewed: Int, refused: Int }
        let counts = URLTarget(url.appending(path: "counts").appending(queryItems: [.init(name: "user", value: user)]))
        let expected = Counts(renewed: Self.expiries, refused: 0)
        #expect(try await Provider<URLTarget>().request(counts).decode(Counts.self) == expected)
    }

    /// Makes calls in this process and in another one while the tokens expire.
    private func run(at url: URL, user: String, from credential: OAuthCredential) async throws {
        let folder = try TemporaryFolder()
        let store = FileCredentialStore<OAuthCredential>(folder.url.appending(path: "session.json"))
        try await store.save(credential)
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path
        let words = [
            "TARGETKIT_SECOND_PROCESS=\(folder.url.path)", "TARGETKIT_SECOND_SERVER=\(url)", program,
            "--testing-library", "swift-testing", "--filter", "TwoProcessTests.secondProcess",
        ]
        async let second = ChildProcess.finished("/usr/bin/env", words)
        let session = Session(folder: folder.url, url: url)
        let expiry = url.appending(path: "expire").appending(queryItems: [.init(name: "user", value: user)])
        for _ in 0..<Self.expiries {
            // The other process has used the newest token, so that none of its calls meets two expiries.
            let count = Self.count(in: folder.url) + 2
            while Self.count(in: folder.url) < count { #expect(try await session.call() == 200) }
            _ = try await Provider<URLTarget>().request(URLTarget(expiry, method: .post))
            #expect(try await session.call() == 200)
        }
        _ = try folder.file("end")
        let (status, output, _) = try await second
        #expect(status == 0, "\(String(decoding: output, as: UTF8.self))")
        #expect(session.signOuts.count == 0)
    }

    @Test("The second process", .enabled(if: environment["TARGETKIT_SECOND_PROCESS"] != nil))
    func secondProcess() async throws {
        let folder = URL(filePath: try #require(Self.environment["TARGETKIT_SECOND_PROCESS"]))
        let url = try #require(Self.environment["TARGETKIT_SECOND_SERVER"].flatMap { URL(string: $0) })
        let session = Session(folder: folder, url: url)
        var count = 0
        while !FileManager.default.fileExists(atPath: folder.appending(path: "end").path) {
            #expect(try await session.call() == 200)
            count += 1
            try Data("\(count)".utf8).write(to: folder.appending(path: "count"), options: .atomic)
        }
        #expect(session.signOuts.count == 0)
    }

    /// How often the second process has called the server.
    private static func count(in folder: URL) -> Int {
        (try? String(contentsOf: folder.appending(path: "count"), encoding: .utf8)).flatMap { Int($0) } ?? 0
    }

    /// What each process has of its own.
    private struct Session: Sendable {
        let signOuts = Recorder<any Error>()
        let provider: Provider<URLTarget>
        let things: URL

        init(folder: URL, url: URL) {
            let client = OAuthClient(id: "phone", tokenURL: url.appending(path: "token"))
            let plugin = AuthenticationPlugin(
                authenticator: OAuthAuthenticator(client: client),
                store: FileCredentialStore(folder.appending(path: "session.json")),
                refreshLimit: 1000
            ) { [signOuts] error in
                signOuts.append(error)
            }
            provider = Provider(plugins: [plugin])
            things = url.appending(path: "things")
        }

        /// Makes four calls at once.
        ///
        /// - Returns: The status of the last one that is not 200.
        func call() async throws -> Int {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 { group.addTask { try await provider.request(URLTarget(things)).statusCode } }
                return try await group.reduce(200) { $1 == 200 ? $0 : $1 }
            }
        }
    }
}

/// An OAuth server that accepts the newest access token, and each refresh token once. A refresh token that is used
/// again ends the session (RFC 9700 §4.14.2).
private final class RotatingServer: Sendable {
    struct Counts: Sendable, Equatable {
        var refreshed = 0
        var reused = 0
    }

    private struct State: Sendable {
        var newest = 1
        var isExpired = false
        var counts = Counts()
    }

    private let state: Locked<State>
    private let server: TestServer

    var url: URL { server.baseURL }
    var counts: Counts { state.withLock { $0.counts } }

    init() throws {
        let state = Locked(State())
        self.state = state
        server = try TestServer { request in
            switch request.path {
            case "/expire":
                state.withLock { $0.isExpired = true }
                return .status(200)
            case "/token": return state.withLock { Self.refresh(request.text, &$0) }
            default:
                let field = request.headers["authorization"]
                let isGood = state.withLock { field == "Bearer a\($0.newest)" && !$0.isExpired }
                return .status(isGood ? 200 : 401, headers: ["WWW-Authenticate": #"Bearer error="invalid_token""#])
            }
        }
    }

    private static func refresh(_ form: String, _ state: inout State) -> TestServer.Response {
        guard form.contains("refresh_token=r\(state.newest)"), state.newest > 0 else {
            state.counts.reused += 1
            state.newest = -1
            return .json(#"{"error":"invalid_grant"}"#, status: 400)
        }
        state.newest += 1
        state.isExpired = false
        state.counts.refreshed += 1
        return .json(#"{"access_token":"a\#(state.newest)","refresh_token":"r\#(state.newest)"}"#)
    }
}
#endif
