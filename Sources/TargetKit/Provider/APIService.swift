// SPDX-License-Identifier: MIT
import Foundation

/// A base for service types: calls with one closure for success and one for failure.
///
/// ```swift
/// final class OrderService: APIService {
///     let provider = Provider<Orders>(options: .setting(\.envelope, CodeMessageData()))
///
///     func latest(_ show: @escaping @MainActor @Sendable ([Order]) -> Void, failure: @escaping @MainActor @Sendable (TargetKitError) -> Void) {
///         request(.latest, as: [Order].self, success: show, failure: failure)
///     }
/// }
/// ```
///
/// Exactly one of the two closures is called, once, on the main actor. The body is decoded before that, on another thread.
public protocol APIService: Sendable {
    /// The calls of the service.
    associatedtype Target: TargetType

    /// Makes the calls.
    var provider: Provider<Target> { get }
}

extension APIService {
    /// Makes a call for a value that is decoded from JSON, inside the call's envelope if it has one.
    ///
    /// - Returns: A handle to cancel the call. The call does not depend on it.
    @discardableResult
    public func request<Value: Decodable & Sendable>(
        _ target: Target,
        as type: Value.Type = Value.self,
        options: CallOptions = CallOptions(),
        success: @escaping @MainActor @Sendable (Value) -> Void,
        failure: @escaping @MainActor @Sendable (TargetKitError) -> Void
    ) -> RequestHandle {
        provider.request(target, as: type, options: options) { result in
            switch result {
            case .success(let value): success(value)
            case .failure(let error): failure(error)
            }
        }
    }

    /// Makes a call for its response, whose envelope, if the call has one, has been checked.
    ///
    /// - Returns: A handle to cancel the call. The call does not depend on it.
    @discardableResult
    public func send(
        _ target: Target,
        options: CallOptions = CallOptions(),
        success: @escaping @MainActor @Sendable (Response) -> Void,
        failure: @escaping @MainActor @Sendable (TargetKitError) -> Void
    ) -> RequestHandle {
        provider.request(target, options: options) { result in
            switch result {
            case .success(let response): success(response)
            case .failure(let error): failure(error)
            }
        }
    }
}
