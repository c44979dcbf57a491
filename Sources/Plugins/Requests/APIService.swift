// SPDX-License-Identifier: MIT
import TargetKit

/// A service that makes calls with separate closures for success and failure.
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
/// Exactly one of the two closures is called, once, on the main actor. The body is decoded on another thread.
public protocol APIService: Sendable {
    /// The target type of the service's calls.
    associatedtype Target: TargetType

    /// The provider that makes the calls.
    var provider: Provider<Target> { get }
}

extension APIService {
    /// Makes a call and decodes a value from its JSON, or from the payload of the call's envelope.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - type: The type to decode.
    ///   - keyPath: The key path of the value in the body or in the envelope's payload; default `nil`, which means the
    ///     whole body or payload.
    ///   - options: Override the target's and the provider's options, such as the timeout or the envelope; default:
    ///     none.
    ///   - progress: Receives the progress of the upload and the download; default `nil`.
    ///   - success: Receives the value.
    ///   - failure: Receives the error.
    /// - Returns: A handle that can cancel the call. Releasing the handle doesn't cancel the call.
    @discardableResult
    public func request<Value: Decodable & Sendable>(
        _ target: Target,
        as type: Value.Type = Value.self,
        atKeyPath keyPath: String? = nil,
        options: CallOptions = CallOptions(),
        progress: (@MainActor @Sendable (TransferProgress) -> Void)? = nil,
        success: @escaping @MainActor @Sendable (Value) -> Void,
        failure: @escaping @MainActor @Sendable (TargetKitError) -> Void
    ) -> RequestHandle {
        provider.request(target, as: type, atKeyPath: keyPath, options: options, progress: progress) { result in
            switch result {
            case .success(let value): success(value)
            case .failure(let error): failure(error)
            }
        }
    }

    /// Makes a call and returns its response, after checking the envelope if the call has one.
    ///
    /// - Parameters:
    ///   - target: The call, for example an upload.
    ///   - options: Override the target's and the provider's options, such as the timeout or the envelope; default:
    ///     none.
    ///   - progress: Receives the progress of the upload and the download; default `nil`.
    ///   - success: Receives the response, with its status and header fields.
    ///   - failure: Receives the error.
    /// - Returns: A handle that can cancel the call. Releasing the handle doesn't cancel the call.
    @discardableResult
    public func send(
        _ target: Target,
        options: CallOptions = CallOptions(),
        progress: (@MainActor @Sendable (TransferProgress) -> Void)? = nil,
        success: @escaping @MainActor @Sendable (Response) -> Void,
        failure: @escaping @MainActor @Sendable (TargetKitError) -> Void
    ) -> RequestHandle {
        provider.request(target, options: options, progress: progress) { result in
            switch result {
            case .success(let response): success(response)
            case .failure(let error): failure(error)
            }
        }
    }
}
