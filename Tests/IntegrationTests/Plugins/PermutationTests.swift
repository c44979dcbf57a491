// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitResilience
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The order of the plugins in a provider's array has no effect: their places determine it.
@Suite("Permutations of the plugins", .throttled, .timeLimit(.minutes(15)))
struct PermutationTests {
    @Test("The calls use every plugin")
    func calls() async throws {
        let run = try await PermutationRun { $0 }
        #expect(
            run.results.map { $0.prefix(3) }
                == ["200", "200", "200", "200", "sta", "sta", "req", "req", "200", "200", "sta", "sta"]
        )
        #expect(
            run.events == [
                "host https://two.example", "host https://one.example", "host https://two.example",
                "host https://one.example", "host https://two.example", "circuit https://two.example open",
                "host https://one.example", "circuit https://one.example open",
                "circuit https://one.example halfOpen", "circuit https://one.example closed",
                "session ended", "signed out",
            ]
        )
        #expect(run.requests.count == 20)
        #expect(run.delays.count == 6)
    }

    @Test("Without their places, the order of the plugins has an effect")
    func withoutPlaces() async throws {
        let expected = try await PermutationRun { $0.map(Unplaced.init) }
        let run = try await PermutationRun { $0.reversed().map(Unplaced.init) }
        #expect(run.requests != expected.requests)
        #expect(run.results != expected.results)
    }

    /// How many permutations each part has; `TARGETKIT_PERMUTATIONS` sets another number.
    private static let count = ProcessInfo.processInfo.environment["TARGETKIT_PERMUTATIONS"].flatMap(UInt64.init) ?? 25

    /// In parts, which run at the same time.
    @Test("Random permutations give the same requests and results", arguments: 0..<8)
    func permutations(_ part: UInt64) async throws {
        let expected = try await PermutationRun { $0 }
        for seed in part * Self.count..<(part + 1) * Self.count {
            let run = try await PermutationRun { plugins in
                var random = SeededGenerator(seed: seed)
                return plugins.shuffled(using: &random)
            }
            try #require(run == expected, "seed \(seed)")
        }
    }
}

/// What the same calls have sent, logged and returned with the plugins in some order.
private struct PermutationRun: Equatable {
    /// The requests as the transport gets them.
    let requests: [String]
    /// What the callers get.
    let results: [String]
    /// The delays before repetitions.
    let delays: [Duration]
    /// The lines of the logger, without the number of the call.
    let lines: [String]
    /// New hosts, changes of circuits, and the end of the session.
    let events: [String]

    private enum Step: Sendable {
        case call(ShopCall)
        case wait(Duration)
        case revoke
    }

    private static let steps: [Step] = [
        .call(ShopCall("/list")),
        .call(ShopCall("/busy")),
        .call(ShopCall("/moved")),
        .call(ShopCall("/orders", .post, .json(["tea": 3]), key: "order-1")),
        .call(ShopCall("/votes", .post, .data(Data("tea".utf8)))),
        .call(ShopCall("/broken")), .call(ShopCall("/broken")), .call(ShopCall("/list")),
        .wait(.seconds(40)),
        .call(ShopCall("/list")),
        .wait(.seconds(60)),
        .call(ShopCall("/list")),
        .revoke,
        .call(ShopCall("/list")), .call(ShopCall("/list")),
    ]

    /// Makes the calls with fresh plugins.
    init(_ arrange: ([any Plugin]) -> [any Plugin]) async throws {
        let (server, clock) = (ShopServer(), ManualClock())
        let (lines, events) = (Recorder<String>(), Recorder<String>())
        let authentication = AuthenticationPlugin(
            authenticator: TokenAuthenticator(renew: { try server.renew($0) }),
            store: MemoryCredentialStore(Token(1)),
            clock: ManualClock()
        ) { _ in
            events.append("session ended")
        }
        let environment = ServerEnvironment(
            "test",
            baseURL: "https://one.example/v1",
            headers: ["X-Environment": "test", "Accept": "application/vnd.shop+json"]
        )
        let hosts = try ["https://one.example", "https://two.example"].map { try #require(URL(string: $0)) }
        let plugins: [any Plugin] = [
            EnvironmentPlugin(
                EnvironmentStore(default: environment, storage: MemoryEnvironmentStorage(), launch: .ignored)
            ),
            HostFailoverPlugin(hosts: hosts, clock: clock, onMove: { events.append("host \($0)") }),
            CircuitBreakerPlugin(
                clock: clock,
                onChange: { events.append("circuit \($0) \($1)") }
            ),
            UnauthorizedPlugin(after: authentication) { _ in events.append("signed out") },
            DefaultHeadersPlugin(userAgent: "Shop/1", languages: { ["en"] }),
            RetryPlugin(clock: clock, generator: SeededGenerator(seed: 1)),
            ConcurrencyLimitPlugin(4),
            authentication,
            RequestSigningPlugin(fields: ["X-Signature"]) { request, _ in ["X-Signature": try request.checksum] },
            NetworkLoggerPlugin(
                level: .headers,
                clock: clock,
                output: { line in lines.append(String(line.drop { $0 != "." })) }
            ),
        ]
        let provider = Provider<ShopCall>(
            transport: StubTransport { try server.answer($0) },
            plugins: arrange(plugins),
            clock: clock
        )
        (results, delays) = await clock.stepping {
            var results: [String] = []
            for step in Self.steps {
                switch step {
                case .call(let call): results.append(await provider.result(call).text)
                case .wait(let duration): clock.advance(by: duration)
                case .revoke: server.revoke()
                }
            }
            return results
        }
        requests = server.requests.elements
        self.lines = lines.elements
        self.events = events.elements
    }
}

/// A plugin without its place.
private struct Unplaced: Plugin {
    let plugin: any Plugin

    var secretHeaders: Set<HTTPHeaderName> { plugin.secretHeaders }

    func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        try await plugin.prepare(request, context: context)
    }

    func willSend(_ request: URLRequest, context: RequestContext) {
        plugin.willSend(request, context: context)
    }

    func exchange(
        _ request: TransportRequest,
        context: RequestContext,
        next: Exchange
    ) async throws -> TransportResponse {
        try await plugin.exchange(request, context: context, next: next)
    }

    func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        plugin.didReceive(result, context: context)
    }

    func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
        await plugin.retry(result, context: context)
    }

    func process(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        await plugin.process(result, context: context)
    }

    func didFinish(_ call: FinishedCall, context: RequestContext) {
        plugin.didFinish(call, context: context)
    }
}

/// A server with two hosts, whose answers depend on the requests before.
private final class ShopServer: Sendable {
    private struct State: Sendable {
        var token = Token(2)
        var isRevoked = false
        var counts: [String: Int] = [:]
    }

    private let state = Locked(State())
    let requests = Recorder<String>()

    /// Rejects all tokens, and refuses to renew them.
    func revoke() {
        state.withLock { state in
            state.token = Token(-1)
            state.isRevoked = true
        }
    }

    func renew(_ token: Token) throws -> Token {
        try state.withLock { state in
            if state.isRevoked { throw Boom() }
            return state.token
        }
    }

    func answer(_ request: TransportRequest) throws -> SampleResponse {
        requests.append(try request.signable.text)
        let path = request.urlRequest.url?.lastPathComponent ?? ""
        let (count, token) = state.withLock { state in
            state.counts[path, default: 0] += 1
            return (state.counts[path] ?? 0, state.token)
        }
        switch (path, request.urlRequest.url?.host()) {
        case ("busy", _): return .response(status: count < 4 ? 503 : 200, data: Data())
        case ("moved", _) where count == 1: return .redirect("/v1/moved")
        case ("moved", _): return .redirect("https://other.example/file")
        case ("orders", "two.example"): throw URLError(.cannotConnectToHost)
        case ("votes", _): return .response(status: 503, data: Data())
        case ("broken", _): return .response(status: 500, data: Data("broken".utf8))
        case ("list", _):
            let isGood = request.urlRequest.value(forHTTPHeaderField: "Authorization") == token.field
            return .response(status: isGood ? 200 : 401, data: Data("list".utf8))
        default: return .response(status: 200, data: Data(path.utf8))
        }
    }
}

private struct ShopCall: TargetType {
    let path: RequestPath
    let method: HTTPMethod
    let task: HTTPTask
    let options: CallOptions

    var baseURL: URL { URL(string: "https://one.example/v1") ?? .shop }
    var headers: HTTPHeaders { ["Authorization": "Bearer none", "X-Target": "1"] }

    init(_ path: RequestPath, _ method: HTTPMethod = .get, _ task: HTTPTask = .plain, key: String? = nil) {
        self.path = path
        self.method = method
        self.task = task
        options = .setting(\.idempotencyKey, key)
    }
}

extension SampleResponse {
    fileprivate static func redirect(_ location: String) -> SampleResponse {
        .response(status: 307, headers: ["Location": location], data: Data())
    }
}

extension TransportRequest {
    fileprivate var signable: SignableRequest {
        get throws {
            SignableRequest(
                method: HTTPMethod(rawValue: urlRequest.httpMethod ?? ""),
                url: try #require(urlRequest.url),
                headers: HTTPHeaders(urlRequest.allHTTPHeaderFields ?? [:]),
                body: body
            )
        }
    }
}

extension SignableRequest {
    /// Everything that is sent.
    fileprivate var text: String {
        get throws {
            let fields = headers.map { "\($0.name.rawValue): \($0.value)" }.sorted()
            let body = String(decoding: try bodyData(), as: UTF8.self)
            return (["\(method.rawValue) \(url.absoluteString)"] + fields + ["", body]).joined(separator: "\n")
        }
    }

    /// A checksum of everything that is sent: FNV-1a.
    fileprivate var checksum: String {
        get throws {
            let sum = try text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
            return String(sum, radix: 16)
        }
    }
}

extension Result<Response, TargetKitError> {
    fileprivate var text: String {
        switch self {
        case .success(let response): "\(response.statusCode) \(String(decoding: response.data, as: UTF8.self))"
        case .failure(let error): "\(error.stage) \(error.kind) \(error)"
        }
    }
}
