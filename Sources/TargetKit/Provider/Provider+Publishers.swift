// SPDX-License-Identifier: MIT
#if canImport(Combine) || TARGETKIT_OPENCOMBINE
import Foundation

#if canImport(Combine)
import Combine
#else
import OpenCombine
import TargetKit
#endif

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
    ///   - target: The call, made for each subscription when that asks for a value.
    ///   - options: Override the target's and the provider's options; default: none.
    ///   - queue: Where value and completion are delivered; default: the main queue.
    public func responsePublisher(
        for target: Target,
        options: CallOptions = CallOptions(),
        on queue: DispatchQueue = .main
    ) -> RequestPublisher<Response> {
        RequestPublisher(on: queue) { yield in yield(try await self.request(target, options: options)) }
    }

    /// Publishes the value in the JSON of a call's response. It is decoded on another thread than the queue's.
    ///
    /// - Parameters:
    ///   - target: The call, made for each subscription when that asks for a value.
    ///   - type: What to decode.
    ///   - keyPath: The key path of the value in the body or in the envelope's payload; default `nil`: the whole body or payload.
    ///   - options: Override the target's and the provider's options; default: none.
    ///   - queue: Where value and completion are delivered; default: the main queue.
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

    /// Publishes the events of a call: its progress, then its response. Events wait until they are asked for.
    ///
    /// - Parameters:
    ///   - target: The call, made for each subscription when that asks for an event.
    ///   - options: Override the target's and the provider's options; default: none.
    ///   - queue: Where events and completion are delivered; default: the main queue.
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
    /// Publishes the value that the target declares. It is decoded on another thread than the queue's.
    ///
    /// - Parameters:
    ///   - target: The call, made for each subscription when that asks for a value.
    ///   - options: Override the target's and the provider's options; default: none.
    ///   - queue: Where value and completion are delivered; default: the main queue.
    public func valuePublisher(
        for target: Target,
        options: CallOptions = CallOptions(),
        on queue: DispatchQueue = .main
    ) -> RequestPublisher<Target.Output> {
        valuePublisher(for: target, as: Target.Output.self, atKeyPath: target.keyPath, options: options, on: queue)
    }
}
#endif
