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

/// A refresh that is a call of the same provider.
@Suite("Circuit breaker and refresh", .throttled, .timeLimit(.minutes(3)))
struct CircuitRefreshTests {
    private let clock = ManualClock()
    private let breaker: CircuitBreakerPlugin
    private let status = Locked(503)
    private let tokenStatus = Locked(200)
    private let script: ScriptedTransport
    private let target = SturdyTarget(baseURL: HostSet.urls("a")[0], validation: .successCodes)
    /// A call to another server, which needs a token of the first one.
    private let other = SturdyTarget(baseURL: HostSet.urls("b")[0], validation: .successCodes)

    init() {
        breaker = CircuitBreakerPlugin(policy: .init(failures: 1, share: 0), clock: clock)
        script = ScriptedTransport { [status, tokenStatus] request, _ in
            .status((request.url?.lastPathComponent == "token" ? tokenStatus : status).withLock { $0 })
        }
    }

    /// A provider whose first token has expired, and whose refresh is one of its own calls.
    private func provider() -> Provider<SturdyTarget> {
        let itself = Locked<Provider<SturdyTarget>?>(nil)
        let renewal = target.with { $0.path = "/token" }
        let authentication = AuthenticationPlugin(
            authenticator: TokenAuthenticator(
                renew: { token in
                    let provider = itself.withLock { $0 }
                    _ = try await provider?.request(renewal)
                    return Token(token.number + 1)
                },
                isDue: { $0.number == 1 }
            ),
            store: MemoryCredentialStore(Token(1)),
            authorizes: { _ in true },
            signOut: { _ in }
        )
        let plugins: [any Plugin] = [authentication, breaker]
        let provider = Provider<SturdyTarget>(transport: script.transport, plugins: plugins, clock: clock)
        itself.withLock { $0 = provider }
        return provider
    }

    /// Opens the circuit, and lets its time pass.
    private func halfOpen() async {
        await fail()
        clock.advance(by: .seconds(30))
        status.withLock { $0 = 200 }
    }

    private func fail() async {
        status.withLock { $0 = 503 }
        _ = await Provider<SturdyTarget>(transport: script.transport, plugins: [breaker]).result(target)
        #expect(breaker.state(of: target.baseURL) == .open)
    }

    private var paths: [String] { script.requests.elements.dropFirst().map { $0.url?.lastPathComponent ?? "" } }

    @Test("The probe of a half-open circuit gets its token through that circuit")
    func probe() async {
        await halfOpen()
        #expect(RecordingPlugin.Outcome(await provider().result(target)) == .status(200))
        #expect(paths == ["token", "things"])
        #expect(breaker.state(of: target.baseURL) == .closed)
    }

    @Test("A refresh needs no permit of a half-open circuit, and gives none back")
    func noPermit() async {
        await halfOpen()
        let gate = Gate()
        let held = ScriptedTransport { _, _ in
            try await gate.waitUnlessCancelled()
            return .status(200)
        }
        let probing = Provider<SturdyTarget>(transport: held.transport, plugins: [breaker])
        async let probe = probing.result(target)
        await held.requests.waitForCount(1)
        // The only permit is taken: a call is refused before it asks for a token, and a refresh is sent.
        let provider = provider()
        #expect(await provider.result(target).failure?.underlying is CircuitOpenError)
        #expect(paths == [])
        tokenStatus.withLock { $0 = 503 }
        #expect(await provider.result(other).failure != nil)
        #expect(paths == ["token"])
        #expect(breaker.state(of: target.baseURL) == .halfOpen)
        gate.open()
        #expect(RecordingPlugin.Outcome(await probe) == .status(200))
        #expect(breaker.state(of: target.baseURL) == .closed)
    }

    @Test("A refresh that fails does not open a half-open circuit")
    func failing() async {
        await halfOpen()
        tokenStatus.withLock { $0 = 503 }
        #expect(await provider().result(target).failure != nil)
        #expect(paths == ["token"])
        #expect(breaker.state(of: target.baseURL) == .halfOpen)
        // The probe's place is free.
        tokenStatus.withLock { $0 = 200 }
        #expect(RecordingPlugin.Outcome(await provider().result(target)) == .status(200))
    }

    @Test("An open circuit refuses a refresh too")
    func open() async {
        await fail()
        #expect(await provider().result(other).failure?.underlying is CircuitOpenError)
        #expect(paths == [])
    }
}
