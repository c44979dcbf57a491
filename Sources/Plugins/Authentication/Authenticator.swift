// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// How calls carry a credential, and how it is refreshed, for an ``AuthenticationPlugin``. ``OAuthAuthenticator``
/// implements it for OAuth 2.
///
/// ```swift
/// struct SessionKeys: Authenticator {
///     let renew: @Sendable (SessionKey) async throws -> SessionKey
///
///     func apply(_ key: SessionKey, to request: inout URLRequest) {
///         request.setValue(key.text, forHTTPHeaderField: "X-Session-Key")
///     }
///
///     func refresh(_ key: SessionKey) async throws -> SessionKey { try await renew(key) }
///
///     var secretHeaders: Set<HTTPHeaderName> { ["X-Session-Key"] }
/// }
/// ```
///
/// The plugin calls `refresh` once at a time; it calls the other methods on any thread, also concurrently.
public protocol Authenticator<Credential>: Sendable {
    /// What identifies the user, for example an access token with its refresh token.
    associatedtype Credential: Sendable & Equatable

    /// The header fields that ``apply(_:to:)`` sets. Redirects to other origins don't carry them. Default:
    /// `Authorization`.
    var secretHeaders: Set<HTTPHeaderName> { get }

    /// Adds the credential to a request, and replaces one that is there.
    ///
    /// - Throws: Any error, which ends the call with stage `.request`.
    func apply(_ credential: Credential, to request: inout URLRequest) throws

    /// Whether the credential is refreshed before a call is sent, because it has expired or is about to. Default:
    /// `false`; the credential is refreshed when the server rejects it.
    func needsRefresh(_ credential: Credential) -> Bool

    /// Whether a call may be sent with a credential whose refresh has failed transiently, because it hasn't expired
    /// yet. Default: `false`; the call fails with the error of the refresh.
    func canStillUse(_ credential: Credential) -> Bool

    /// Refreshes a credential.
    ///
    /// It needs a timeout: it isn't cancelled with the calls that wait for it, because the server may already have
    /// revoked the old credential, and the new one must not be lost.
    ///
    /// A call that it makes through a provider with the same plugin doesn't wait for the refresh: it is sent with the
    /// old credential, unless its `CallOptions.authorization` is `.none`.
    ///
    /// - Returns: The new credential, which replaces the old one.
    func refresh(_ credential: Credential) async throws -> Credential

    /// Whether the server rejected the credential. Default: status 401 (RFC 9110 §15.5.2), unless the challenge in
    /// `WWW-Authenticate` has an error that a new credential doesn't solve, such as `insufficient_scope` (RFC 6750
    /// §3.1). Use ``BodyCode`` for a server that reports it in the body.
    func wasRejected(_ response: Response) -> Bool

    /// Whether the error of a refresh is permanent, so that the user is signed out.
    ///
    /// Default: all errors except transient ones, after which a later refresh may succeed: nothing was sent (for
    /// example, a ``CircuitBreakerPlugin`` has refused the call), there was no response (offline, timed out,
    /// cancelled), it couldn't be read, it is an HTML page, or its status is 407, 408, 413, 421, 425, 429, 431, 451 or
    /// not between 400 and 499. For ``OAuthError``, only an error response of the token endpoint (RFC 6749 §5.2) is
    /// permanent. So are errors of the app's own types, because the code that throws them has understood the server's
    /// response.
    func endsSession(_ error: any Error) -> Bool
}

extension Authenticator {
    /// `Authorization`.
    public var secretHeaders: Set<HTTPHeaderName> { [.authorization] }

    /// `false`.
    public func needsRefresh(_ credential: Credential) -> Bool { false }

    /// `false`.
    public func canStillUse(_ credential: Credential) -> Bool { false }

    /// Status 401, unless the challenge has an error that a new credential doesn't solve.
    public func wasRejected(_ response: Response) -> Bool { response.rejectsCredential(scheme: nil) }

    /// All errors except transient ones.
    public func endsSession(_ error: any Error) -> Bool { !Self.isTransient(error) }

    /// Whether a later refresh may succeed.
    package static func isTransient(_ error: any Error) -> Bool {
        switch error {
        case is CancellationError, is URLError, is DecodingError, is AuthenticationError: true
        case let error as OAuthError: error.isTransient
        case let error as TargetKitError: isTransient(error)
        case let error as any ErrorWithKind: error.kind?.isTransientFailure ?? false
        default: false
        }
    }

    private static func isTransient(_ error: TargetKitError) -> Bool {
        switch error.stage {
        // There was no response, or an unexpected one.
        case .endpoint, .request, .transport, .cancelled, .decoding, .shutDown: true
        case .envelope: false
        case .status: error.response?.isTransientFailure ?? true
        }
    }
}

extension Response {
    /// Whether its status isn't about the credential.
    var isTransientFailure: Bool {
        guard (400...499).contains(statusCode) else { return true }
        return [407, 408, 413, 421, 425, 429, 431, 451].contains(statusCode) || isPage
    }

    /// Whether the body is an HTML page, such as that of a proxy or a captive portal.
    private var isPage: Bool {
        data.first { !$0.isASCIIWhitespace } == UInt8(ascii: "<")
    }

    /// Whether the server has rejected the call's credential.
    ///
    /// - Parameter scheme: The scheme of the credential; a 401 whose challenges are all of other schemes doesn't
    ///   reject it. `nil`: unknown.
    func rejectsCredential(scheme: String?) -> Bool {
        guard statusCode == 401 else { return false }
        let fields = headers.values(for: .wwwAuthenticate)
        if fields.isEmpty { return true }
        let challenges = AuthenticationChallenge.challenges(in: fields)
        let own = challenges.filter { challenge in scheme.map { challenge.hasScheme($0) } ?? true }
        if own.isEmpty { return challenges.isEmpty }
        return own.contains { challenge in challenge["error"].map { !Self.otherErrors.contains($0) } ?? true }
    }

    /// The errors of a challenge that a new token doesn't solve (RFC 6750 §3.1, RFC 9449 §7.1 and §8, RFC 9470 §3).
    /// Servers use many names for `invalid_token`.
    private static let otherErrors: Set = [
        "insufficient_scope", "invalid_request", "insufficient_user_authentication", "invalid_dpop_proof",
        "use_dpop_nonce",
    ]
}

extension UInt8 {
    fileprivate var isASCIIWhitespace: Bool { [0x20, 0x09, 0x0A, 0x0D].contains(self) }
}

extension TargetKitError.Kind {
    /// Whether the server got no request, or couldn't answer it.
    fileprivate var isTransientFailure: Bool {
        switch self {
        case .offline, .timedOut, .cannotConnect, .connectionLost, .insecureConnection, .cancelled, .rateLimited,
            .server:
            true
        default: false
        }
    }
}
