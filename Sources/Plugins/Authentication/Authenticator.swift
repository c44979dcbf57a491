// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// How calls carry a credential, and how a credential that has run out is renewed: what an ``AuthenticationPlugin`` is told about
/// a server. ``OAuthAuthenticator`` is the one for OAuth 2.
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
/// The plugin calls `refresh` once at a time; the other methods may be called by several threads at once.
public protocol Authenticator<Credential>: Sendable {
    /// What shows who is calling: an access token with its refresh token, for one.
    associatedtype Credential: Sendable

    /// The header fields that ``apply(_:to:)`` sets: no redirect takes them to another origin. Default: `Authorization`.
    var secretHeaders: Set<HTTPHeaderName> { get }

    /// Puts the credential into a request that is about to go out, in the place of one that is there.
    ///
    /// - Throws: ends the call with an error of stage `.request`.
    func apply(_ credential: Credential, to request: inout URLRequest) throws

    /// Whether the credential is to be renewed before a call goes out with it, since it has run out or will in a moment.
    /// Default: never, the server's answer decides.
    func needsRefresh(_ credential: Credential) -> Bool

    /// Whether a call may go out with a credential that needs a refresh when no refresh is to be had just now, because it has
    /// not run out yet. Default: no, the call fails with the error of the refresh.
    func canStillUse(_ credential: Credential) -> Bool

    /// Renews a credential.
    ///
    /// The plugin never cancels it because callers have gone: the server may have taken back the old credential already, and the
    /// new one must not be lost. So it has to end by itself, within a timeout.
    ///
    /// A call that it makes through a provider with the same plugin does not wait for itself: it goes out with the credential as
    /// it is, and only if its target asks for one.
    ///
    /// - Returns: The new credential, which is kept in the old one's place.
    func refresh(_ credential: Credential) async throws -> Credential

    /// Whether a response says that the server does not accept the credential. Default: status 401 (RFC 9110 §15.5.2). Add what
    /// a ``BodyCode`` matches for a server that says so in the body.
    func wasRejected(_ response: Response) -> Bool

    /// Whether a failed refresh means that the credential is worth nothing any more, so that the user is signed out. Default:
    /// every error but those that pass, see ``isTransient(_:)``.
    func endsSession(_ error: any Error) -> Bool
}

extension Authenticator {
    /// `Authorization`.
    public var secretHeaders: Set<HTTPHeaderName> { [.authorization] }

    /// `false`.
    public func needsRefresh(_ credential: Credential) -> Bool { false }

    /// `false`.
    public func canStillUse(_ credential: Credential) -> Bool { false }

    /// Status 401.
    public func wasRejected(_ response: Response) -> Bool { response.statusCode == 401 }

    /// Every error but those that pass.
    public func endsSession(_ error: any Error) -> Bool { !Self.isTransient(error) }

    /// Whether an error says nothing about the credential, so that a later refresh may well succeed: nothing was sent (a plugin
    /// has held the refresh back, a ``CircuitBreakerPlugin`` for one), no answer (offline, timed out, cancelled), an answer that
    /// cannot be read, and every status but 400 to 499; of those 408, 425 and 429.
    ///
    /// An error of a type that is not known here does not pass: the one who throws it has understood the server's answer.
    public static func isTransient(_ error: any Error) -> Bool {
        switch error {
        case is CancellationError, is URLError, is DecodingError, is AuthenticationError: true
        case let error as OAuthError: error.isTransient
        case let error as TargetKitError: isTransient(error)
        case let error as any ErrorWithKind: error.kind.saysNothingOfCredential
        default: false
        }
    }

    private static func isTransient(_ error: TargetKitError) -> Bool {
        switch error.stage {
        // Nobody was asked, or nobody has answered what was asked for.
        case .endpoint, .request, .transport, .cancelled, .decoding, .shutDown: true
        case .envelope: false
        case .status: error.response?.isTransientFailure ?? true
        }
    }
}

extension Response {
    /// Whether its status says nothing about the credential that was sent.
    var isTransientFailure: Bool { !(400...499).contains(statusCode) || [408, 425, 429].contains(statusCode) }
}

extension TargetKitError.Kind {
    /// Whether the server was not asked, or could not answer.
    fileprivate var saysNothingOfCredential: Bool {
        switch self {
        case .offline, .timedOut, .cannotConnect, .connectionLost, .insecureConnection, .cancelled, .rateLimited,
            .server:
            true
        default: false
        }
    }
}
