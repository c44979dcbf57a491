// SPDX-License-Identifier: MIT
import TargetKit

/// Applies and refreshes the credential of an ``AuthenticationPlugin``. ``OAuthAuthenticator`` implements the protocol
/// for OAuth 2.
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
/// The plugin calls `refresh` only once at a time, and the other methods concurrently on any thread.
public protocol Authenticator<Credential>: Sendable {
    /// The type of the credential, for example an access token with its refresh token.
    associatedtype Credential: Sendable & Equatable

    /// The header fields that ``apply(_:to:)`` sets. Redirects to other origins don't include them. Default:
    /// `Authorization`.
    var secretHeaders: Set<HTTPHeaderName> { get }

    /// Adds the credential to a request, replacing an existing one.
    ///
    /// - Throws: An error that ends the call with stage `.request`.
    func apply(_ credential: Credential, to request: inout URLRequest) throws

    /// Whether to refresh the credential before a call, because it has expired or is about to expire. Default: `false`;
    /// the credential is refreshed when the server rejects it. A credential that is due right after its refresh, because
    /// the device's clock is wrong, is also used until the server rejects it.
    func needsRefresh(_ credential: Credential) -> Bool

    /// Whether a call may be sent with a credential whose refresh failed transiently, because it hasn't expired yet.
    /// Default: `false`; the call fails with the error of the refresh.
    func canStillUse(_ credential: Credential) -> Bool

    /// Identifies the user to whom a credential belongs, for example by an identifier in a token.
    ///
    /// Partial transfers, the calls that a queue or an outbox stores, and streams that reconnect belong to this user,
    /// also after the user signs out and in again. Only a digest of the text is stored. Default: `nil`; each sign-in is
    /// another user.
    func user(of credential: Credential) -> String?

    /// Refreshes a credential.
    ///
    /// The method needs a timeout. It isn't cancelled with the waiting calls, because the server may already have
    /// revoked the old credential, and the new one must not be lost.
    ///
    /// Calls that it makes with a provider that has the same plugin don't wait for the refresh. They are sent with the
    /// old credential, unless their `CallOptions.authorization` is `.none`.
    ///
    /// - Returns: The new credential, which replaces the old one.
    func refresh(_ credential: Credential) async throws -> Credential

    /// Whether the server rejected the credential. Default: status 401 (RFC 9110 §15.5.2), unless the challenge in
    /// `WWW-Authenticate` has an error that a new credential doesn't resolve, such as `insufficient_scope` (RFC 6750
    /// §3.1). Use ``BodyCode`` for a server that reports it in the body.
    func wasRejected(_ response: Response) -> Bool

    /// Whether the error of a refresh is permanent, so that the user is signed out.
    ///
    /// Default: all errors are permanent except transient ones, after which a later refresh may succeed. An error is
    /// transient if nothing was sent (for example, a `CircuitBreakerPlugin` rejected the call), if there was no
    /// response (offline, timed out, cancelled), or if the response can't be read, is an HTML page, or has the status
    /// 407, 408, 413, 421, 425, 429, 431, 451 or one outside 400–499. For ``OAuthError``, only an error response of the
    /// token endpoint (RFC 6749 §5.2) is permanent. Errors of the app's own types are permanent, because the code that
    /// throws them has processed the server's response.
    func endsSession(_ error: any Error) -> Bool
}

extension Authenticator {
    /// `Authorization`.
    public var secretHeaders: Set<HTTPHeaderName> { [.authorization] }

    /// `false`.
    public func needsRefresh(_ credential: Credential) -> Bool { false }

    /// `false`.
    public func canStillUse(_ credential: Credential) -> Bool { false }

    /// `nil`.
    public func user(of credential: Credential) -> String? { nil }

    /// Status 401, unless the challenge has an error that a new credential doesn't resolve.
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
        // The status decides, also if the body explains it.
        case .envelope where error.rejectedStatusCode == nil: false
        case .envelope, .status: error.response?.isTransientFailure ?? true
        }
    }
}

extension Response {
    /// Whether the status is unrelated to the credential.
    var isTransientFailure: Bool {
        guard (400...499).contains(statusCode) else { return true }
        return [407, 408, 413, 421, 425, 429, 431, 451].contains(statusCode) || isPage
    }

    /// Whether the body is an HTML page, such as that of a proxy or a captive portal.
    private var isPage: Bool {
        data.first { !$0.isASCIIWhitespace } == UInt8(ascii: "<")
    }

    /// Whether the server rejected the call's credential.
    ///
    /// - Parameter scheme: The scheme of the credential; `nil` if it is unknown. A 401 with challenges only for other
    ///   schemes doesn't reject the credential.
    func rejectsCredential(scheme: String?) -> Bool {
        guard statusCode == 401 else { return false }
        let fields = headers.values(for: "WWW-Authenticate")
        if fields.isEmpty { return true }
        let challenges = AuthenticationChallenge.challenges(in: fields)
        let own = challenges.filter { challenge in scheme.map { challenge.hasScheme($0) } ?? true }
        if own.isEmpty { return challenges.isEmpty }
        return own.contains { challenge in challenge["error"].map { !Self.otherErrors.contains($0) } ?? true }
    }

    /// The errors of a challenge that a new token doesn't resolve (RFC 6750 §3.1, RFC 9449 §7.1 and §8, RFC 9470 §3).
    /// Servers use many different names for `invalid_token`.
    private static let otherErrors: Set = [
        "insufficient_scope", "invalid_request", "insufficient_user_authentication", "invalid_dpop_proof",
        "use_dpop_nonce",
    ]
}

extension UInt8 {
    fileprivate var isASCIIWhitespace: Bool { [0x20, 0x09, 0x0A, 0x0D].contains(self) }
}

extension TargetKitError.Kind {
    /// Whether the server received no request, or couldn't respond.
    fileprivate var isTransientFailure: Bool {
        switch self {
        case .offline, .timedOut, .cannotConnect, .connectionLost, .insecureConnection, .cancelled, .rateLimited,
            .server:
            true
        default: false
        }
    }
}
