// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Responds to servers' `Basic` and `Digest` challenges with a user name and password.
public final class CredentialsPlugin: PluginType, Sendable {
    /// Returns the credential for a target; `nil` for none.
    public typealias CredentialClosure = (any TargetType) -> URLCredential?

    private let credentialsClosure: Unchecked<CredentialClosure>

    /// Creates a plugin.
    ///
    /// - Parameter credentialsClosure: Returns the credential for a target; `nil` for none.
    public init(credentialsClosure: @escaping CredentialClosure) {
        self.credentialsClosure = Unchecked(credentialsClosure)
    }

    /// Sets the credential of the request.
    public func willSend(_ request: any RequestType, target: any TargetType) {
        if let credential = credentialsClosure.value(target) { _ = request.authenticate(with: credential) }
    }
}

/// The start or end of a request.
public enum NetworkActivityChangeType: Sendable {
    /// The request has started.
    case began
    /// The request has ended.
    case ended
}

/// Reports when requests start and end.
public final class NetworkActivityPlugin: PluginType, Sendable {
    /// Called when a request starts and when it ends.
    public typealias NetworkActivityClosure = (_ change: NetworkActivityChangeType, _ target: any TargetType) -> Void

    private let networkActivityClosure: Unchecked<NetworkActivityClosure>

    /// Creates a plugin.
    public init(networkActivityClosure: @escaping NetworkActivityClosure) {
        self.networkActivityClosure = Unchecked(networkActivityClosure)
    }

    /// Reports the start.
    public func willSend(_ request: any RequestType, target: any TargetType) {
        networkActivityClosure.value(.began, target)
    }

    /// Reports the end.
    public func didReceive(_ result: Result<Response, MoyaError>, target: any TargetType) {
        networkActivityClosure.value(.ended, target)
    }
}
