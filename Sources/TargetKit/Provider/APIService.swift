// SPDX-License-Identifier: MIT
import Foundation

/// A base for service types: calls with one closure for success and one for failure.
///
/// ```swift
/// final class OrderService: APIService {
///     let provider = Provider<Orders>()
///     var envelope: (any ResponseEnvelope)? { CodeMessageData() }
///
///     func latest(_ show: @escaping @Sendable ([Order]) -> Void, failure: @escaping @Sendable (TargetKitError) -> Void) {
///         request(.latest, as: [Order].self, success: show, failure: failure)
///     }
/// }
/// ```
///
/// Exactly one of the two closures is called, once, on the provider's callback queue, which is the main queue unless told
/// otherwise. The body is decoded before that, on another thread.
public protocol APIService: Sendable {
    /// The calls of the service.
    associatedtype Target: TargetType

    /// Makes the calls.
    var provider: Provider<Target> { get }
    /// What the server wraps around its values; default `nil`: nothing.
    var envelope: (any ResponseEnvelope)? { get }
    /// Decodes the values of targets that do not say it themselves; default: the provider's decoder.
    var decoder: JSONDecoder { get }
}

extension APIService {
    /// Nothing is wrapped around the values.
    public var envelope: (any ResponseEnvelope)? { nil }

    /// The provider's decoder.
    public var decoder: JSONDecoder { .ofProvider }

    /// Makes a call for a value that is decoded from JSON, inside the service's envelope if it has one.
    ///
    /// - Returns: A handle to cancel the call by. The call goes on without it.
    @discardableResult
    public func request<Value: Decodable & Sendable>(
        _ target: Target,
        as type: Value.Type = Value.self,
        success: @escaping @Sendable (Value) -> Void,
        failure: @escaping @Sendable (TargetKitError) -> Void
    ) -> RequestHandle {
        let (envelope, decoder) = (envelope, provider.decoder(nil, for: target, service: decoder))
        return call(target, success, failure) { response throws(TargetKitError) in
            if let envelope { return try response.unwrap(type, from: envelope, using: decoder) }
            return try response.decode(type, using: decoder)
        }
    }

    /// Makes a call for the members of a JSON object, inside the service's envelope if it has one.
    ///
    /// - Returns: A handle to cancel the call by. The call goes on without it.
    @discardableResult
    public func json(
        _ target: Target,
        success: @escaping @Sendable ([String: JSONValue]) -> Void,
        failure: @escaping @Sendable (TargetKitError) -> Void
    ) -> RequestHandle {
        request(target, as: [String: JSONValue].self, success: success, failure: failure)
    }

    /// Makes a call for the body as it came. The service's envelope does not count.
    ///
    /// - Returns: A handle to cancel the call by. The call goes on without it.
    @discardableResult
    public func data(
        _ target: Target,
        success: @escaping @Sendable (Data) -> Void,
        failure: @escaping @Sendable (TargetKitError) -> Void
    ) -> RequestHandle {
        call(target, success, failure) { response throws(TargetKitError) in response.data }
    }

    /// Makes a call for the body's text, by the rules of ``Response/string(atKeyPath:)``. The service's envelope does not count.
    ///
    /// - Returns: A handle to cancel the call by. The call goes on without it.
    @discardableResult
    public func string(
        _ target: Target,
        success: @escaping @Sendable (String) -> Void,
        failure: @escaping @Sendable (TargetKitError) -> Void
    ) -> RequestHandle {
        call(target, success, failure) { response throws(TargetKitError) in try response.string() }
    }

    /// Makes a call that brings no value; the service's envelope, if it has one, says whether it went well.
    ///
    /// - Returns: A handle to cancel the call by. The call goes on without it.
    @discardableResult
    public func send(
        _ target: Target,
        success: @escaping @Sendable () -> Void,
        failure: @escaping @Sendable (TargetKitError) -> Void
    ) -> RequestHandle {
        let envelope = envelope
        return call(target, { (_: Void) in success() }, failure) { response throws(TargetKitError) in
            if let envelope { try response.unwrap(envelope) }
        }
    }

    private func call<Value: Sendable>(
        _ target: Target,
        _ success: @escaping @Sendable (Value) -> Void,
        _ failure: @escaping @Sendable (TargetKitError) -> Void,
        _ value: @escaping @Sendable (Response) throws(TargetKitError) -> Value
    ) -> RequestHandle {
        let (envelope, queue) = (envelope, provider.callbackQueue)
        return provider.start(target, from: value) { result in
            queue.async {
                switch result {
                case .success(let value): success(value)
                case .failure(let error): failure(envelope.map { error.explained(by: $0) } ?? error)
                }
            }
        }
    }
}
