// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
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

private func digest(of text: String) -> String { "digest-of-\(text.utf8.count)-\(text.suffix(36))" }

/// The code of the page, as an app has it.
enum CompleteApp {
    enum Servers {
        static let api = URL(string: "https://api.shop.example/v1") ?? URL(filePath: "/")
    }

    struct Tokens: ResponseModel, RequestModel, Equatable {
        var accessToken: String
        var refreshToken: String
        var user: String
    }

    enum Account: RoutedTarget {
        case signIn(user: String, password: String)
        case refresh(token: String)

        var baseURL: URL { Servers.api }

        var route: Route {
            switch self {
            case .signIn(let user, let password): .post("/session", .json(["user": user, "password": password]))
            case .refresh(let token): .post("/session/refresh", .json(["refreshToken": token]))
            }
        }

        // These calls have no credential yet, and their 401 means a wrong password.
        var options: CallOptions { .setting(\.authorization, .none).setting(\.endsSessionOnUnauthorized, false) }
    }

    enum Catalog: RoutedTarget {
        case products
        case manual(to: URL)

        var baseURL: URL { Servers.api }

        var route: Route {
            switch self {
            case .products: .get("/products")
            case .manual(let file): .get("/manual", .download(to: .file(file).resumable))
            }
        }

        var options: CallOptions { .setting(\.cachePolicy, .staleOnFailure) }
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

    struct QuerySignature: Plugin {
        var place: PluginPlace { .signing }
        var hooks: PluginHooks { .exchange }

        func exchange(
            _ request: TransportRequest,
            context: RequestContext,
            next: Exchange
        ) async throws -> TransportResponse {
            guard !request.isCrossOrigin, let url = request.urlRequest.url else { return try await next(request) }
            let nonce = UUID().uuidString
            let signature = digest(of: "\(url.query() ?? "")&\(nonce)")
            var request = request
            request.urlRequest.url = url.appending(queryItems: [
                URLQueryItem(name: "nonce", value: nonce), URLQueryItem(name: "sign", value: signature),
            ])
            return try await next(request)
        }
    }

    final class Network: Sendable {
        let session = RequestScope()
        let authentication: AuthenticationPlugin<Session>
        private let transport: any Transport
        private let plugins: [any Plugin]

        init(
            transport: any Transport,
            signature: any Plugin,
            folder: URL,
            log: @escaping @Sendable (String) -> Void = { print($0) },
            signedOut: @escaping @Sendable () async -> Void
        ) {
            self.transport = transport
            let account: Provider<Account> = Self.provider(transport, [signature], RequestScope())
            authentication = AuthenticationPlugin(
                authenticator: Session(account: account),
                store: FileCredentialStore<Tokens>(folder.appending(path: "session"))
            ) { _ in }
            plugins = [
                authentication,
                UnauthorizedPlugin(after: authentication) { _ in await signedOut() },
                signature,
                ResponseCachePlugin(ResponseCache(storedIn: folder.appending(path: "responses"))),
                RetryPlugin(),
                NetworkLoggerPlugin(output: log),
            ]
        }

        func provider<API: TargetType>(for api: API.Type = API.self) -> Provider<API> {
            Self.provider(transport, plugins, RequestScope(parent: session))
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
                options: .setting(\.envelope, CodeMessageData(messages: ["msg"], unauthorized: [401, 40101])),
                scope: scope
            )
        }
    }
}
