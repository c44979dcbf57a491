// SPDX-License-Identifier: MIT
#if canImport(Combine) || TARGETKIT_OPENCOMBINE
import Foundation

#if canImport(Combine)
import Combine
#else
import OpenCombine
import TargetKit
#endif

/// Publishes what a call brings. `Provider` makes it: `responsePublisher`, `valuePublisher` and `eventPublisher`.
///
/// Each subscription makes a call of its own, when it first asks for a value; until then nothing is sent. Values come on the
/// callback queue, no more of them than were asked for, then exactly one completion. Cancelling the subscription cancels the
/// call, and nothing comes after that. A subscription lives as long as its call, also when the publisher is gone.
public struct RequestPublisher<Output: Sendable>: Publisher, Sendable {
    /// What a failed call ends with.
    public typealias Failure = TargetKitError

    /// Makes a call and hands over its values, in their order; it returns when there are no more.
    typealias Call = @Sendable (_ yield: @escaping @Sendable (Output) -> Void) async throws -> Void

    private let queue: DispatchQueue
    private let call: Call

    init(on queue: DispatchQueue, _ call: @escaping Call) {
        self.queue = queue
        self.call = call
    }

    /// Begins a subscription; the call is made with its first demand.
    public func receive<Downstream: Subscriber>(
        subscriber: Downstream
    ) where Downstream.Input == Output, Downstream.Failure == TargetKitError {
        subscriber.receive(subscription: RequestSubscription(AnySubscriber(subscriber), on: queue, call))
    }
}
#endif
