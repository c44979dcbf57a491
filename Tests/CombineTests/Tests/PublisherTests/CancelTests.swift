// SPDX-License-Identifier: MIT
import Foundation
import OpenCombine
import TargetKit
import ProviderPublishers
import PublisherSupport
import Testing

@Suite("Cancelling a subscription")
struct CancelTests {
    private let queue = DispatchQueue(label: "publishers")

    private func settle() async {
        await withCheckedContinuation { done in queue.async { done.resume() } }
    }

    @Test("Before the first demand: nothing is sent, then or later")
    func before() async throws {
        let transport = HeldTransport()
        let scope = RequestScope()
        let provider = Provider<TestTarget>(transport: transport, scope: scope)
        let probe = Probe<Response>()
        provider.responsePublisher(for: TestTarget(.example), on: queue).subscribe(probe)
        let subscription = try #require(probe.held)
        probe.cancel()
        subscription.request(.unlimited)
        await settle()
        #expect(scope.inFlightCount == 0)
        #expect(transport.sent.count == 0)
        #expect(probe.signals.count == 0)
    }

    @Test("During the call: it is cancelled, and nothing comes", arguments: [true, false])
    func during(byLettingGo: Bool) async {
        let transport = HeldTransport()
        let scope = RequestScope()
        let provider = Provider<TestTarget>(transport: transport, scope: scope)
        let signals = Recorder<Int>()
        var cancellable: AnyCancellable? = provider.responsePublisher(for: TestTarget(.example), on: queue)
            .sink { _ in
                signals.append(0)
            } receiveValue: { _ in
                signals.append(1)
            }
        await transport.sent.waitForCount(1)
        if byLettingGo {
            cancellable = nil
        } else {
            cancellable?.cancel()
        }
        await transport.cancelled.wait()
        for await count in scope.inFlightCounts where count == 0 { break }
        await settle()
        #expect(signals.count == 0)
    }

    @Test("From within a value: no further value and no completion")
    func fromWithin() async throws {
        let provider = Provider<TestTarget>(transport: SteppingTransport(steps: 20))
        let probe = Probe<RequestEvent>(demand: .unlimited) { probe, _ in
            if probe.signals.count == 3 { probe.cancel() }
            return .unlimited
        }
        provider.eventPublisher(for: TestTarget(.example), on: queue).subscribe(probe)
        await probe.signals.waitForCount(3)
        for await count in provider.scope.inFlightCounts where count == 0 { break }
        await settle()
        #expect(probe.signals.count == 3)
    }

    @Test("After the completion: nothing happens")
    func after() async throws {
        let provider = Provider<TestTarget>(stubClosure: { _ in .immediate })
        let probe = Probe<Response>()
        provider.responsePublisher(for: TestTarget(.example), on: queue).subscribe(probe)
        let subscription = try #require(probe.held)
        probe.request(.max(1))
        await probe.signals.waitForCount(2)
        subscription.cancel()
        subscription.cancel()
        subscription.request(.max(1))
        await settle()
        #expect(probe.signals.count == 2)
    }

    @Test("One of many leaves the others alone")
    func oneOfMany() async {
        let transport = HeldTransport()
        let provider = Provider<TestTarget>(transport: transport)
        let probes = (0..<20).map { _ in Probe<Response>(demand: .unlimited) }
        for probe in probes { provider.responsePublisher(for: TestTarget(.example), on: queue).subscribe(probe) }
        await transport.sent.waitForCount(20)
        for probe in probes[..<10] { probe.cancel() }
        for index in 0..<20 { await transport.release(index) }
        for probe in probes[10...] { await probe.signals.waitForCount(2) }
        await settle()
        #expect(probes.map(\.signals.count) == Array(repeating: 0, count: 10) + Array(repeating: 2, count: 10))
    }

    @Test(
        "Cancelled from another thread at any moment, a subscription ends at most once and never goes on",
        .timeLimit(.minutes(3))
    )
    func race() async {
        let provider = Provider<TestTarget>(stubClosure: { _ in .immediate })
        for round in 0..<300 {
            let probe = Probe<Response>()
            provider.responsePublisher(for: TestTarget(.example), on: queue).subscribe(probe)
            async let asked: Void = probe.request(.unlimited)
            async let left: Void = cancel(probe, after: round % 7)
            _ = await (asked, left)
            for await count in provider.scope.inFlightCounts where count == 0 { break }
            await settle()
            #expect(probe.ends.count <= 1)
            #expect(probe.signals.count <= 2)
        }
    }

    private func cancel(_ probe: Probe<Response>, after turns: Int) async {
        for _ in 0..<turns { await Task.yield() }
        probe.cancel()
    }

    @Test(
        "Neither provider nor subscriber outlives the end of its subscription, also when that is kept",
        .timeLimit(.minutes(3)),
        arguments: [true, false]
    )
    func noCycle(byCancel: Bool) async throws {
        var kept: (any Subscription)?
        weak var weakProvider: Provider<TestTarget>?
        weak var weakProbe: Probe<Response>?
        let transport = HeldTransport()
        do {
            let provider = Provider<TestTarget>(transport: transport)
            let probe = Probe<Response>(demand: .unlimited)
            (weakProvider, weakProbe) = (provider, probe)
            provider.responsePublisher(for: TestTarget(.example), on: queue).subscribe(probe)
            await transport.sent.waitForCount(1)
            kept = probe.held
            if byCancel {
                probe.cancel()
                await transport.cancelled.wait()
            } else {
                await transport.release(0)
                await probe.signals.waitForCount(2)
            }
        }
        // The task of the call has yet to let go.
        while weakProbe != nil {
            await settle()
            await Task.yield()
        }
        // What is kept knows how to make its call, and with that the provider.
        #expect(kept != nil)
        kept = nil
        while weakProvider != nil {
            await settle()
            await Task.yield()
        }
    }
}
