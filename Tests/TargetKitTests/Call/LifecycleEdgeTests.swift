// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

/// Corners of a call's life that the model has led to, or that its code showed when it was read.
@Suite(.throttled)
struct LifecycleEdgeTests {
    @Test("Cancelling the task that reads events ends them with an error, never as if all were said")
    func cancelledEvents() async throws {
        let gate = Gate()
        let provider = Provider<TestTarget>(
            transport: StubTransport { _ in
                try await gate.waitUnlessCancelled()
                return .response(status: 200, data: Data())
            }
        )
        let reading = Task {
            for try await _ in provider.events(for: TestTarget(.example)) {}
        }
        await gate.waitForArrivals()
        reading.cancel()
        let error = await #expect(throws: TargetKitError.self) { try await reading.value }
        #expect(error?.stage == .cancelled)
        #expect(error?.target is TestTarget)
    }

    @Test(
        "A stream that is held and not read is cancelled too: a shutdown need not wait for it",
        .timeLimit(.minutes(3))
    )
    func cancelledUnreadStream() async throws {
        let scope = RequestScope()
        let provider = Provider<TestTarget>(
            transport: StubTransport(.response(status: 200, data: Data("tea".utf8))),
            scope: scope
        )
        let stream = try await provider.stream(TestTarget(.example))
        provider.cancelAll()
        for await count in scope.inFlightCounts where count == 0 { break }
        #expect(scope.inFlightCount == 0)
        let error = await #expect(throws: TargetKitError.self) { for try await _ in stream {} }
        #expect(error?.stage == .cancelled)
    }

    @Test("The counts of a scope that nobody holds any more come to an end", .timeLimit(.minutes(3)))
    func countsOfReleasedScope() async {
        var counts = RequestScope().inFlightCounts.makeAsyncIterator()
        #expect(await counts.next() == 0)
        #expect(await counts.next() == nil)
        #expect(!Task.isCancelled)
    }

    @Test(
        "A call without a limit does not share the exchange of one that has a limit, and its failure with it",
        .timeLimit(.minutes(3))
    )
    func sharingWithAnotherTimeout() async throws {
        let (gate, clock) = (Gate(), ManualClock())
        let provider = Provider<TestTarget>(
            transport: StubTransport { _ in
                try await gate.waitUnlessCancelled()
                return .response(status: 200, data: Data())
            },
            options: .setting(\.sharesInFlight, true),
            clock: clock
        )
        let hurried = Task {
            try await provider.request(TestTarget(.example), options: .setting(\.timeout, .exchange(.seconds(1))))
                .statusCode
        }
        await gate.waitForArrivals(1)
        try await clock.waitForSleepers()
        let patient = Task { try await provider.request(TestTarget(.example)).statusCode }
        await gate.waitForArrivals(2)
        clock.advance(by: .seconds(1))
        let error = await #expect(throws: TargetKitError.self) { try await hurried.value }
        #expect(error?.kind == .timedOut)
        gate.open()
        #expect(try await patient.value == 200)
    }
}
