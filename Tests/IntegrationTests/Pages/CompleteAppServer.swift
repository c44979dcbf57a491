// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitOffline
import TargetKitPlugins
import TargetKitTesting
import TestSupport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The server of the complete app. It reports in a 200 that a token has expired.
final class CompleteAppServer: Sendable {
    let manual = ServedFile(size: 600_000)
    /// Opens for the requests that are held.
    let gate = Gate()
    let isExpired = Locked(false)
    let isRevoked = Locked(false)
    let isOffline = Locked(false)
    let isHeld = Locked(false)
    /// The codes for a rejected token, and for a rejected refresh.
    let rejection = Locked((token: 401, refresh: 40_101))
    /// The status and code of every response but those of the account.
    let failure = Locked<(status: Int, code: Int)?>(nil)
    /// The number of bytes of the manual after which the connection is closed.
    let cut = Locked<Int?>(nil)
    private let server = Locked<TestServer?>(nil)

    init() throws {
        let server = try TestServer { [weak self] request in await self?.response(to: request) ?? .close }
        self.server.withLock { $0 = server }
    }

    var requests: [TestServer.Request] { server.withLock { $0 }?.requests ?? [] }

    /// The `Range` of each request for the manual.
    var ranges: [String?] { requests.filter { $0.path == "/v1/manual" }.map { $0.headers["Range"] } }

    /// Sends the requests for the app's server to this one.
    var transport: any Transport {
        RelocatingTransport(baseURL: server.withLock { $0 }?.baseURL ?? URL(filePath: "/")) { [isOffline] in
            isOffline.withLock { $0 }
        }
    }

    private func response(to request: TestServer.Request) async -> TestServer.Response {
        if isHeld.withLock({ $0 }) { await gate.wait() }
        let token = request.headers["Authorization"] ?? ""
        switch request.path {
        case "/v1/session":
            let user = request.text.contains("bob") ? "bob" : "anna"
            return .json(Self.success(Self.tokens(of: user, number: 1)))
        case "/v1/session/refresh":
            if isRevoked.withLock({ $0 }) { return .json(Self.failed(code: rejection.withLock(\.refresh))) }
            isExpired.withLock { $0 = false }
            return .json(Self.success(Self.tokens(of: "anna", number: 2)))
        default:
            if isExpired.withLock({ $0 }) || token.isEmpty {
                return .json(Self.failed(code: rejection.withLock(\.token)))
            }
        }
        if let (status, code) = failure.withLock({ $0 }) { return .json(Self.failed(code: code), status: status) }
        guard request.path == "/v1/manual" else {
            return .json(Self.success(#"["tea"]"#), headers: ["Cache-Control": "max-age=60"])
        }
        return manual.response(to: request, cut: cut.withLock { $0 })
    }

    private static func success(_ data: String) -> String { #"{"code":0,"msg":"ok","data":\#(data)}"# }

    private static func failed(code: Int) -> String { #"{"code":\#(code),"msg":"No tea today."}"# }

    private static func tokens(of user: String, number: Int) -> String {
        #"{"accessToken":"\#(user)-\#(number)","refreshToken":"refresh-\#(number)","user":"\#(user)"}"#
    }
}

/// Sends requests for any host to a test server.
private struct RelocatingTransport: Transport {
    let baseURL: URL
    let isOffline: @Sendable () -> Bool

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard !isOffline() else { throw URLError(.notConnectedToInternet) }
        var request = request
        request.urlRequest.setValue(request.urlRequest.url?.host(), forHTTPHeaderField: "X-Forwarded-Host")
        if let url = request.urlRequest.url, var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) {
            (parts.scheme, parts.host, parts.port) = (baseURL.scheme, baseURL.host, baseURL.port)
            request.urlRequest.url = parts.url
        }
        return try await SystemTransport.patient.send(request)
    }
}

/// What persists on a phone between launches of the app.
struct Phone: Sendable {
    let server: CompleteAppServer
    let folder: TemporaryFolder
    let signature: CompleteAppPageTests.Signature
    let signOuts = Recorder<Void>()
    let log = Recorder<String>()

    init(_ signature: CompleteAppPageTests.Signature) throws {
        self.signature = signature
        server = try CompleteAppServer()
        folder = try TemporaryFolder()
    }

    var transport: any Transport { server.transport }
    var file: URL { folder.url.appending(path: "manual") }

    func launch(signsIn: Bool = true) async throws -> CompleteApp.Network {
        let network = CompleteApp.Network(
            transport: transport,
            signature: signature.plugin,
            folder: folder.url,
            log: { [log] in log.append($0) },
            signedOut: { [signOuts] in signOuts.append(()) }
        )
        if signsIn { try await network.signIn("anna") }
        return network
    }
}

extension CompleteApp.Network {
    /// What the app receives for its list.
    struct List {
        let origin: Response.Origin
        let text: String
    }

    private var catalog: Provider<CompleteApp.Catalog> { provider() }

    func signIn(_ user: String) async throws {
        let account = provider(for: CompleteApp.Account.self)
        let tokens = try await account.request(.signIn(user: user, password: "tea"), as: CompleteApp.Tokens.self)
        try await authentication.signIn(tokens)
    }

    func products(_ policy: CachePolicy = .useProtocol) async throws(TargetKitError) -> List {
        let response: Response = try await catalog.request(.products, options: Self.options(policy))
        let products = try response.decode([String].self, atKeyPath: "data")
        return List(origin: response.origin, text: products.joined())
    }

    /// The error of the call for the list.
    func failure(_ policy: CachePolicy) async -> TargetKitError? {
        await Result { () async throws(TargetKitError) in try await products(policy) }.failure
    }

    /// The bytes of the manual's file after its download.
    func manual(_ file: URL, retries: Bool = true) async throws -> Data {
        let policy = retries ? RetryPolicy.idempotent : .never
        _ = try await catalog.request(.manual(to: file), options: .setting(\.retryPolicy, policy)) as Response
        return try Data(contentsOf: file)
    }

    private static func options(_ policy: CachePolicy) -> CallOptions {
        .setting(\.cachePolicy, policy).setting(\.retryPolicy, .never)
    }
}
