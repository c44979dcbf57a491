// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitJSON
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension TargetKitError {
    var messageForPeople: String {
        guard let failure = underlying as? ServerDefinedError, !failure.code.hasPrefix("A") else {
            return text(.summary)
        }
        return "Something went wrong (\(failure.code))."
    }
}

enum SignInError: LocalizedError {
    case wrongPassword

    var errorDescription: String? { "The account or the password is wrong." }
}

extension ShopAPI: ErrorMappingTarget {
    func appError(for response: Response) -> (any Error)? {
        guard case .signIn = self, response.statusCode == 401 else { return nil }
        return SignInError.wrongPassword
    }
}

@Suite("Page: recipes for responses and sessions", .throttled, .timeLimit(.minutes(2)))
struct SessionRecipesPageTests {
    @Test("Unwrap code, message and data")
    func envelopes() async throws {
        let catalog = Catalog(
            transport: StubTransport.texts { request in
                request.url?.query?.hasPrefix("q=") == true
                    ? #"{"status":"OK","result":[{"id":1,"name":"Black tea"}]}"#
                    : #"{"code":"000000","data":[{"id":7,"name":"Green tea"}]}"#
            }
        )
        #expect(try await catalog.products(page: 1).map(\.id) == [7])
        #expect(try await catalog.search("black").map(\.id) == [1])
    }

    @Test(
        "Show the server's message",
        arguments: [("A0231", "This voucher has expired."), ("B0001", "Something went wrong (B0001).")]
    )
    func messages(code: String, text: String) async throws {
        let catalog = Catalog(
            transport: StubTransport.texts { _ in #"{"code":"\#(code)","message":"This voucher has expired."}"# }
        )
        let error = try await #require(throws: TargetKitError.self) { try await catalog.products(page: 1) }
        #expect(error.kind == .rejected)
        #expect(error.messageForPeople == text)
    }

    @Test("Sign out once when the session expires", arguments: [(401, "{}"), (200, #"{"code":601}"#)])
    func expiry(status: Int, body: String) async throws {
        let transport = StubTransport(.response(status: status, data: Data(body.utf8)))
        let session = Session()
        let unauthorized = UnauthorizedPlugin(bodyCodes: [BodyCode(keyPath: "code", equals: 401, 601)]) { _ in
            await session.signOut("Your session has expired. Sign in again.")
        }
        let token = AccessTokenPlugin { _ in await session.token }
        let provider = Provider<ShopAPI>(transport: transport, plugins: [token, unauthorized])
        await session.signIn("first")
        _ = await provider.result(.profile)
        #expect(await session.token == nil)
        #expect(await session.notice == "Your session has expired. Sign in again.")
        await session.signIn("second")
        _ = await provider.result(.profile)
        #expect(await session.token == "second")
        unauthorized.reset()
        _ = await provider.result(.signIn(user: "anna", password: "coffee"))
        #expect(await session.token == "second")
        _ = await provider.result(.profile)
        #expect(await session.token == nil)
    }

    /// A server with one account, whose first token has expired.
    private func accountServer(refreshing: String, _ refreshes: Tally) -> StubTransport {
        StubTransport { request in
            let isNew = request.urlRequest.value(forHTTPHeaderField: "Authorization") == "Bearer new"
            switch request.urlRequest.url?.lastPathComponent {
            case "session":
                return .response(status: 200, data: Data(#"{"code":0,"data":{"access":"old","refresh":"r"}}"#.utf8))
            case "refresh":
                refreshes.add()
                return .response(status: 200, data: Data(refreshing.utf8))
            default:
                return .response(status: isNew ? 200 : 401, data: Data("{}".utf8))
            }
        }
    }

    @Test("Refresh the token automatically", arguments: [true, false])
    func refresh(succeeds: Bool) async throws {
        let answer = #"{"code":0,"data":{"access":"new","refresh":"r2"}}"#
        let refreshes = Tally()
        let transport = accountServer(refreshing: succeeds ? answer : #"{"code":40100}"#, refreshes)
        let session = Session()
        let account = Provider<ShopAPI>(transport: transport, options: .setting(\.envelope, CodeMessageData()))
        let authenticator = OAuthAuthenticator { old in
            let tokens = try await account.request(.refresh(token: old.refreshToken ?? ""), as: Tokens.self)
            return OAuthCredential(accessToken: tokens.access, refreshToken: tokens.refresh)
        }
        let authentication = AuthenticationPlugin(authenticator: authenticator) { _ in
            await session.signOut("Your session has expired. Sign in again.")
        }
        let provider = Provider<ShopAPI>(transport: transport, plugins: [authentication])

        let tokens = try await account.request(.signIn(user: "anna", password: "tea"), as: Tokens.self)
        try await authentication.signIn(OAuthCredential(accessToken: tokens.access, refreshToken: tokens.refresh))
        await session.signIn(tokens.access)
        let kinds = await withTaskGroup(of: TargetKitError.Kind?.self) { group in
            for page in 1...3 {
                group.addTask { await provider.result(.products(page: page)).failure?.kind }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(kinds == Array(repeating: succeeds ? nil : .unauthorized, count: 3))
        #expect(refreshes.value == 1)
        #expect(await session.token == (succeeds ? "old" : nil))
    }

    @Test(
        "Report a sign-in on another device",
        arguments: [
            (200, 40103, "Your account was used to sign in on another device."),
            (200, 401, "Your session has expired. Sign in again."),
            (401, 0, "Your session has expired. Sign in again."),
        ]
    )
    func otherDevice(status: Int, code: Int, notice: String) async throws {
        let transport = StubTransport(.response(status: status, data: Data(#"{"code":\#(code)}"#.utf8)))
        let session = Session()
        let replaced = UnauthorizedPlugin(bodyCodes: [BodyCode(keyPath: "code", equals: 40103)]) { _ in
            await session.signOut("Your account was used to sign in on another device.")
        }
        let expired = UnauthorizedPlugin(bodyCodes: [BodyCode(keyPath: "code", equals: 401)]) { _ in
            await session.signOut("Your session has expired. Sign in again.")
        }
        let token = AccessTokenPlugin { _ in await session.token }
        let provider = Provider<ShopAPI>(transport: transport, plugins: [token, expired, replaced])
        await session.signIn("first")
        _ = await provider.result(.profile)
        #expect(await session.notice == notice)
    }

    @Test("Sign out")
    func signingOut() async throws {
        let script = ScriptedTransport(.status(204))
        let transport = script.transport
        let session = Session()
        let authentication = AuthenticationPlugin(authenticator: OAuthAuthenticator { $0 }) { _ in
        }
        let calls = RequestScope()
        let cookies = CookieStore()
        let plugins: [any Plugin] = [authentication, CookiePlugin(cookies)]
        let provider = Provider<ShopAPI>(transport: transport, plugins: plugins, scope: calls)

        func signOut() async throws {
            _ = try? await provider.request(.signOut, options: .setting(\.timeout, .wholeCall(.seconds(5))))
            await calls.shutdown(grace: .zero)
            _ = try await authentication.signOut()
            cookies.removeAll()
            await session.signOut("You have signed out.")
            calls.reopen()
        }
        try await authentication.signIn(OAuthCredential(accessToken: "first"))
        await session.signIn("first")
        cookies.store(["sid=1; Path=/"], from: Servers.api)
        try await signOut()
        #expect(try await provider.request(.profile).statusCode == 204)
        let sent = script.requests.elements
        #expect(sent.map(\.httpMethod) == ["DELETE", "GET"])
        #expect(sent.map { $0.value(forHTTPHeaderField: "Authorization") } == ["Bearer first", nil])
        #expect(sent.map { $0.value(forHTTPHeaderField: "Cookie") } == ["sid=1", nil])
        #expect(await session.notice == "You have signed out.")
    }

    @Test("Distinguish a wrong password from an expired session")
    func wrongPassword() async throws {
        let provider = Provider<ShopAPI>(transport: StubTransport(.status(401)))
        let error = await provider.result(.signIn(user: "anna", password: "coffee")).failure
        #expect(error?.text(.summary) == "The account or the password is wrong.")
        #expect(error?.appError is SignInError)
        #expect(await provider.result(.profile).failure?.appError == nil)
    }

    @Test("Decode models with missing fields")
    func models() async throws {
        let transport = StubTransport.texts { _ in
            """
            {"data": [
                {"id": "7", "product_title": "Tea", "price": "2.5", "sizes": [{"name": "S"}, null, 3]},
                {"id": null, "created_at": "2024-05-06 07:08:09"}
            ]}
            """
        }
        let provider = Provider<ShopAPI>(transport: transport, options: .setting(\.decoder, .snakeCase()))
        let articles = try await provider.request(.products(page: 1), as: [Article].self, atKeyPath: "data")
        #expect(articles.map(\.id) == [7, 0])
        #expect(articles.map(\.productTitle) == ["Tea", ""])
        #expect(articles.map(\.price) == [2.5, nil])
        #expect(articles.map { $0.sizes.map(\.name) } == [["S"], []])
        #expect(articles[1].createdAt == Date(timeIntervalSince1970: 1_714_979_289))
    }

    @Test("Read JSON without a model")
    func json() async throws {
        let transport = StubTransport.texts { _ in #"{"data":{"user":{"name":"Anna","points":"12"}}}"# }
        let provider = Provider<ShopAPI>(transport: transport)
        let json = try await provider.request(.profile).json()
        let name = json.data.user.name.string ?? ""
        let points = json.data.user.points.lenient.int ?? 0
        #expect(name == "Anna")
        #expect(points == 12)
    }

    @Test("Read text in GBK")
    func charset() async throws {
        let headers: HTTPHeaders = ["Content-Type": "text/plain; charset=GBK"]
        let bytes = Data([0xC4, 0xE3, 0xBA, 0xC3])
        let transport = StubTransport(.response(status: 200, headers: headers, data: bytes))
        let provider = Provider<ShopAPI>(transport: transport)
        let text = try await provider.request(.profile).string()
        #expect(text == "你好")
    }
}

// MARK: - The types of the page

extension SessionRecipesPageTests {
    struct Catalog: Sendable {
        let provider: Provider<ShopAPI>

        init(transport: any Transport = SystemTransport.shared) {
            provider = Provider(transport: transport, options: .setting(\.envelope, CodeMessageData()))
        }

        func products(page: Int) async throws(TargetKitError) -> [Product] {
            try await provider.request(.products(page: page), as: [Product].self)
        }

        func search(_ text: String) async throws(TargetKitError) -> [Product] {
            let names = CodeMessageData(code: "status", messages: ["msg"], data: "result", success: ["OK"])
            let options = CallOptions.setting(\.envelope, names)
            return try await provider.request(.search(text: text), as: [Product].self, options: options)
        }
    }

    @MainActor
    final class Session {
        private(set) var token: String?
        private(set) var notice: String?

        func signIn(_ token: String) {
            self.token = token
            notice = nil
        }

        func signOut(_ notice: String) {
            guard token != nil else { return }
            token = nil
            self.notice = notice
        }
    }

    struct Tokens: ResponseModel {
        var access: String
        var refresh: String
    }

    struct Article: ResponseModel {
        struct Size: ResponseModel { var name: String }

        @Lenient var id: Int
        @Lenient var productTitle: String
        @Lenient var price: Decimal?
        @LossyArray var sizes: [Size]
        var createdAt: Date?
    }
}
