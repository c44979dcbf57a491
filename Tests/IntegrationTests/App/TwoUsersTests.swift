// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitJSON
import TargetKitOffline
import TargetKitPlugins
import TargetKitTesting
import TargetKitTransfers
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Two users of an app", .throttled, .timeLimit(.minutes(3)))
struct TwoUsersTests {
    /// The calls of two modules of the app.
    private enum Catalog: TargetType {
        case list(Int, URL)
        case order(URL)
        case film(to: URL, URL)

        var baseURL: URL {
            switch self {
            case .list(_, let url), .order(let url), .film(_, let url): url
            }
        }

        var path: RequestPath {
            switch self {
            case .list(let number, _): "/list/\(number)"
            case .order: "/orders"
            case .film: "/film"
            }
        }

        var method: HTTPMethod { if case .order = self { .post } else { .get } }

        var task: HTTPTask {
            switch self {
            case .list: .plain
            case .order: .json(["tea": 3])
            case .film(let place, _): .download(to: .file(place).resumable)
            }
        }

        var options: CallOptions {
            var options = CallOptions().setting(\.timeout, .exchange(.seconds(10)))
            if case .film = self { return options }
            options.envelope = CodeMessageData()
            options.sharesInFlight = true
            return options
        }
    }

    /// The users who may be signed in at a time.
    private final class Users: Sendable {
        private struct State: Sendable {
            var log = ["anna"]
            /// The position of the oldest user whom a call that begins now may have.
            var first = 0
        }

        private let state = Locked(State())

        var position: Int { state.withLock(\.first) }

        func begin(_ user: String) { state.withLock { $0.log.append(user) } }
        func end() { state.withLock { $0.first = $0.log.count - 1 } }
        func since(_ position: Int) -> Set<String> { state.withLock { Set($0.log[position...]) } }
    }

    /// A server that knows one token of each user at a time, and what is wrong with the requests that it receives.
    private final class Accounts: Sendable {
        private let good = Locked<[String: Int]>(["anna": 1, "bob": 1])
        let faults = Recorder<String>()

        func token(of user: String) -> AppToken { AppToken(user: user, number: good.withLock { $0[user] ?? 1 }) }

        func expire() { good.withLock { $0 = $0.mapValues { $0 + 1 } } }

        func answer(_ request: TestServer.Request) async -> TestServer.Response {
            try? await Task.sleep(for: .microseconds(Int.random(in: 0..<3_000)))
            guard let field = request.headers["Authorization"] else { return .init(status: 401) }
            if request.headers["X-Sign"] != "\(request.path) \(field)" { faults.append("\(request.path): \(field)") }
            let parts = field.split(separator: "-").map(String.init)
            guard parts.count == 2, good.withLock({ $0[parts[0]].map(String.init) }) == parts[1] else {
                return .init(status: 401)
            }
            let user = parts[0]
            // A server that doesn't distinguish its users in validators and fields.
            if request.path == "/film" {
                var file = ServedFile(size: 0, validators: ["ETag": "\"film\""])
                file.data = Data(repeating: user.utf8.first ?? 0, count: 200_000)
                return file.response(to: request, cut: Int.random(in: 0..<3) == 0 ? 100_000 : nil)
            }
            let fields: HTTPHeaders = [
                "Content-Type": "application/json", "ETag": "\"list\"",
                "Cache-Control": "max-age=\(Int.random(in: 0...1)), stale-while-revalidate=60",
            ]
            if request.headers["If-None-Match"] != nil, Bool.random() { return .init(status: 304, headers: fields) }
            return .init(status: 200, headers: fields, body: Data(#"{"code":0,"data":"\#(user)"}"#.utf8))
        }
    }

    private struct UserAuthenticator: Authenticator {
        let accounts: Accounts
        let namesUsers: Bool

        func apply(_ token: AppToken, to request: inout URLRequest) {
            request.setValue("\(token.user)-\(token.number)", forHTTPHeaderField: "Authorization")
        }

        func user(of token: AppToken) -> String? { namesUsers ? token.user : nil }

        func refresh(_ token: AppToken) async throws -> AppToken {
            try await Task.sleep(for: .microseconds(Int.random(in: 0..<2_000)))
            return accounts.token(of: token.user)
        }
    }

    @Test("Nothing of one user is shown to the other or sent with the other's credential", arguments: [true, false])
    func storm(namesUsers: Bool) async throws {
        let (accounts, users, folder) = (Accounts(), Users(), try TemporaryFolder())
        let server = try TestServer { await accounts.answer($0) }
        let authentication = AuthenticationPlugin(
            authenticator: UserAuthenticator(accounts: accounts, namesUsers: namesUsers),
            refreshLimit: 10_000
        ) { _ in }
        try await authentication.signIn(accounts.token(of: "anna"))
        let cache = ResponseCache(storedIn: folder.url.appending(path: "cache"), memoryLimit: 2_000)
        let signing = RequestSigningPlugin(fields: ["X-Sign"]) { request, _ in
            ["X-Sign": "\(request.url.path) \(request.headers["Authorization"] ?? "")"]
        }
        let modules = (0..<2).map { _ in
            Provider<Catalog>(plugins: [authentication, ResponseCachePlugin(cache), RetryPlugin(), signing])
        }
        let shown = Locked(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<8 {
                group.addTask {
                    for round in 0..<60 {
                        let film = folder.url.appending(path: "film-\(index)")
                        let target: Catalog =
                            switch (index + round) % 8 {
                            case 0: .film(to: film, server.baseURL)
                            case 1: .order(server.baseURL)
                            default: .list(round % 3, server.baseURL)
                            }
                        let position = users.position
                        guard let response = try? await modules[index % 2].request(target) else { continue }
                        let allowed = users.since(position)
                        shown.withLock { $0 += 1 }
                        if case .film = target {
                            let bytes = Set(try Data(contentsOf: film))
                            let names = allowed.compactMap(\.utf8.first)
                            if bytes.count != 1 || !bytes.isSubset(of: names) { Issue.record("film \(bytes)") }
                        } else {
                            let user: String = try response.decode(String.self, atKeyPath: "data")
                            if !allowed.contains(user) { Issue.record("\(user) instead of \(allowed), \(response)") }
                        }
                    }
                }
            }
            group.addTask {
                for round in 0..<60 {
                    try await Task.sleep(for: .microseconds(Int.random(in: 0..<8_000)))
                    if round % 3 == 0 {
                        accounts.expire()
                    } else {
                        let user = round % 2 == 0 ? "anna" : "bob"
                        users.begin(user)
                        try await authentication.signIn(accounts.token(of: user))
                        users.end()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(accounts.faults.elements == [])
        #expect(shown.withLock(\.self) > 100)
    }
}
