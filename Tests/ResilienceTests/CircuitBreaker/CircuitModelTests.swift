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

/// The specification of a breaker; times in milliseconds.
private struct CircuitModel {
    static let (failures, share, openFor, probes) = (3, 0.5, 20_000, 2)
    static let slot = 3_000

    var state = CircuitState.closed
    var openedAt = 0
    var endings: [(at: Int, isFailure: Bool)] = []
    /// The calls that were admitted since the state last changed.
    var out: Set<Int> = []
    var passed = 0

    mutating func admits(_ call: Int, at now: Int) -> Bool {
        if shownState(at: now) == .halfOpen, state == .open { change(to: .halfOpen) }
        guard state == .closed || state == .halfOpen && out.count + passed < Self.probes else { return false }
        out.insert(call)
        return true
    }

    mutating func ended(_ call: Int, isFailure: Bool?, at now: Int) {
        guard out.remove(call) != nil, let isFailure else { return }
        if state == .halfOpen {
            passed += isFailure ? 0 : 1
            if isFailure { open(at: now) } else if passed == Self.probes { change(to: .closed) }
            return
        }
        endings.append((now, isFailure))
        let counted = endings.filter { $0.at / Self.slot > now / Self.slot - 10 }
        let failed = counted.filter(\.isFailure).count
        if isFailure, failed >= Self.failures, Double(failed) >= Self.share * Double(counted.count) { open(at: now) }
    }

    func shownState(at now: Int) -> CircuitState {
        state == .open && now - openedAt >= Self.openFor ? .halfOpen : state
    }

    private mutating func open(at now: Int) {
        openedAt = now
        change(to: .open)
    }

    private mutating func change(to state: CircuitState) {
        self.state = state
        (out, passed, endings) = ([], 0, [])
    }
}

@Suite("Circuit breaker against a model", .throttled, .timeLimit(.minutes(3)))
struct CircuitModelTests {
    private let clock = ManualClock()
    private let target = SturdyTarget(baseURL: HostSet.urls("a")[0])
    private let breaker: CircuitBreakerPlugin
    private let changes = Recorder<CircuitState>()

    init() {
        var policy = CircuitBreakerPolicy(
            failures: CircuitModel.failures,
            share: CircuitModel.share,
            openFor: .milliseconds(CircuitModel.openFor),
            probeTimeout: .seconds(1 << 40)
        )
        policy.probes = CircuitModel.probes
        breaker = CircuitBreakerPlugin(policy: policy, clock: clock, onChange: { [changes] in changes.append($1) })
    }

    /// The end of an attempt; `nil`: it is not sent.
    private func result(_ random: Int) -> (result: Result<Response, TargetKitError>?, isFailure: Bool?) {
        let request = URLRequest(url: target.baseURL)
        switch random {
        case 0..<4: return (.success(Response(statusCode: 200, request: request)), false)
        case 4..<7: return (.success(Response(statusCode: 503, request: request)), true)
        case 7: return (.failure(TargetKitError(stage: .transport, underlying: URLError(.timedOut))), true)
        case 8: return (.failure(TargetKitError(stage: .cancelled, underlying: CancellationError())), nil)
        default: return (nil, nil)
        }
    }

    @Test("It admits the calls that the model admits", arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func random(_ seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        var (model, now, number) = (CircuitModel(), 0, 0)
        var running: [(number: Int, context: RequestContext)] = []
        var states = [CircuitState.closed]
        for step in 0..<3000 {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<4 where running.count < 6:
                number += 1
                let context = RequestContext(target: target, attempt: 0)
                let request = TransportRequest(urlRequest: URLRequest(url: target.baseURL))
                let answer = TransportResponse(head: ResponseHead(statusCode: 200), body: .data(Data()))
                let exchange = Exchange { _ in answer }
                let isAdmitted = (try? await breaker.exchange(request, context: context, next: exchange)) != nil
                try #require(isAdmitted == model.admits(number, at: now), "step \(step)")
                if isAdmitted { running.append((number, context)) }
            case 0..<6 where !running.isEmpty:
                let call = running.remove(at: Int.random(in: 0..<running.count, using: &generator))
                let ending = result(Int.random(in: 0..<10, using: &generator))
                if let result = ending.result { breaker.didReceive(result, context: call.context) }
                model.ended(call.number, isFailure: ending.isFailure, at: now)
                let last = ending.result ?? .failure(TargetKitError(stage: .request))
                breaker.didFinish(FinishedCall(result: last), context: call.context)
            default:
                let time = Int.random(in: 0..<6_000, using: &generator)
                now += time
                clock.advance(by: .milliseconds(time))
            }
            if model.state != states.last { states.append(model.state) }
            try #require(breaker.state(of: target.baseURL) == model.shownState(at: now), "step \(step)")
        }
        #expect(changes.elements == Array(states.dropFirst()))
        // Every state has occurred.
        #expect(Set(states) == [.closed, .open, .halfOpen])
        #expect(states.count > 20)
    }
}
