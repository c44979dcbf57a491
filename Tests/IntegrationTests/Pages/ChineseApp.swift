// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitJSON
import TargetKitOffline
import TargetKitPlugins
import TargetKitTransfers

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension ServerEnvironment {
    nonisolated static let production = Self("production", baseURL: "https://api.shop.example/v1")
    nonisolated static let test = Self(
        "test",
        baseURL: "https://api.test.shop.example/v1",
        headers: ["X-Tester": "yes"]
    )
}

extension TargetKitError {
    nonisolated var businessCode: String? { (underlying as? ServerDefinedError)?.code }
}

/// The code of the page about servers in China, as an app has it.
enum ChineseApp {
    /// Stands for an HMAC, and shows what was signed.
    static func digest(of text: String) -> String { "digest-" + text.utf8.map { String($0, radix: 16) }.joined() }

    /// The store of the page. The tests don't select in it, because a selection is saved.
    enum App {
        enum Servers {
            nonisolated static let store = EnvironmentStore(default: .production, others: [.test])
        }
    }

    enum Servers {
        static let store = EnvironmentStore(
            default: .production,
            others: [.test],
            storage: MemoryEnvironmentStorage(),
            launch: .ignored
        )
    }

    struct Tokens: ResponseModel, RequestModel, Equatable {
        var accessToken: String
        var refreshToken: String
        var user: String
    }

    enum Account: EnvironmentTarget, RoutedTarget {
        case signIn(mobile: String, captcha: String)
        case refresh(token: String)

        static var environments: EnvironmentStore { Servers.store }

        var route: Route {
            switch self {
            case .signIn(let mobile, let captcha): .post("/session", .json(["mobile": mobile, "captcha": captcha]))
            case .refresh(let token): .post("/session/refresh", .json(["refreshToken": token]))
            }
        }

        var options: CallOptions { .setting(\.authorization, .none).setting(\.endsSessionOnUnauthorized, false) }
    }

    enum Catalog: EnvironmentTarget, RoutedTarget {
        case products
        case manual(to: URL)

        static var environments: EnvironmentStore { Servers.store }

        var route: Route {
            switch self {
            case .products: .get("/products")
            case .manual(let file): .get("/manual", .download(to: .file(file).resumable))
            }
        }

        var options: CallOptions { .setting(\.cachePolicy, .staleOnFailure) }
    }

    enum Orders: EnvironmentTarget, RoutedTarget, Codable {
        case place(product: Int)

        static var environments: EnvironmentStore { Servers.store }

        var route: Route {
            switch self {
            case .place(let product): .post("/orders", .json(["product": product]))
            }
        }

        var options: CallOptions { .setting(\.outboxPolicy, .ifUnavailable) }
    }

    enum SignedText {
        nonisolated static func of(_ url: URL, time: String, nonce: String) -> String {
            let items = URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems ?? []
            let parameters = items.map { "\($0.name)=\($0.value ?? "")" }.sorted()
            return (parameters + ["timestamp=\(time)", "nonce=\(nonce)"]).joined(separator: "&")
        }
    }

    struct QuerySignature: Plugin {
        let clock: ServerClockPlugin

        var place: PluginPlace { .signing }
        var hooks: PluginHooks { .exchange }

        func exchange(
            _ request: TransportRequest,
            context: RequestContext,
            next: Exchange
        ) async throws -> TransportResponse {
            guard !request.isCrossOrigin, let url = request.urlRequest.url else { return try await next(request) }
            let time = "\(Int(clock.now.timeIntervalSince1970))"
            let nonce = UUID().uuidString
            let sign = digest(of: SignedText.of(url, time: time, nonce: nonce))
            var request = request
            request.urlRequest.url = url.appending(queryItems: [
                URLQueryItem(name: "timestamp", value: time), URLQueryItem(name: "nonce", value: nonce),
                URLQueryItem(name: "sign", value: sign),
            ])
            return try await next(request)
        }
    }

    struct Session: Authenticator {
        let account: Provider<Account>

        func apply(_ tokens: Tokens, to request: inout URLRequest) {
            request.setValue("Bearer \(tokens.accessToken)", forHTTPHeaderField: "Authorization")
        }

        func refresh(_ tokens: Tokens) async throws -> Tokens {
            try await account.request(.refresh(token: tokens.refreshToken), as: Tokens.self)
        }

        func user(of tokens: Tokens) -> String? { tokens.user }
    }

    final class Network: Sendable {
        let session = RequestScope()
        let account: Provider<Account>
        let catalog: Provider<Catalog>
        let outbox: OfflineOutbox<Orders>
        private let authentication: AuthenticationPlugin<Session>

        init(
            transport: any Transport = EnvironmentTransport(Servers.store),
            signing: [any Plugin],
            folder: URL,
            reachability: Reachability = .shared,
            log: @escaping @Sendable (String) -> Void = { print($0) },
            signedOut: @escaping @Sendable (String) async -> Void
        ) throws {
            let common: [any Plugin] =
                signing + [
                    EnvironmentPlugin(Servers.store),
                    DefaultHeadersPlugin(others: ["X-Device": "iPhone17,1"]),
                    NetworkLoggerPlugin(level: .body, redaction: .personalData, output: log),
                ]
            account = Self.provider(transport, common, RequestScope())
            authentication = AuthenticationPlugin(
                authenticator: Session(account: account),
                store: FileCredentialStore<Tokens>(folder.appending(path: "session"))
            ) { error in
                let isReplaced = (error as? TargetKitError)?.businessCode == "40103"
                await signedOut(isReplaced ? "账号已在其他设备登录" : "登录已失效，请重新登录")
            }
            let plugins: [any Plugin] =
                common + [
                    authentication,
                    UnauthorizedPlugin(after: authentication) { _ in },
                    ResponseCachePlugin(ResponseCache(storedIn: folder.appending(path: "responses"))),
                    RetryPlugin(),
                ]
            catalog = Self.provider(transport, plugins, RequestScope(parent: session))
            outbox = try OfflineOutbox(
                Self.provider(transport, plugins, RequestScope(parent: session)),
                storedIn: folder.appending(path: "orders"),
                reachability: reachability
            )
        }

        func launch() async throws {
            outbox.account = try await authentication.credential?.user
            outbox.sendNow()
        }

        func signIn(mobile: String, captcha: String) async throws {
            let tokens = try await account.request(.signIn(mobile: mobile, captcha: captcha), as: Tokens.self)
            outbox.account = tokens.user
            try await authentication.signIn(tokens)
            outbox.sendNow()
        }

        func signOut() async throws {
            session.cancelAll()
            outbox.account = nil
            try await authentication.signOut()
        }

        func switchTo(_ environment: String) async throws {
            try await signOut()
            try Servers.store.select(environment)
        }

        private static func provider<API: TargetType>(
            _ transport: any Transport,
            _ plugins: [any Plugin],
            _ scope: RequestScope
        ) -> Provider<API> {
            Provider(
                endpointClosure: { target in
                    var endpoint = try Endpoint(target: target)
                    endpoint.task = endpoint.task.query(["version": "2.4", "channel": "store"])
                    return endpoint
                },
                transport: transport,
                plugins: plugins,
                options: .setting(\.envelope, CodeMessageData(messages: ["msg"], unauthorized: [401, 40103])),
                scope: scope
            )
        }
    }
}
