// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
@testable import TargetKit
import TargetKitTesting
import Testing

extension SharedExchangeTests {
    @Test(
        "A stubbed call and a real one never share, in either order",
        .timeLimit(.minutes(3)),
        arguments: [true, false]
    )
    func stubbedApart(stubFirst: Bool) async throws {
        let stubbed = TestTarget(.example).with {
            $0.sampleResponse = .response(status: 203, data: Data("\"sample\"".utf8))
        }
        let clock = ManualClock()
        let provider = Provider<MultiTarget>(
            stubClosure: { Self.isStubbed($0) ? .delayed(.seconds(1)) : .never },
            transport: transport,
            options: .setting(\.sharesInFlight, true),
            clock: clock
        )
        let calls = calls(provider, stubFirst ? [stubbed, target] : [target, stubbed])
        await joined(2, provider)
        try await clock.waitForSleepers(1)
        await transport.release(0)
        clock.advance(by: .seconds(1))
        let results = [try await calls[0].value.get(), try await calls[1].value.get()]
        let (sample, real) = stubFirst ? (results[0], results[1]) : (results[1], results[0])
        #expect(sample.statusCode == 203)
        #expect(try sample.string() == "\"sample\"")
        #expect(real.statusCode == 200)
        #expect(try real.string() == "\"/v1/things\"")
    }

    @Test(
        "Stubbed calls share only if their samples are equal",
        .timeLimit(.minutes(3)),
        arguments: [true, false]
    )
    func samples(areEqual: Bool) async throws {
        let clock = ManualClock()
        let provider = Provider<MultiTarget>(
            stubClosure: { _ in .delayed(.seconds(1)) },
            plugins: [plugin],
            options: .setting(\.sharesInFlight, true),
            clock: clock
        )
        let other = areEqual ? target : target.with { $0.sampleResponse = .response(status: 203, data: Data()) }
        let calls = calls(provider, [target, other])
        await joined(2, provider)
        try await clock.waitForSleepers(areEqual ? 1 : 2)
        clock.advance(by: .seconds(1))
        #expect(try await calls[0].value.get().statusCode == 200)
        #expect(try await calls[1].value.get().statusCode == (areEqual ? 200 : 203))
        #expect(count { $0 == .willSend(attempt: 0) } == (areEqual ? 1 : 2))
    }

    private static func isStubbed(_ target: MultiTarget) -> Bool {
        if case .response(203, _, _) = target.sampleResponse { true } else { false }
    }
}
