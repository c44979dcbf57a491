// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

@Suite("StubTransport", .throttled, .timeLimit(.minutes(3)))
struct StubTransportTests {
    @Test("It keeps each requirement of Transport", arguments: TransportConformance.stubRequirements)
    func conforms(requirement: StubRequirement) async throws {
        try await requirement.check { answer in StubTransport(respond: answer) }
    }

    @Test("It keeps them after a delay too", arguments: TransportConformance.stubRequirements)
    func conformsLate(requirement: StubRequirement) async throws {
        try await requirement.check { answer in StubTransport(delay: .milliseconds(1), respond: answer) }
    }

    @Test("A cancel within the delay ends the call as cancelled, before the sample is asked for")
    func cancelInDelay() async throws {
        let clock = ManualClock()
        let asked = Recorder<Int>()
        let transport = StubTransport(delay: .seconds(1), clock: clock) { _ in
            asked.append(1)
            return .response(status: 200, data: Data())
        }
        let call = Task { try await transport.send(Self.request()) }
        try await clock.waitForSleepers(1)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(asked.count == 0)
    }

    @Test("A timeout that is shorter than the delay ends the call, on the same clock")
    func timeout() async throws {
        let clock = ManualClock()
        let transport = StubTransport(.response(status: 200, data: Data()), delay: .seconds(3), clock: clock)
        let call = Task { try await transport.send(Self.request(timeout: .seconds(2))) }
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(2))
        let error = await #expect(throws: URLError.self) { try await call.value }
        #expect(error?.code == .timedOut)
    }

    private static func request(timeout: Duration? = nil) throws -> TransportRequest {
        try TestCall(timeout: timeout).request(to: URL(fileURLWithPath: "/"))
    }
}
