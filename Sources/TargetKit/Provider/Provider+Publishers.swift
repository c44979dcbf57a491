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
    ///   - target: The call, made anew for each subscription when that asks for a value.
    ///   - timeout: Goes before what target and provider say.
    ///   - callbackQueue: Where values and completion come; default `nil`: the provider's queue, which is the main queue unless
    ///     told.
    public func responsePublisher(
        for target: Target,
        timeout: CallTimeout = .none,
        callbackQueue: DispatchQueue? = nil
    ) -> RequestPublisher<Response> {
        RequestPublisher(on: callbackQueue ?? self.callbackQueue) { yield in
            yield(try await self.request(target, timeout: timeout))
        }
    }

    /// Publishes the value in the JSON of a call's response. It is decoded on another thread than the callback queue's.
    ///
    /// - Parameters:
    ///   - target: The call, made anew for each subscription when that asks for a value.
    ///   - type: What to decode.
    ///   - keyPath: Where in the body the value lies, `data.user` for one; default `nil`: the whole body.
    ///   - decoder: Default `nil`: the target's, else the provider's.
    ///   - timeout: Goes before what target and provider say.
    ///   - callbackQueue: Where value and completion come; default `nil`: the provider's queue.
    public func valuePublisher<Value: Decodable & Sendable>(
        for target: Target,
        as type: Value.Type,
        atKeyPath keyPath: String? = nil,
        using decoder: JSONDecoder? = nil,
        timeout: CallTimeout = .none,
        callbackQueue: DispatchQueue? = nil
    ) -> RequestPublisher<Value> {
        RequestPublisher(on: callbackQueue ?? self.callbackQueue) { yield in
            yield(try await self.request(target, as: type, atKeyPath: keyPath, using: decoder, timeout: timeout))
        }
    }

    /// Publishes the value inside the envelope of a call's response. It is decoded on another thread than the callback queue's.
    ///
    /// - Parameters:
    ///   - target: The call, made anew for each subscription when that asks for a value.
    ///   - envelope: The shape that the server's module uses.
    ///   - type: What to decode; an optional where the value may be missing or `null`.
    ///   - decoder: Default `nil`: the target's, else the provider's.
    ///   - callbackQueue: Where value and completion come; default `nil`: the provider's queue.
    public func valuePublisher<Value: Decodable & Sendable>(
        for target: Target,
        unwrapping envelope: some ResponseEnvelope,
        as type: Value.Type = Value.self,
        using decoder: JSONDecoder? = nil,
        callbackQueue: DispatchQueue? = nil
    ) -> RequestPublisher<Value> {
        RequestPublisher(on: callbackQueue ?? self.callbackQueue) { yield in
            yield(try await self.request(target, unwrapping: envelope, as: type, using: decoder))
        }
    }

    /// Publishes the events of a call: its progress, then its response. What nobody has asked for yet waits.
    ///
    /// - Parameters:
    ///   - target: The call, made anew for each subscription when that asks for an event.
    ///   - timeout: Goes before what target and provider say.
    ///   - callbackQueue: Where events and completion come; default `nil`: the provider's queue.
    public func eventPublisher(
        for target: Target,
        timeout: CallTimeout = .none,
        callbackQueue: DispatchQueue? = nil
    ) -> RequestPublisher<RequestEvent> {
        RequestPublisher(on: callbackQueue ?? self.callbackQueue) { yield in
            for try await event in self.events(for: target, timeout: timeout) { yield(event) }
        }
    }
}

extension Provider where Target: TypedTarget {
    /// Publishes what the target says its call brings. It is decoded on another thread than the callback queue's.
    ///
    /// - Parameters:
    ///   - target: The call, made anew for each subscription when that asks for a value.
    ///   - callbackQueue: Where value and completion come; default `nil`: the provider's queue.
    public func valuePublisher(
        for target: Target,
        callbackQueue: DispatchQueue? = nil
    ) -> RequestPublisher<Target.Output> {
        RequestPublisher(on: callbackQueue ?? self.callbackQueue) { yield in
            let value: Target.Output = try await self.request(target)
            yield(value)
        }
    }
}
#endif
