// SPDX-License-Identifier: MIT
import Foundation
import TargetKitTesting
import TestSupport
import Testing

@testable import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Time left", .throttled, .timeLimit(.minutes(2)))
struct RemainingTimeTests {
    private let clock = ManualClock()

    /// A plugin that notes the time that is left in two hooks.
    private struct Noting: Plugin {
        let place = PluginPlace.observation
        let left: Recorder<Duration?>

        func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
            left.append(context.remainingTime)
            return request
        }

        func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
            left.append(context.remainingTime)
        }
    }

    @Test(
        "A context has the time until the limit of the whole call, by the provider's clock",
        arguments: [
            (.wholeCall(.seconds(10)), [.seconds(10), .seconds(6)]), (.none, [nil, nil]),
            (.exchange(.seconds(9)), [nil, nil]),
            (.wholeCall(.seconds(3)), [.seconds(3), .zero]),
            (.wholeCall(.seconds(Int64.max)), [.seconds(365 * 86_400), .seconds(365 * 86_400 - 4)]),
        ] as [(CallTimeout, [Duration?])]
    )
    func remainingTime(_ timeout: CallTimeout, _ expected: [Duration?]) async {
        let left = Recorder<Duration?>()
        let transport = StubTransport { [clock] _ in
            clock.advance(by: .seconds(4))
            return .response(status: 200, data: Data())
        }
        clock.advance(by: .seconds(100))
        let provider = Provider<TestTarget>(transport: transport, plugins: [Noting(left: left)], clock: clock)
        _ = try? await provider.request(TestTarget(.example), options: .setting(\.timeout, timeout)) as Response
        #expect(left.elements == expected)
    }

    @Test(
        "A shared exchange has the deadline of the call that began it",
        arguments: [[5, 20], [20, 5], [5, nil], [nil, 5]]
    )
    func shared(_ limits: [Int?]) async {
        let (left, gate) = (Recorder<Duration?>(), Gate())
        let transport = StubTransport { _ in
            try await gate.waitUnlessCancelled()
            return .response(status: 200, data: Data())
        }
        let provider = Provider<TestTarget>(transport: transport, plugins: [Noting(left: left)], clock: clock)
        var calls: [Task<Void, Never>] = []
        for (index, limit) in limits.enumerated() {
            let timeout = limit.map { CallTimeout.wholeCall(.seconds($0)) } ?? .none
            let options = CallOptions.setting(\.timeout, timeout).setting(\.sharesInFlight, true)
            calls.append(Task { _ = try? await provider.request(TestTarget(.example), options: options) as Response })
            while !Task.isCancelled, provider.configuration.sharedExchanges.waiterCount <= index { await Task.yield() }
        }
        gate.open()
        for call in calls { await call.value }
        #expect(left.elements.last == .some(limits[0].map { .seconds($0) }))
    }

    @Test("Each attempt of a shared exchange has the call's own timeout, before that of the endpoint")
    func sharedTimeout() async {
        let timeouts = Recorder<Duration?>()
        let transport = StubTransport { request in
            timeouts.append(request.timeout)
            return .response(status: 503, data: Data())
        }
        let again = RecordingPlugin(retry: { _, context in
            context.attempt == 0 ? .retry(after: .zero) : .doNotRetry
        })
        let provider = Provider<TestTarget>(
            endpointClosure: { target in
                var endpoint = try Endpoint(target: target)
                endpoint.timeout = .seconds(5)
                return endpoint
            },
            transport: transport,
            plugins: [again]
        )
        let options = CallOptions.setting(\.timeout, .exchange(.seconds(1))).setting(\.sharesInFlight, true)
        _ = try? await provider.request(TestTarget(.example), options: options) as Response
        #expect(timeouts.elements == [.seconds(1), .seconds(1)])
    }

    @Test("A retry whose delay is longer than the time that is left is not made", arguments: [(4, 2), (5, 1), (6, 1)])
    func retry(_ delay: Int, _ attempts: Int) async {
        let sent = Tally()
        let transport = StubTransport { _ in
            sent.add()
            return .response(status: 503, data: Data())
        }
        let retry = RecordingPlugin(retry: { _, context in
            context.attempt == 0 ? .retry(after: .seconds(delay)) : .doNotRetry
        })
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [retry],
            options: .setting(\.timeout, .wholeCall(.seconds(5))),
            clock: clock
        )
        let call = Task { try? await provider.request(TestTarget(.example).with { $0.validation = .none }) as Response }
        let stepper = Task {
            try? await clock.waitForSleepers(2, within: .seconds(600))
            if !Task.isCancelled { clock.advanceToNextDeadline() }
        }
        #expect(await call.value?.statusCode == 503)
        stepper.cancel()
        #expect(sent.value == attempts)
    }
}
