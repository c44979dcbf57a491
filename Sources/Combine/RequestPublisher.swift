// SPDX-License-Identifier: MIT
#if canImport(Combine) || TARGETKIT_OPENCOMBINE

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

import TargetKit

/// A publisher of a call's values. `Provider` creates it: `responsePublisher`, `valuePublisher` and `eventPublisher`.
///
/// Each subscription makes its own call on its first demand. Values arrive on the callback queue, never more than
/// demanded, followed by exactly one completion. Cancelling the subscription cancels the call and ends delivery. A
/// subscription outlives its publisher.
public struct RequestPublisher<Output: Sendable>: Publisher, Sendable {
    /// The error of a failed call.
    public typealias Failure = TargetKitError

    /// Makes a call and yields its values in order; returns after the last one.
    typealias Call = @Sendable (_ yield: @escaping @Sendable (Output) -> Void) async throws -> Void

    private let queue: DispatchQueue
    private let call: Call

    init(on queue: DispatchQueue, call: @escaping Call) {
        self.queue = queue
        self.call = call
    }

    /// Begins a subscription. The call is made on its first demand.
    public func receive<Downstream: Subscriber>(
        subscriber: Downstream
    ) where Downstream.Input == Output, Downstream.Failure == TargetKitError {
        subscriber.receive(subscription: RequestSubscription(AnySubscriber(subscriber), on: queue, call))
    }
}
#endif
