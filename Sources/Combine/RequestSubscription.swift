// SPDX-License-Identifier: MIT
#if canImport(Combine) || TARGETKIT_OPENCOMBINE

// Combine predates `Sendable`. A subscriber may be called on any thread, but only by one thread at a time.
// `State.isDelivering` ensures this.
#if canImport(Combine)
@preconcurrency import Combine
#else
@preconcurrency import OpenCombine
#endif

import TargetKit

/// The subscription of one subscriber to one call.
final class RequestSubscription<Output: Sendable>: Subscription, Sendable {
    fileprivate typealias Downstream = AnySubscriber<Output, TargetKitError>

    private let queue: DispatchQueue
    private let call: RequestPublisher<Output>.Call
    private let state: Locked<State>

    init(
        _ subscriber: AnySubscriber<Output, TargetKitError>,
        on queue: DispatchQueue,
        _ call: @escaping RequestPublisher<Output>.Call
    ) {
        self.queue = queue
        self.call = call
        state = Locked(State(subscriber: subscriber))
    }

    /// Makes the call on the first demand, and delivers buffered values on later ones.
    func request(_ demand: Subscribers.Demand) {
        guard demand > .none else { return }
        let isFirst = state.withLock { state in
            state.demand += demand
            defer { state.isStarted = true }
            return !state.isStarted
        }
        if isFirst { start() } else { queue.async { self.deliver() } }
    }

    func cancel() {
        // Released outside the lock, because a subscriber's deinitializer may call back.
        let last = state.withLock { state in
            defer { state = State(subscriber: nil, isStarted: true) }
            return state
        }
        last.task?.cancel()
    }

    private func start() {
        let task = Task {
            do {
                try await call { value in self.take { $0.values.append(value) } }
                take { $0.end = .finished }
            } catch {
                let failure = error as? TargetKitError ?? TargetKitError(stage: .transport, underlying: error)
                take { $0.end = .failure(failure) }
            }
        }
        let isOver = state.withLock { state in
            if state.subscriber != nil { state.task = task }
            return state.subscriber == nil
        }
        if isOver { task.cancel() }
    }

    private func take(_ change: (inout State) -> Void) {
        state.withLock { if $0.subscriber != nil { change(&$0) } }
        queue.async { self.deliver() }
    }

    /// Delivers buffered values up to the demand. If two callers are concurrent, only the first delivers.
    private func deliver() {
        guard state.withLock({ $0.beginDelivery() }) else { return }
        while let step = state.withLock({ $0.next() }) {
            switch step {
            case .value(let value, let subscriber):
                let demand = subscriber.receive(value)
                state.withLock { $0.demand += demand }
            case .end(let end, let subscriber):
                subscriber.receive(completion: end)
            }
        }
    }
}

extension RequestSubscription {
    fileprivate enum Step {
        case value(Output, Downstream)
        case end(Subscribers.Completion<TargetKitError>, Downstream)
    }

    fileprivate struct State: Sendable {
        /// The subscriber; `nil` after the subscription ends.
        var subscriber: Downstream?
        var isStarted = false
        var isDelivering = false
        var demand = Subscribers.Demand.none
        var task: Task<Void, Never>?
        /// The values that aren't delivered yet.
        var values: [Output] = []
        var end: Subscribers.Completion<TargetKitError>?
        private var handedOver = 0

        init(subscriber: Downstream?, isStarted: Bool = false) {
            self.subscriber = subscriber
            self.isStarted = isStarted
        }

        mutating func beginDelivery() -> Bool {
            defer { isDelivering = true }
            return !isDelivering
        }

        /// The next step to deliver, or `nil` if there is none.
        mutating func next() -> Step? {
            if let subscriber {
                if demand > .none, handedOver < values.count {
                    demand -= 1
                    defer { drop() }
                    return .value(values[handedOver], subscriber)
                }
                if handedOver == values.count, let end {
                    self = State(subscriber: nil, isStarted: true)
                    return .end(end, subscriber)
                }
            }
            isDelivering = false
            return nil
        }

        private mutating func drop() {
            handedOver += 1
            if handedOver == values.count {
                values = []
                handedOver = 0
            }
        }
    }
}
#endif
