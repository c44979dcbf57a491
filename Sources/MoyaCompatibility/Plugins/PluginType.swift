// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Behavior around the calls of a ``MoyaProvider``. Each hook has a default that does nothing.
///
/// The hooks of one call, in order:
///
/// 1. ``prepare(_:target:)`` changes the request.
/// 2. ``willSend(_:target:)`` receives the request as it is sent.
/// 3. ``didReceive(_:target:)`` receives the response or the error.
/// 4. ``process(_:target:)`` may change the result.
///
/// The last two are called on the callback queue, by default the main queue. In each hook, the plugins have the order
/// of the provider's array.
public protocol PluginType {
    /// Changes the request before it is sent.
    func prepare(_ request: URLRequest, target: any TargetType) -> URLRequest

    /// Called before each attempt is sent or stubbed.
    func willSend(_ request: any RequestType, target: any TargetType)

    /// Called with the result before ``process(_:target:)``.
    func didReceive(_ result: Result<Response, MoyaError>, target: any TargetType)

    /// Changes the result before the completion handler receives it.
    func process(
        _ result: Result<Response, MoyaError>,
        target: any TargetType
    ) -> Result<Response, MoyaError>
}

extension PluginType {
    /// Returns the request unchanged.
    public func prepare(_ request: URLRequest, target: any TargetType) -> URLRequest { request }

    /// Does nothing.
    public func willSend(_ request: any RequestType, target: any TargetType) {}

    /// Does nothing.
    public func didReceive(_ result: Result<Response, MoyaError>, target: any TargetType) {}

    /// Returns the result unchanged.
    public func process(
        _ result: Result<Response, MoyaError>,
        target: any TargetType
    ) -> Result<Response, MoyaError> {
        result
    }
}

/// A request that is about to be sent.
public protocol RequestType {
    /// The request; `nil` if there is none.
    var request: URLRequest? { get }

    /// The header fields that the session adds to the request.
    var sessionHeaders: [String: String] { get }

    /// Responds to the server's challenge with a user name and password.
    func authenticate(username: String, password: String, persistence: URLCredential.Persistence) -> Self

    /// Responds to the server's challenge with a credential.
    func authenticate(with credential: URLCredential) -> Self

    /// Passes the request as a cURL command to a closure.
    func cURLDescription(calling handler: @escaping (String) -> Void) -> Self
}
