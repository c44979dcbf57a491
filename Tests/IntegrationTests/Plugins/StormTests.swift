// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitResilience
import TargetKitDiagnostics
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Many calls of two users at once through every kind of trouble, with the plugins in a random order, and cancelled at
/// any moment.
@Suite("A storm of calls", .throttled, .timeLimit(.minutes(15)))
struct StormTests {
    /// How often the storm comes; `TARGETKIT_STORMS` sets another number.
    private static let rounds = ProcessInfo.processInfo.environment["TARGETKIT_STORMS"].flatMap(UInt64.init) ?? 1
    private static let callCount = 2_000

    @Test(
        "Each of 2,000 calls ends once, with its own response or with a failure that its server or plugins explain",
        arguments: 0..<rounds
    )
    func storm(seed: UInt64) async throws {
        let storm = Storm(seed: seed)
        let results = await storm.run(Self.callCount)
        #expect(results.count == Self.callCount)
        var successes = 0
        for (number, outcomes) in results {
            try #require(outcomes.count == 1, "call \(number) ended \(outcomes.count) times")
            switch outcomes[0] {
            case .success(let response):
                successes += 1
                try #require(response.data == Data("item \(number)".utf8), "call \(number) got another's response")
            case .failure(let error):
                try #require(
                    (error.target as? StormCall)?.number == number && storm.explains(error),
                    "call \(number): \(error)"
                )
            }
        }
        #expect(successes > Self.callCount / 2)
        // An exchange can outlast a cancelled call.
        await storm.scope.shutdown(grace: .zero)
        storm.hooks.expectCompleteness(of: Self.callCount)
        #expect(storm.server.foreignTokenCount == 0, "a request had the other user's token")
        #expect(storm.scope.inFlightCount == 0)
    }
}

/// Two providers for each of two users, which share all plugins but the users' own, and the server of their calls.
private struct Storm {
    let clock = ManualClock()
    let server = StormServer()
    let scope = RequestScope()
    let hooks = HookCounts()
    private let seed: UInt64
    /// Those of the first user, then those of the second.
    private let providers: [Provider<StormCall>]

    init(seed: UInt64) {
        self.seed = seed
        let (server, scope, hooks, clock) = (server, scope, hooks, clock)
        let hosts = ["https://dead.example", "https://alive.example"].compactMap(URL.init(string:))
        let breaker = CircuitBreakerPlugin(policy: CircuitBreakerPolicy(failures: 200), clock: clock)
        let plugins: [any Plugin] = [
            hooks,
            HostFailoverPlugin(hosts: hosts, clock: clock),
            breaker,
            DefaultHeadersPlugin(userAgent: "Storm/1", languages: { ["en"] }),
            RetryPlugin(clock: clock, generator: SeededGenerator(seed: seed)),
            WaitsForConnectivityPlugin(
                Reachability(ManualConnectivity(.online(.wifi, isExpensive: false))),
                clock: clock
            ),
            RequestSigningPlugin(fields: ["X-Signature"]) { _, _ in ["X-Signature": "0"] },
            NetworkLoggerPlugin(level: .headers, clock: clock) { _ in },
            NetworkActivityPlugin { _, _ in },
            LoadingPlugin(delay: .milliseconds(200), shortest: .milliseconds(300), clock: clock) { _ in },
            MetricsPlugin(),
            ConcurrencyLimitPlugin(100),
            RateLimitPlugin(5_000, per: .seconds(1), clock: clock),
            EventLogPlugin { _ in },
        ]
        var random = SeededGenerator(seed: seed)
        providers = [0, 1].flatMap { (user: Int) -> [Provider<StormCall>] in
            // Not on the clock of the storm, which moves to the next deadline whenever something waits: the longest
            // time of a refresh would pass at once.
            let authentication = AuthenticationPlugin(
                authenticator: TokenAuthenticator(renew: { server.renew($0) }),
                store: MemoryCredentialStore(StormServer.firstToken(of: user)),
                refreshLimit: 1_000
            ) { _ in }
            let all: [any Plugin] = plugins + [authentication, UnauthorizedPlugin(after: authentication) { _ in }]
            return (0..<2).map { _ in
                Provider(
                    transport: StubTransport { try await server.answer($0) },
                    plugins: all.shuffled(using: &random),
                    scope: scope,
                    clock: clock
                )
            }
        }
    }

    /// Makes calls in every way and returns the outcomes of each, until all have ended.
    func run(_ count: Int) async -> [Int: [Result<Response, TargetKitError>]] {
        let outcomes = Recorder<(Int, Result<Response, TargetKitError>)>()
        let seed = seed
        let (_, _) = await clock.stepping { [providers] in
            await withTaskGroup(of: Void.self) { group in
                var random = SeededGenerator(seed: seed &+ 1)
                for number in 0..<count {
                    let call = StormCall(number: number)
                    let provider = providers[2 * call.user + number / 2 % 2]
                    // The number of steps of other tasks after which the call is cancelled.
                    let cancelStep = number % 9 == 0 ? random.next() % 200 : nil
                    group.addTask {
                        switch number / 4 % 4 {
                        case 0:
                            let handle = provider.request(call, on: .global()) { outcomes.append((number, $0)) }
                            if let cancelStep {
                                for _ in 0..<cancelStep { await Task.yield() }
                                handle.cancel()
                            }
                            _ = try? await handle.response()
                        case 1:
                            let task = Task { await provider.result(call) }
                            if let cancelStep {
                                for _ in 0..<cancelStep { await Task.yield() }
                                task.cancel()
                            }
                            outcomes.append((number, await task.value))
                        default: outcomes.append((number, await provider.result(call)))
                        }
                    }
                }
            }
            await outcomes.waitForCount(count)
        }
        return Dictionary(grouping: outcomes.elements, by: \.0).mapValues { $0.map(\.1) }
    }

    /// Whether the server, a plugin or the test is the reason for the failure.
    func explains(_ error: TargetKitError) -> Bool {
        if error.underlying is CircuitOpenError { return true }
        return switch error.kind {
        case .cancelled: true
        case .server: error.response?.statusCode == 503
        case .cannotConnect: true
        case .unauthorized: error.response?.statusCode == 401
        default: false
        }
    }
}

/// A host that is dead, and one that rejects old tokens and is sometimes busy.
private final class StormServer: Sendable {
    private struct State: Sendable {
        /// The number of each user's current token.
        var tokens = [1, 1_000_001]
        var requestCount = 0
        var foreignTokenCount = 0
        var attempts: [Int: Int] = [:]
    }

    private let state = Locked(State())

    static func firstToken(of user: Int) -> Token { Token(State().tokens[user]) }

    private static func user(of token: Int) -> Int { token / 1_000_000 }

    /// The number of requests with a token of another user than the one whose call it is.
    var foreignTokenCount: Int { state.withLock(\.foreignTokenCount) }

    func renew(_ token: Token) -> Token {
        state.withLock { Token(max($0.tokens[Self.user(of: token.number)], token.number)) }
    }

    func answer(_ request: TransportRequest) async throws -> SampleResponse {
        let url = request.urlRequest.url
        await Task.yield()
        if url?.host() == "dead.example" { throw URLError(.cannotConnectToHost) }
        let number = url.flatMap { Int($0.lastPathComponent) } ?? -1
        let user = StormCall(number: number).user
        let field = request.urlRequest.value(forHTTPHeaderField: "Authorization")
        let sent = field?.split(separator: "-").last.flatMap { Int($0) }
        let (token, attempt) = state.withLock { state in
            state.requestCount += 1
            // Calls get their token before they wait for the limits.
            if state.requestCount % 1_500 == 0 { state.tokens[user] += 1 }
            if let sent, Self.user(of: sent) != user { state.foreignTokenCount += 1 }
            state.attempts[number, default: 0] += 1
            return (state.tokens[user], state.attempts[number] ?? 0)
        }
        guard sent == token else {
            return .status(401, ["WWW-Authenticate": "Bearer error=\"invalid_token\""])
        }
        if number % 7 == 0, attempt < 3 { return .status(503) }
        if number % 101 == 0 { return .status(503, ["Retry-After": "1"]) }
        return .response(status: 200, data: Data("item \(number)".utf8))
    }
}

private struct StormCall: TargetType {
    let number: Int

    var user: Int { number % 2 }
    var baseURL: URL { .shop }
    var path: RequestPath { "/items/\(number)" }
    var method: HTTPMethod { number % 5 == 0 ? .post : .get }
    var options: CallOptions { .setting(\.sharesInFlight, number % 11 == 0) }
}

/// Counts the hooks of each context.
private struct HookCounts: Plugin {
    private struct Counts: Sendable {
        var sent = 0
        var received = 0
        var processed = 0
        var finished = 0
    }

    private let counts = Locked<[RequestContext.ID: Counts]>([:])

    private func add(_ hook: WritableKeyPath<Counts, Int>, _ context: RequestContext) {
        counts.withLock { $0[context.id, default: Counts()][keyPath: hook] += 1 }
    }

    func willSend(_ request: URLRequest, context: RequestContext) { add(\.sent, context) }

    func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) { add(\.received, context) }

    func process(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        add(\.processed, context)
        return result
    }

    func didFinish(_ call: FinishedCall, context: RequestContext) { add(\.finished, context) }

    /// Expects a `didReceive` for each `willSend`, and one `process` and `didFinish` for each call. Shared exchanges
    /// have contexts without the last two.
    func expectCompleteness(of callCount: Int) {
        let counts = counts.withLock { Array($0.values) }
        #expect(counts.allSatisfy { $0.sent == $0.received })
        #expect(counts.allSatisfy { $0.processed == $0.finished && $0.processed <= 1 })
        #expect(counts.count { $0.finished == 1 } == callCount)
    }
}
