// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitOffline
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The app of the page: an envelope with the code 401 in a 200, common parameters, a signature, a session, a cache,
/// retries, a log, modules with scopes of their own, and downloads that continue, against a real server.
@Suite("Page: a complete app", .throttled, .timeLimit(.minutes(2)))
struct CompleteAppPageTests {
    typealias Network = CompleteApp.Network
    typealias Account = CompleteApp.Account
    typealias Catalog = CompleteApp.Catalog
    typealias Tokens = CompleteApp.Tokens
    typealias QuerySignature = CompleteApp.QuerySignature

    /// Where the app signs its requests.
    enum Signature: CaseIterable, Sendable {
        case header, query

        var plugin: any Plugin {
            switch self {
            case .query: QuerySignature()
            case .header:
                RequestSigningPlugin(fields: ["X-Nonce", "X-Sign"]) { request, _ in
                    let nonce = UUID().uuidString
                    return ["X-Nonce": nonce, "X-Sign": "digest-\(request.url.absoluteString.utf8.count)-\(nonce)"]
                }
            }
        }

        /// Whether the request is signed.
        func signs(_ request: TestServer.Request) -> Bool {
            switch self {
            case .header: request.headers["X-Sign"] != nil
            case .query: request.query?.contains("&sign=") == true
            }
        }
    }

    @Test("The app signs in, loads its list and its file, and each request is signed")
    func app() async throws {
        let phone = try Phone(.query)
        let (transport, folder, file) = (phone.transport, phone.folder.url, phone.file)
        let screen = Screen()
        try await screen.use(transport, folder, file)
        #expect(screen.shown.elements == ["[\"tea\"], manual"])
        #expect(try Data(contentsOf: file) == phone.server.manual.data)
        let requests = phone.server.requests
        #expect(requests.map(\.path) == ["/v1/session", "/v1/products", "/v1/manual"])
        #expect(requests.allSatisfy { phone.signature.signs($0) && $0.query?.contains("version=2.4") == true })
    }

    @Test(
        "An expired token is refreshed once, and neither a list nor a file is its refusal",
        arguments: Signature.allCases
    )
    func expired(_ signature: Signature) async throws {
        let phone = try Phone(signature)
        let network = try await phone.launch()
        _ = try await network.products()
        phone.server.isExpired.withLock { $0 = true }
        #expect(try await network.manual(phone.file) == phone.server.manual.data)
        let list = try await network.products(.reload)
        #expect(list.origin == .network)
        #expect(list.text == "tea")
        #expect(phone.server.requests.filter { $0.path.hasSuffix("refresh") }.count == 1)
        phone.server.isOffline.withLock { $0 = true }
        #expect(try await network.products(.onlyCached).text == "tea")
        #expect(phone.signOuts.count == 0)
    }

    @Test(
        "A session that can't be refreshed ends once: the calls of other modules are cancelled, a guest's aren't",
        arguments: Signature.allCases
    )
    func ended(_ signature: Signature) async throws {
        let phone = try Phone(signature)
        let network = try await phone.launch()
        let (catalog, account) = (network.provider(for: Catalog.self), network.provider(for: Account.self))
        phone.server.isHeld.withLock { $0 = true }
        async let held = catalog.result(.products)
        async let guest = account.result(.signIn(user: "bob", password: "tea"))
        await phone.server.gate.waitForArrivals(2)
        phone.server.isHeld.withLock { $0 = false }
        phone.server.isExpired.withLock { $0 = true }
        phone.server.isRevoked.withLock { $0 = true }
        let rejected = await network.provider(for: Catalog.self).result(.manual(to: phone.file))
        #expect(rejected.failure?.kind == .unauthorized)
        #expect(await held.failure?.kind == .cancelled)
        phone.server.gate.open()
        #expect(await guest.failure == nil)
        #expect(phone.signOuts.count == 1)
        #expect(!FileManager.default.fileExists(atPath: phone.file.path))
    }

    @Test(
        "A business failure isn't cached, replaces neither a response nor a file, and has the server's text",
        arguments: Signature.allCases,
        [CachePolicy.cachedElseLoad, .staleOnFailure]
    )
    func failure(_ signature: Signature, policy: CachePolicy) async throws {
        let phone = try Phone(signature)
        var network = try await phone.launch()
        phone.server.failure.withLock { $0 = (200, 5001) }
        #expect(await network.failure(policy)?.kind == .rejected)
        #expect(await network.failure(policy)?.localizedDescription.contains("No tea today.") == true)
        phone.server.failure.withLock { $0 = nil }
        #expect(try await network.products(policy).text == "tea")
        phone.server.failure.withLock { $0 = (200, 5001) }
        #expect(await network.failure(.reload)?.kind == .rejected)
        try Data("old".utf8).write(to: phone.file)
        await #expect(throws: TargetKitError.self) { try await network.manual(phone.file) }
        #expect(try Data(contentsOf: phone.file) == Data("old".utf8))
        phone.server.isOffline.withLock { $0 = true }
        #expect(try await network.products(policy).text == "tea")
        network = try await phone.launch(signsIn: false)
        #expect(try await network.products(policy).text == "tea")
    }

    @Test(
        "A status that isn't accepted decides the kind, and the envelope its text",
        arguments: [(403, .forbidden), (404, .notFound), (429, .rateLimited), (500, .server)]
            as [(Int, TargetKitError.Kind)]
    )
    func status(_ status: Int, kind: TargetKitError.Kind) async throws {
        let phone = try Phone(.header)
        let network = try await phone.launch()
        phone.server.failure.withLock { $0 = (status, 5001) }
        let error = await network.failure(.useProtocol)
        #expect(error?.kind == kind)
        #expect(error?.localizedDescription.contains("No tea today.") == true)
    }

    @Test(
        "An interrupted download continues, in the next launch and after the same user's sign-in",
        arguments: Signature.allCases
    )
    func interrupted(_ signature: Signature) async throws {
        let phone = try Phone(signature)
        var network = try await phone.launch()
        phone.server.cut.withLock { $0 = 200_000 }
        await #expect(throws: TargetKitError.self) { try await network.manual(phone.file, retries: false) }
        network = try await phone.launch(signsIn: false)
        await #expect(throws: TargetKitError.self) { try await network.manual(phone.file, retries: false) }
        _ = try await network.authentication.signOut()
        try await network.signIn("anna")
        phone.server.cut.withLock { $0 = nil }
        #expect(try await network.manual(phone.file) == phone.server.manual.data)
        #expect(phone.server.ranges == [nil, "bytes=200000-", "bytes=400000-"])
    }

    @Test("The next user receives nothing of the previous one", arguments: Signature.allCases)
    func nextUser(_ signature: Signature) async throws {
        let phone = try Phone(signature)
        let network = try await phone.launch()
        _ = try await network.products()
        phone.server.cut.withLock { $0 = 200_000 }
        await #expect(throws: TargetKitError.self) { try await network.manual(phone.file, retries: false) }
        _ = try await network.authentication.signOut()
        try await network.signIn("bob")
        phone.server.cut.withLock { $0 = nil }
        #expect(try await network.manual(phone.file) == phone.server.manual.data)
        #expect(phone.server.ranges == [nil, nil])
        phone.server.isOffline.withLock { $0 = true }
        #expect(await network.failure(.staleOnFailure)?.kind != nil)
    }

    @Test("The log has neither a token nor a signature", arguments: Signature.allCases)
    func log(_ signature: Signature) async throws {
        let phone = try Phone(signature)
        let network = try await phone.launch()
        _ = try await network.products()
        phone.server.failure.withLock { $0 = (200, 5001) }
        _ = await network.failure(.reload)
        let text = phone.log.elements.joined(separator: "\n")
        #expect(text.contains("Catalog.products"))
        #expect(!text.contains("anna-") && !text.contains("digest-"))
    }
}

/// The screen that shows the results of the page's calls.
private struct Screen {
    let shown = Recorder<String>()

    func show(_ text: String) { shown.append(text) }
    func show(_ products: [String], _ manual: URL?) {
        show("\(products), \(manual?.lastPathComponent ?? "no file")")
    }

    func use(_ transport: any Transport, _ folder: URL, _ file: URL) async throws {
        typealias Network = CompleteApp.Network
        typealias Account = CompleteApp.Account
        typealias QuerySignature = CompleteApp.QuerySignature
        typealias Catalog = CompleteApp.Catalog
        typealias Tokens = CompleteApp.Tokens
        let showSignIn = { @Sendable () async in }
        let network = Network(transport: transport, signature: QuerySignature(), folder: folder) {
            await showSignIn()
        }
        let account = network.provider(for: Account.self)
        let catalog = network.provider(for: Catalog.self)

        let tokens = try await account.request(.signIn(user: "anna", password: "tea"), as: Tokens.self)
        try await network.authentication.signIn(tokens)
        do {
            let products = try await catalog.request(.products, as: [String].self)
            let manual = try await catalog.request(.manual(to: file)).file
            show(products, manual)
        } catch {
            switch error.kind {
            case .cancelled, .unauthorized: break
            default: show(error.localizedDescription)
            }
        }
    }
}
