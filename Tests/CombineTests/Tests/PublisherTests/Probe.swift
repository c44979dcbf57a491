// SPDX-License-Identifier: MIT
@preconcurrency import OpenCombine
import TargetKit
import PublisherSupport

/// A subscriber that asks when the test says so, and writes down what it gets.
final class Probe<Input: Sendable>: Subscriber, Sendable {
    typealias Failure = TargetKitError

    /// What a subscriber can get.
    enum Signal: Sendable {
        case value(Input)
        case end(TargetKitError?)
    }

    /// What has come, in its order.
    let signals = Recorder<Signal>()
    private let subscription = Locked<(any Subscription)?>(nil)
    private let first: Subscribers.Demand
    private let onValue: @Sendable (Probe, Input) -> Subscribers.Demand

    /// - Parameters:
    ///   - first: What it asks for when it is subscribed.
    ///   - onValue: Sees each value, and says how many more are wanted.
    init(
        demand first: Subscribers.Demand = .none,
        onValue: @escaping @Sendable (Probe, Input) -> Subscribers.Demand = { _, _ in .none }
    ) {
        self.first = first
        self.onValue = onValue
    }

    func receive(subscription: any Subscription) {
        self.subscription.withLock { $0 = subscription }
        if first > .none { subscription.request(first) }
    }

    func receive(_ input: Input) -> Subscribers.Demand {
        signals.append(.value(input))
        return onValue(self, input)
    }

    func receive(completion: Subscribers.Completion<TargetKitError>) {
        subscription.withLock { $0 = nil }
        switch completion {
        case .finished: signals.append(.end(nil))
        case .failure(let error): signals.append(.end(error))
        }
    }

    func request(_ demand: Subscribers.Demand) {
        subscription.withLock { $0 }?.request(demand)
    }

    func cancel() {
        let last = subscription.withLock { subscription in
            defer { subscription = nil }
            return subscription
        }
        last?.cancel()
    }

    /// The subscription, for a test that goes on after its end.
    var held: (any Subscription)? { subscription.withLock { $0 } }

    var values: [Input] {
        signals.elements.compactMap { if case .value(let value) = $0 { value } else { nil } }
    }

    var ends: [TargetKitError?] {
        signals.elements.compactMap { signal -> TargetKitError?? in
            if case .end(let error) = signal { .some(error) } else { nil }
        }
    }
}
