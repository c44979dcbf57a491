// SPDX-License-Identifier: MIT

#if canImport(Combine)
import Combine
import Foundation

extension MoyaProvider {
    /// A publisher that makes a call for each subscription. Cancelling the subscription cancels the call.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - callbackQueue: The queue of the response; default `nil`: the provider's.
    public func requestPublisher(
        _ target: Target,
        callbackQueue: DispatchQueue? = nil
    ) -> AnyPublisher<Response, MoyaError> {
        CallPublisher<Response> { [weak self] receive, complete in
            self?.request(target, callbackQueue: callbackQueue, progress: nil) { result in
                switch result {
                case .success(let response):
                    receive(response)
                    complete(.finished)
                case .failure(let error):
                    complete(.failure(error))
                }
            }
        }
        .eraseToAnyPublisher()
    }

    /// A publisher of the steps of a call for each subscription. The last step has the response.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - callbackQueue: The queue of the steps; default `nil`: the provider's.
    public func requestWithProgressPublisher(
        _ target: Target,
        callbackQueue: DispatchQueue? = nil
    ) -> AnyPublisher<ProgressResponse, MoyaError> {
        CallPublisher<ProgressResponse> { [weak self] receive, complete in
            self?.request(target, callbackQueue: callbackQueue, progress: receive) { result in
                switch result {
                case .success: complete(.finished)
                case .failure(let error): complete(.failure(error))
                }
            }
        }
        .scan(ProgressResponse()) { last, step in
            ProgressResponse(
                progress: step.progressObject ?? last.progressObject,
                response: step.response ?? last.response
            )
        }
        .eraseToAnyPublisher()
    }
}

/// Starts a call for each subscription.
private struct CallPublisher<Output>: Publisher {
    typealias Failure = MoyaError
    typealias Start = (
        _ receive: @escaping (Output) -> Void,
        _ complete: @escaping (Subscribers.Completion<MoyaError>) -> Void
    ) -> (any TargetKitMoya.Cancellable)?

    private let start: Start

    init(_ start: @escaping Start) {
        self.start = start
    }

    func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == MoyaError {
        subscriber.receive(subscription: CallSubscription(AnySubscriber(subscriber), start))
    }

    private final class CallSubscription: Subscription {
        private let subscriber: AnySubscriber<Output, MoyaError>
        private let start: Start
        private let lock = NSLock()
        private var hasStarted = false
        private var isCancelled = false
        private var call: (any TargetKitMoya.Cancellable)?

        init(_ subscriber: AnySubscriber<Output, MoyaError>, _ start: @escaping Start) {
            self.subscriber = subscriber
            self.start = start
        }

        func request(_ demand: Subscribers.Demand) {
            let isFirst = lock.withLock {
                defer { hasStarted = hasStarted || demand > .none }
                return !hasStarted && demand > .none
            }
            guard isFirst else { return }
            let subscriber = subscriber
            let call = start({ _ = subscriber.receive($0) }, { subscriber.receive(completion: $0) })
            let isCancelled = lock.withLock {
                self.call = call
                return self.isCancelled
            }
            if isCancelled { call?.cancel() }
        }

        func cancel() {
            let call = lock.withLock {
                isCancelled = true
                return self.call
            }
            call?.cancel()
        }
    }
}
#endif
