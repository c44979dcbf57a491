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

extension ChineseApp {
    /// Where the app signs its requests.
    enum Signature: CaseIterable, Sendable {
        case header, query

        var plugins: [any Plugin] {
            switch self {
            case .header:
                let clock = ServerClockPlugin()
                let signing = RequestSigningPlugin(fields: ["X-Timestamp", "X-Nonce", "X-Sign"]) { request, _ in
                    let time = "\(Int(clock.now.timeIntervalSince1970))"
                    let nonce = UUID().uuidString
                    let sign = digest(of: SignedText.of(request.url, time: time, nonce: nonce))
                    return ["X-Timestamp": time, "X-Nonce": nonce, "X-Sign": sign]
                }
                return [clock, signing]
            case .query:
                let clock = ServerClockPlugin()
                return [clock, QuerySignature(clock: clock)]
            }
        }

        /// Whether the signature of a request is that of its parameters, as the server sees them.
        func isValid(_ request: TestServer.Request) -> Bool {
            let items = URLComponents(string: request.target)?.queryItems ?? []
            var parameters = Dictionary(items.map { ($0.name, $0.value ?? "") }) { $1 }
            if self == .header {
                parameters["timestamp"] = request.headers["X-Timestamp"]
                parameters["nonce"] = request.headers["X-Nonce"]
                parameters["sign"] = request.headers["X-Sign"]
            }
            guard let sign = parameters.removeValue(forKey: "sign"), let time = parameters["timestamp"],
                let nonce = parameters["nonce"]
            else { return false }
            let names = parameters.keys.filter { !["timestamp", "nonce"].contains($0) }.sorted()
            let text = names.map { "\($0)=\(parameters[$0] ?? "")" } + ["timestamp=\(time)", "nonce=\(nonce)"]
            return sign == digest(of: text.joined(separator: "&"))
        }
    }

    /// What persists on a phone between launches of the app, and its server.
    struct Phone: Sendable {
        let server: CompleteAppServer
        let folder: TemporaryFolder
        let signature: Signature
        let connectivity = ManualConnectivity(.online(.wifi, isExpensive: false))
        let notices = Recorder<String>()
        let log = Recorder<String>()

        init(_ signature: Signature = .header) throws {
            self.signature = signature
            server = try CompleteAppServer()
            folder = try TemporaryFolder()
        }

        var file: URL { folder.url.appending(path: "manual") }

        /// - Parameter user: Who signs in; `nil` for nobody.
        func launch(signingIn user: String? = "anna") async throws -> Network {
            let network = try Network(
                transport: server.transport,
                signing: signature.plugins,
                folder: folder.url,
                reachability: Reachability(connectivity),
                log: { [log] in log.append($0) },
                signedOut: { [notices] in notices.append($0) }
            )
            try await network.launch()
            if let user { try await network.signIn(mobile: user, captcha: "123456") }
            return network
        }

        func set(isOffline: Bool) {
            server.isOffline.withLock { $0 = isOffline }
            connectivity.set(isOffline ? .offline : .online(.wifi, isExpensive: false))
        }

        /// The requests with an order.
        var orders: [TestServer.Request] { server.requests.filter { $0.path == "/v1/orders" } }
    }
}

/// The app of the Chinese page, against a real server. The selected environment is the process's.
@Suite("Page: servers in China", .throttled, .serialized, .timeLimit(.minutes(2)))
struct ChineseServersPageTests {
    typealias Phone = ChineseApp.Phone
    typealias Signature = ChineseApp.Signature
    typealias Account = ChineseApp.Account
    typealias Catalog = ChineseApp.Catalog
    typealias Network = ChineseApp.Network
    typealias Orders = ChineseApp.Orders
    typealias QuerySignature = ChineseApp.QuerySignature
    typealias Servers = ChineseApp.Servers
    typealias Session = ChineseApp.Session
    typealias Tokens = ChineseApp.Tokens

    private static let once = CallOptions.setting(\.retryPolicy, .never)

    /// The error of a call without retries.
    private func failure(
        _ catalog: Provider<ChineseApp.Catalog>,
        _ target: ChineseApp.Catalog = .products
    ) async -> TargetKitError? {
        await Result { () async throws(TargetKitError) -> Response in
            try await catalog.request(target, options: Self.once)
        }.failure
    }

    @Test(
        "Each request has the common parameters and a valid signature, also after a refresh",
        arguments: Signature.allCases
    )
    func signed(_ signature: Signature) async throws {
        let phone = try Phone(signature)
        let network = try await phone.launch()
        phone.server.isExpired.withLock { $0 = true }
        #expect(try await network.catalog.request(.products, as: [String].self) == ["tea"])
        _ = try await network.catalog.request(.manual(to: phone.file))
        #expect(try Data(contentsOf: phone.file) == phone.server.manual.data)
        let requests = phone.server.requests
        #expect(
            requests.map(\.path) == [
                "/v1/session", "/v1/products", "/v1/session/refresh", "/v1/products", "/v1/manual",
            ]
        )
        for request in requests {
            #expect(signature.isValid(request))
            #expect(request.query?.contains("version=2.4") == true)
            #expect(request.headers["X-Device"] == "iPhone17,1")
        }
    }

    @Test("A business failure has the server's code and text")
    func businessFailure() async throws {
        let phone = try Phone()
        let network = try await phone.launch()
        phone.server.failure.withLock { $0 = (200, 5001) }
        let error = await network.catalog.result(.products).failure
        #expect(error?.kind == .rejected)
        #expect(error?.businessCode == "5001")
        #expect(error?.text(.summary) == "No tea today.")
    }

    @Test(
        "A session that ends has one notice with its reason, and the other calls are cancelled",
        arguments: [(401, 40_101, "登录已失效，请重新登录"), (401, 40_103, "账号已在其他设备登录"), (40_103, 40_103, "账号已在其他设备登录")]
    )
    func ended(token: Int, refresh: Int, notice: String) async throws {
        let phone = try Phone()
        let network = try await phone.launch()
        phone.server.isHeld.withLock { $0 = true }
        async let held = network.catalog.result(.manual(to: phone.file))
        await phone.server.gate.waitForArrivals(1)
        phone.server.isHeld.withLock { $0 = false }
        phone.server.isExpired.withLock { $0 = true }
        phone.server.isRevoked.withLock { $0 = true }
        phone.server.rejection.withLock { $0 = (token, refresh) }
        #expect(await network.catalog.result(.products).failure?.kind == .unauthorized)
        #expect(await held.failure?.kind == .cancelled)
        phone.server.gate.open()
        #expect(phone.notices.elements == [notice])
    }

    @Test("Where the refresh token stays valid, a code signs out without a refresh")
    func replaced() async throws {
        let phone = try Phone()
        let notices = phone.notices
        let showSignIn = { @Sendable (notice: String) async in notices.append(notice) }
        let network = try await phone.launch()
        let tokens = try await network.account.request(
            .signIn(mobile: "anna", captcha: "123456"),
            as: ChineseApp.Tokens.self
        )
        let authentication = AuthenticationPlugin(authenticator: ChineseApp.Session(account: network.account)) { _ in }
        let replaced = UnauthorizedPlugin(bodyCodes: [BodyCode(keyPath: "code", equals: 40103)]) { _ in
            _ = try? await authentication.signOut()
            await showSignIn("账号已在其他设备登录")
        }
        let catalog = Provider<ChineseApp.Catalog>(
            transport: phone.server.transport,
            plugins: [authentication, replaced],
            options: .setting(\.envelope, CodeMessageData(messages: ["msg"], unauthorized: [401]))
        )
        try await authentication.signIn(tokens)
        phone.server.isExpired.withLock { $0 = true }
        phone.server.rejection.withLock { $0.token = 40_103 }
        #expect(await catalog.result(.products).failure?.kind == .rejected)
        #expect(notices.elements == ["账号已在其他设备登录"])
        #expect(try await authentication.credential == nil)
        #expect(!phone.server.requests.contains { $0.path.hasSuffix("refresh") })
    }

    @Test("A stored response is shown offline, and not to the next user", arguments: Signature.allCases)
    func cached(_ signature: Signature) async throws {
        let phone = try Phone(signature)
        var network = try await phone.launch()
        _ = try await network.catalog.request(.products)
        phone.set(isOffline: true)
        network = try await phone.launch(signingIn: nil)
        #expect(try await network.catalog.request(.products, as: [String].self, options: Self.once) == ["tea"])
        phone.set(isOffline: false)
        try await network.signOut()
        try await network.signIn(mobile: "bob", captcha: "123456")
        phone.set(isOffline: true)
        #expect(await failure(network.catalog)?.kind == .offline)
    }

    @Test("An interrupted download continues, although its signature differs", arguments: Signature.allCases)
    func interrupted(_ signature: Signature) async throws {
        let phone = try Phone(signature)
        let network = try await phone.launch()
        phone.server.cut.withLock { $0 = 200_000 }
        #expect(await failure(network.catalog, .manual(to: phone.file)) != nil)
        phone.server.cut.withLock { $0 = nil }
        _ = try await network.catalog.request(.manual(to: phone.file))
        #expect(try Data(contentsOf: phone.file) == phone.server.manual.data)
        #expect(phone.server.ranges == [nil, "bytes=200000-"])
    }

    @Test("An order waits for the network and for its user, and is sent once")
    func order() async throws {
        let phone = try Phone()
        var network = try await phone.launch()
        phone.set(isOffline: true)
        guard case .kept = try await network.outbox.send(.place(product: 7)) else {
            Issue.record("The order was sent offline.")
            return
        }
        try await network.signOut()
        phone.set(isOffline: false)
        try await network.signIn(mobile: "bob", captcha: "123456")
        _ = try await network.outbox.send(.place(product: 8))
        #expect(phone.orders.map(\.text) == [#"{"product":8}"#])
        try await network.signOut()
        network = try await phone.launch()
        for await entry in network.outbox.events { if case .sent = entry.state { break } }
        #expect(phone.orders.map(\.text) == [#"{"product":8}"#, #"{"product":7}"#])
        #expect(phone.orders.last?.headers["Authorization"]?.contains("anna") == true)
        #expect(phone.orders.allSatisfy { $0.headers["Idempotency-Key"] != nil })
    }

    @Test("An order that the server refuses isn't kept")
    func refusedOrder() async throws {
        let phone = try Phone()
        let network = try await phone.launch()
        phone.server.failure.withLock { $0 = (200, 5001) }
        let error = await #expect(throws: TargetKitError.self) { try await network.outbox.send(.place(product: 7)) }
        #expect(error?.businessCode == "5001")
        #expect(network.outbox.entries.isEmpty)
    }

    @Test("Another environment has its own server and fields, and no session of the previous one")
    func environments() async throws {
        #expect(ChineseApp.App.Servers.store.environments.map(\.name) == ["production", "test"])
        let phone = try Phone()
        let network = try await phone.launch()
        defer { ChineseApp.Servers.store.reset() }
        try await network.switchTo("test")
        #expect(await failure(network.catalog)?.kind == .unauthorized)
        let requests = phone.server.requests
        #expect(requests.map { $0.headers["X-Forwarded-Host"] } == ["api.shop.example", "api.test.shop.example"])
        #expect(requests.map { $0.headers["X-Tester"] } == [nil, "yes"])
    }

    @Test("The log has neither a secret nor personal data", arguments: Signature.allCases)
    func log(_ signature: Signature) async throws {
        let phone = try Phone(signature)
        let network = try await phone.launch(signingIn: "13800138000")
        _ = try await network.catalog.request(.products)
        let text = phone.log.elements.joined(separator: "\n")
        #expect(text.contains("Catalog.products"))
        for secret in ["13800138000", "123456", "anna-", "refresh-1", "digest-"] { #expect(!text.contains(secret)) }
    }

    @Test("The parts of the page, one after another")
    func parts() async throws {
        let phone = try Phone(.query)
        let (transport, folder, file) = (phone.server.transport, phone.folder.url, phone.file)
        let shown = Recorder<String>()
        let show = { @Sendable (text: String) in shown.append(text) }
        let showSignIn = { @Sendable (notice: String) async in show(notice) }
        let console = { @Sendable (line: String) in phone.log.append(line) }
        do {
            let provider = Provider<Catalog>(
                transport: EnvironmentTransport(Servers.store),
                plugins: [EnvironmentPlugin(Servers.store)]
            )
            #expect(provider.scope.inFlightCount == 0)
        }
        do {
            let provider = Provider<Catalog>(
                endpointClosure: { target in
                    var endpoint = try Endpoint(target: target)
                    endpoint.task = endpoint.task.query(["version": "2.4", "channel": "store"])
                    return endpoint
                },
                transport: transport,
                plugins: [DefaultHeadersPlugin(others: ["X-Device": "iPhone17,1"])]
            )
            _ = try await provider.request(.products)
            #expect(phone.server.requests.last?.headers["X-Device"] == "iPhone17,1")
        }
        do {
            let clock = ServerClockPlugin()
            let signing = RequestSigningPlugin(fields: ["X-Sign"]) { _, _ in ["X-Sign": "tea"] }
            let provider = Provider<Catalog>(transport: transport, plugins: [clock, signing])
            _ = try await provider.request(.products)
            #expect(phone.server.requests.last?.headers["X-Sign"] == "tea")
        }
        let envelope = CodeMessageData(messages: ["msg"], unauthorized: [401, 40103])
        phone.server.rejection.withLock { $0.token = 5001 }
        let account = Provider<Account>(transport: transport, options: .setting(\.envelope, envelope))
        let authentication = AuthenticationPlugin(
            authenticator: Session(account: account),
            store: FileCredentialStore<Tokens>(folder.appending(path: "session"))
        ) { error in
            let isReplaced = (error as? TargetKitError)?.businessCode == "40103"
            await showSignIn(isReplaced ? "账号已在其他设备登录" : "登录已失效，请重新登录")
        }
        do {
            let provider = Provider<Catalog>(transport: transport, options: .setting(\.envelope, envelope))
            do {
                let products = try await provider.request(.products, as: [String].self)
                show(products.joined(separator: "、"))
            } catch {
                switch error.businessCode {
                case "5001": show("商品已下架")
                default: show(error.text(.summary))
                }
            }
        }
        let tokens = try await account.request(.signIn(mobile: "13800138000", captcha: "123456"), as: Tokens.self)
        try await authentication.signIn(tokens)
        do {
            let unauthorized = UnauthorizedPlugin(after: authentication) { _ in }
            let provider = Provider<Catalog>(
                transport: transport,
                plugins: [authentication, unauthorized],
                options: .setting(\.envelope, envelope)
            )
            _ = try await provider.request(.products)
            let manual = try await provider.request(.manual(to: file)).file
            show(manual?.lastPathComponent ?? "")
            let handle = provider.request(.manual(to: file), progress: { show("\($0.completed)") }) { _ in }
            handle.pause()
            handle.resume()
            handle.cancel()
        }
        do {
            let cache = ResponseCache(storedIn: folder.appending(path: "responses"))
            let provider = Provider<Catalog>(transport: transport, plugins: [ResponseCachePlugin(cache)])
            let response = try await provider.request(.products)
            switch response.origin {
            case .network, .revalidated: show("最新内容")
            case .cache, .stale: show("离线内容")
            }
        }
        let outbox = try OfflineOutbox(
            Provider<Orders>(transport: transport, plugins: [authentication]),
            storedIn: folder.appending(path: "orders"),
            account: tokens.user,
            reachability: .shared
        )
        switch try await outbox.send(.place(product: 7)) {
        case .sent: show("下单成功")
        case .kept: show("当前没有网络，联网后自动提交")
        }
        var redaction = Redaction.personalData
        redaction.secretFields = ["nickname", "address.detail"]
        let logger = NetworkLoggerPlugin(level: .body, redaction: redaction) { line in console(line) }
        #expect(logger.place == .observation)
        let texts = shown.elements.filter { !$0.allSatisfy(\.isNumber) }
        #expect(texts.dropLast() == ["商品已下架", "manual", "最新内容"])
    }

    @Test("The app and its screen")
    func screen() async throws {
        let phone = try Phone(.query)
        let folder = phone.folder.url
        let shown = Recorder<String>()
        let show = { @Sendable (text: String) in shown.append(text) }
        let showSignIn = { @Sendable (notice: String) async in show(notice) }
        do {
            let clock = ServerClockPlugin()
            let network = try Network(signing: [clock, QuerySignature(clock: clock)], folder: folder) { notice in
                await showSignIn(notice)
            }
            try await network.launch()
            #expect(network.session.inFlightCount == 0)
        }
        let network = try await phone.launch()
        do {
            let products = try await network.catalog.request(.products, as: [String].self)
            show(products.joined(separator: "、"))
        } catch {
            switch error.kind {
            case .cancelled, .unauthorized: break
            default: show(error.text(.summary))
            }
        }
        #expect(shown.elements == ["tea"])
    }
}
