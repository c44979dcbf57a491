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

/// Failures that say nothing about the requested server, or after which it may have processed the request.
@Suite("What a failure says about the server", .throttled, .timeLimit(.minutes(3)))
struct ServerJudgementTests {
    private let clock = ManualClock()

    private func failover() -> HostFailoverPlugin {
        HostFailoverPlugin(hosts: HostSet.urls("ab"), clock: clock)
    }

    /// A script in which the first answer redirects, and the later ones fail.
    private func redirecting(to location: String, _ failure: SampleResponse) -> ScriptedTransport {
        ScriptedTransport { request, index in
            if request.url?.host() == "b.example" { return .status(200) }
            return index == 0 ? .status(303, ["Location": location]) : failure
        }
    }

    @Test(
        "A POST that was redirected is not sent to another host",
        arguments: [true, false]
    )
    func redirectedPost(_ namesURL: Bool) async throws {
        let asked = try #require(URL(string: "https://a.example/api/things"))
        for location in [asked.absoluteString, "/receipt"] {
            let url = try #require(URL(string: location, relativeTo: asked)?.absoluteURL)
            let userInfo: [String: Any] = namesURL ? [NSURLErrorFailingURLErrorKey: url] : [:]
            let error = SampleResponse.failure(URLError(.cannotConnectToHost, userInfo: userInfo))
            let script = redirecting(to: location, error)
            let plugins: [any Plugin] = [failover()]
            let provider = Provider<SturdyTarget>(transport: script.transport, plugins: plugins, clock: clock)
            let result = await provider.result(SturdyTarget(method: .post))
            #expect(RecordingPlugin.Outcome(result) == .failure(.transport))
            #expect(script.hosts == ["a.example", "a.example"])
            #expect(script.requests.elements.map(\.httpMethod) == ["POST", "GET"])
            let failure = try #require(result.failure?.underlying as? URLError)
            #expect(failure.code == .cannotConnectToHost)
            #expect(failure.userInfo[NSURLErrorFailingURLErrorKey] as? URL == url)
        }
    }

    @Test("A host is not left after a failure behind a redirect to another one, even if the failure has no URL")
    func redirectElsewhere() async {
        let script = redirecting(to: "https://other.example/x", .error(.cannotConnectToHost))
        let (failover, breaker) = (failover(), CircuitBreakerPlugin(policy: .init(failures: 1, share: 0), clock: clock))
        let plugins: [any Plugin] = [failover, breaker]
        let provider = Provider<SturdyTarget>(transport: script.transport, plugins: plugins, clock: clock)
        #expect(RecordingPlugin.Outcome(await provider.result(SturdyTarget())) == .failure(.transport))
        #expect(script.hosts == ["a.example", "other.example"])
        #expect(failover.currentHost?.host() == "a.example")
        #expect(breaker.state(of: "https://a.example") == .closed)
    }

    @Test("The timeout of the whole call is not a failure of the server")
    func callersTime() async throws {
        let held = HeldTransport()
        let (failover, breaker) = (failover(), CircuitBreakerPlugin(policy: .init(failures: 1, share: 0), clock: clock))
        let provider = Provider<SturdyTarget>(
            transport: held.transport,
            plugins: [failover, breaker],
            options: .setting(\.timeout, .wholeCall(.seconds(5))),
            clock: clock
        )
        async let result = provider.result(SturdyTarget())
        await held.requests.waitForCount(1)
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(5))
        let error = try #require(await result.failure)
        #expect(error.stage == .transport)
        #expect(error.kind == .timedOut)
        #expect(breaker.state(of: "https://a.example") == .closed)
        #expect(failover.currentHost?.host() == "a.example")
    }

    @Test("The timeout of the exchange is a failure of the server")
    func serversTime() async {
        let script = ScriptedTransport { request, _ in
            request.url?.host() == "a.example" ? .error(.timedOut) : .status(200)
        }
        let (failover, breaker) = (failover(), CircuitBreakerPlugin(policy: .init(failures: 1, share: 0), clock: clock))
        let provider = Provider<SturdyTarget>(
            transport: script.transport,
            plugins: [failover, breaker],
            options: .setting(\.timeout, .wholeCall(.seconds(5))),
            clock: clock
        )
        #expect(RecordingPlugin.Outcome(await provider.result(SturdyTarget())) == .status(200))
        #expect(breaker.state(of: "https://a.example") == .open)
        #expect(failover.currentHost?.host() == "b.example")
    }
}
