// SPDX-License-Identifier: MIT
import Foundation
import OpenCombine
import TargetKit
import ProviderPublishers
import PublisherSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Demand")
struct DemandTests {
    private let queue = DispatchQueue(label: "publishers")

    /// What has been put on the queue until now has run.
    private func settle() async {
        await withCheckedContinuation { done in queue.async { done.resume() } }
    }

    private func provider(_ transport: any Transport, scope: RequestScope = RequestScope()) -> Provider<TestTarget> {
        Provider(transport: transport, scope: scope)
    }

    @Test("Nothing is sent before the first demand, and a demand of none is none")
    func withoutDemand() async {
        let transport = HeldTransport()
        let scope = RequestScope()
        let probe = Probe<Response>()
        provider(transport, scope: scope).responsePublisher(for: TestTarget(.example), on: queue).subscribe(probe)
        probe.request(.none)
        await settle()
        #expect(scope.inFlightCount == 0)
        #expect(transport.sent.count == 0)
        probe.request(.max(1))
        await transport.release(0)
        await probe.signals.waitForCount(2)
        #expect(probe.values.map(\.statusCode) == [200])
        #expect(probe.ends.count == 1)
    }

    @Test(
        "One value, then one completion, however much is asked for and however often",
        arguments: [[1], [7], [Int.max], [1, 1, 5]]
    )
    func oneValue(demands: [Int]) async {
        let probe = Probe<Response>()
        let sent = Recorder<Int>()
        let transport = StubTransport { _ in
            sent.append(1)
            return .response(status: 201, data: Data())
        }
        provider(transport).responsePublisher(for: TestTarget(.example), on: queue).subscribe(probe)
        for demand in demands { probe.request(demand == .max ? .unlimited : .max(demand)) }
        await probe.signals.waitForCount(2)
        probe.request(.unlimited)
        await settle()
        #expect(sent.count == 1)
        #expect(probe.signals.count == 2)
        guard case .value(let response) = probe.signals.elements[0], case .end(nil) = probe.signals.elements[1] else {
            Issue.record("\(probe.signals.elements)")
            return
        }
        #expect(response.statusCode == 201)
    }

    @Test("Events wait until they are asked for, in their order, and the completion after the last of them")
    func bufferedEvents() async throws {
        let scope = RequestScope()
        let provider = provider(SteppingTransport(steps: 50), scope: scope)
        let probe = Probe<RequestEvent>(demand: .max(1))
        provider.eventPublisher(for: TestTarget(.example), on: queue).subscribe(probe)
        await probe.signals.waitForCount(1)
        for await count in scope.inFlightCounts where count == 0 { break }
        await settle()
        #expect(probe.signals.count == 1)
        probe.request(.max(49))
        await probe.signals.waitForCount(50)
        await settle()
        #expect(probe.signals.count == 50)
        #expect(probe.values.map(\.completed) == Array(1...50))
        probe.request(.max(1))
        await probe.signals.waitForCount(52)
        #expect(probe.values.last?.completed == nil)
        #expect(probe.ends.count == 1)
        #expect(probe.ends.compactMap { $0 }.isEmpty)
    }

    @Test("What a value's receiver asks for counts, by its return value and by a call from within")
    func demandFromWithin() async {
        let probe = Probe<RequestEvent>(demand: .max(1)) { probe, event in
            guard let step = event.completed, step.isMultiple(of: 2) else { return .max(1) }
            probe.request(.max(1))
            return .none
        }
        provider(SteppingTransport(steps: 40)).eventPublisher(for: TestTarget(.example), on: queue).subscribe(probe)
        await probe.signals.waitForCount(42)
        #expect(probe.values.compactMap(\.completed) == Array(1...40))
        #expect(probe.ends.count == 1)
    }

    @Test("A failure waits for the events before it, and needs no demand of its own")
    func failureAfterEvents() async {
        let probe = Probe<RequestEvent>(demand: .max(3))
        provider(SteppingTransport(steps: 5, fails: true)).eventPublisher(for: TestTarget(.example), on: queue)
            .subscribe(probe)
        await probe.signals.waitForCount(3)
        await settle()
        #expect(probe.signals.count == 3)
        probe.request(.max(2))
        await probe.signals.waitForCount(6)
        #expect(probe.values.count == 5)
        #expect(probe.ends.first??.kind == .offline)
    }

    @Test("Demands from many threads at once lose no event, double none and mix none up, on a concurrent queue too")
    func demandFromEverywhere() async {
        let concurrent = DispatchQueue(label: "many", attributes: .concurrent)
        let provider = Provider<TestTarget>(transport: SteppingTransport(steps: 400))
        let probe = Probe<RequestEvent>()
        provider.eventPublisher(for: TestTarget(.example), on: concurrent).subscribe(probe)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<401 { group.addTask { probe.request(.max(1)) } }
        }
        await probe.signals.waitForCount(402)
        #expect(probe.values.compactMap(\.completed) == Array(1...400))
        #expect(probe.ends.count == 1)
    }

    @Test("A value comes only when the one before has been received, on a concurrent queue too")
    func oneAtATime() async {
        let concurrent = DispatchQueue(label: "many", attributes: .concurrent)
        let provider = Provider<TestTarget>(transport: SteppingTransport(steps: 5))
        let overlaps = Tally()
        let probe = Probe<RequestEvent>(demand: .max(1)) { probe, event in
            guard let step = event.completed else { return .none }
            probe.request(.max(1))
            // The queue has come to what was put on it by now; this is no thread that may not wait.
            for _ in 0..<4 {
                let isHere = DispatchSemaphore(value: 0)
                concurrent.async { isHere.signal() }
                isHere.wait()
            }
            if probe.values.count > step { overlaps.add() }
            return .none
        }
        provider.eventPublisher(for: TestTarget(.example), on: concurrent).subscribe(probe)
        await probe.signals.waitForCount(7)
        #expect(overlaps.value == 0)
    }
}

/// A transport that reports so many steps of progress before it answers.
struct SteppingTransport: Transport {
    var steps: Int
    var fails = false

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        for step in 1...steps {
            request.progress?(TransferProgress(completed: Int64(step), total: nil, direction: .download))
        }
        if fails { throw URLError(.notConnectedToInternet) }
        var silent = request
        silent.progress = nil
        return try await StubTransport(.response(status: 200, data: Data())).send(silent)
    }
}

extension RequestEvent {
    /// The number of the step; `nil` for the response.
    fileprivate var completed: Int? {
        switch self {
        case .uploadProgress(let step), .downloadProgress(let step): Int(step.completed)
        case .response: nil
        }
    }
}
