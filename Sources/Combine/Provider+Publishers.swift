// SPDX-License-Identifier: MIT
#if canImport(Combine) || TARGETKIT_OPENCOMBINE

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

import TargetKit

extension Provider {
    /// Publishes the response of a call.
    ///
    /// ```swift
    /// provider.responsePublisher(for: .latest)
    ///     .sink { show($0) } receiveValue: { show($0.statusCode) }
    ///     .store(in: &cancellables)
    /// ```
    ///
    /// - Parameters:
    ///   - target: The call, made once for each subscription, on its first demand.
    ///   - options: Override the target's and the provider's options; default: none.
    ///   - queue: The queue that receives the value and the completion; default: the main queue.
    public func responsePublisher(
        for target: Target,
        options: CallOptions = CallOptions(),
        on queue: DispatchQueue = .main
    ) -> RequestPublisher<Response> {
        RequestPublisher(on: queue) { yield in yield(try await self.request(target, options: options)) }
    }

    /// Publishes the value decoded from the JSON of a call's response. Decoding doesn't block the queue.
    ///
    /// - Parameters:
    ///   - target: The call, made once for each subscription, on its first demand.
    ///   - type: The type to decode.
    ///   - keyPath: The key path of the value in the body or in the envelope's payload; default `nil`, which means the
    ///     whole body or payload.
    ///   - options: Override the target's and the provider's options; default: none.
    ///   - queue: The queue that receives the value and the completion; default: the main queue.
    public func valuePublisher<Value: Decodable & Sendable>(
        for target: Target,
        as type: Value.Type,
        atKeyPath keyPath: String? = nil,
        options: CallOptions = CallOptions(),
        on queue: DispatchQueue = .main
    ) -> RequestPublisher<Value> {
        RequestPublisher(on: queue) { yield in
            yield(try await self.request(target, as: type, atKeyPath: keyPath, options: options))
        }
    }

    /// Publishes the events of a call: its progress, then its response. Events are buffered until there is demand.
    ///
    /// - Parameters:
    ///   - target: The call, made once for each subscription, on its first demand.
    ///   - options: Override the target's and the provider's options; default: none.
    ///   - queue: The queue that receives the events and the completion; default: the main queue.
    public func eventPublisher(
        for target: Target,
        options: CallOptions = CallOptions(),
        on queue: DispatchQueue = .main
    ) -> RequestPublisher<RequestEvent> {
        RequestPublisher(on: queue) { yield in
            for try await event in self.events(for: target, options: options) { yield(event) }
        }
    }
}

extension Provider where Target: TypedTarget {
    /// Publishes a value of the target's output type. Decoding doesn't block the queue.
    ///
    /// - Parameters:
    ///   - target: The call, made once for each subscription, on its first demand.
    ///   - options: Override the target's and the provider's options; default: none.
    ///   - queue: The queue that receives the value and the completion; default: the main queue.
    public func valuePublisher(
        for target: Target,
        options: CallOptions = CallOptions(),
        on queue: DispatchQueue = .main
    ) -> RequestPublisher<Target.Output> {
        valuePublisher(for: target, as: Target.Output.self, atKeyPath: target.keyPath, options: options, on: queue)
    }
}
#endif
