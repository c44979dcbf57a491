// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends user and password of a `URLCredential` with the first request, by the `Basic` scheme (RFC 7617), without
/// waiting for the server to ask.
///
/// ```swift
/// CredentialsPlugin { target in
///     target is Reports ? URLCredential(user: "anna", password: password, persistence: .none) : nil
/// }
/// ```
///
/// A request that has an `Authorization` field is left alone, and no credential is asked for: so place it after an
/// ``AccessTokenPlugin``, whose token then comes first. The credential's `persistence` does not count, nothing is
/// stored.
public struct CredentialsPlugin: Plugin {
    private let credential: @Sendable (any TargetType) async throws -> URLCredential?

    /// A plugin that asks for a credential.
    ///
    /// - Parameter credential: The credential of a target's call; `nil`, or one without user or password: the request
    ///   is left as it is. A user with a colon, a control character in either (``BasicCredentials/Problem``), and
    ///   what the closure throws end the call, with stage `.request`.
    public init(_ credential: @escaping @Sendable (any TargetType) async throws -> URLCredential?) {
        self.credential = credential
    }

    /// Sets the field, unless there is one.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        guard !request.hasAuthorization else { return request }
        guard let credential = try await credential(context.target),
            let user = credential.user, let password = credential.password
        else { return request }
        var request = request
        try request.setAuthorization(BasicCredentials(user: user, password: password).fieldValue)
        return request
    }
}
