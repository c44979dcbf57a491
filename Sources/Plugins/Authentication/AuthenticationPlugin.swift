// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Adds a credential to calls, and refreshes it when it expires or the server rejects it. The rejected calls are then
/// retried.
///
/// ```swift
/// let authentication = AuthenticationPlugin(
///     authenticator: OAuthAuthenticator(client: OAuthClient(id: "shop-app", tokenURL: tokenURL)),
///     store: FileCredentialStore(file)
/// ) { error in
///     await session.showSignIn()
/// }
/// let provider = Provider<Orders>(plugins: [authentication])
/// try await authentication.signIn(credential)
/// ```
///
/// - Calls whose scheme (`CallOptions.authorization`) is `.automatic`, the default, or `.bearer` carry the credential.
///   Set `.none` for calls that must not, such as the sign-in. Without a credential, calls are sent unchanged.
/// - **One refresh at a time.** Calls that are rejected during a refresh, and calls that begin, wait for it. A call
///   that was sent with an older credential is retried without a refresh. A call isn't retried if the server rejects a
///   credential newer than the one with which the call began; its caller gets the server's response. Cancelling a call
///   doesn't cancel the refresh.
/// - **Several processes** can use one store, which is read before and after each refresh. A credential that another
///   process has refreshed is used instead of a refresh. If another process has signed out, so does this one. If
///   another user has signed in there, the session of this process ends as by ``signIn(_:)``, and later calls belong to
///   that user.
/// - **An endpoint that rejects every credential** doesn't affect the others: after a call was rejected with a new
///   credential, further calls to its URL get the server's response, without a refresh, for 30 seconds.
/// - **A permanent failure** of a refresh ends the session (``Authenticator/endsSession(_:)``): the store is cleared,
///   the sign-out handler is called once, and then every waiting call fails, as does each later call until
///   ``signIn(_:)`` or ``signOut()``. The error has the kind `.unauthorized`, the stage `.status` (`.envelope` if the
///   body reported the rejection), the rejected response (status 401 if nothing was sent), and the error of the refresh
///   as its underlying error.
/// - **A transient failure** (offline, 5xx, a proxy's page) fails the waiting calls with its error. The user stays
///   signed in, and the next call tries another refresh. When the refreshes exceed the limit, calls fail with the error
///   of the latest refresh, or with `AuthenticationError/tooManyRefreshes(_:)` if that refresh returned a credential.
/// - Apart from its status, no error contains what the refresh sent or received.
/// - A call belongs to the session in which it began, and is never sent with the credential of another session.
///
/// A plugin can be used by several providers. Its copies share their state.
public struct AuthenticationPlugin<A: Authenticator>: Plugin {
    /// `PluginPlace.authentication`.
    public var place: PluginPlace { .authentication }

    /// The hooks that it implements.
    public var hooks: PluginHooks { [.prepare, .exchange, .retry, .waiting] }

    private let authenticator: A
    private let authorizes: @Sendable (any TargetType) -> Bool
    let currentCredential: CurrentCredential<A>
    private let calls = PluginStorage<AuthenticatedCall>()

    /// Creates a plugin.
    ///
    /// - Parameters:
    ///   - authenticator: How calls carry the credential, and how it is refreshed.
    ///   - store: Stores the credential between launches of the app; default `nil`, which stores it in memory only.
    ///   - refreshLimit: The maximum number of refreshes in 30 seconds, including failed ones. Refreshes without a
    ///     response, and those whose credential the server accepts, don't count. Default: 5.
    ///   - refreshTimeout: The longest time that calls wait for a refresh. When it has passed, they fail with the kind
    ///     `.timedOut`, and the user stays signed in. Default: a minute.
    ///   - clock: Measures these times; default: the continuous clock.
    ///   - authorizes: Whether calls of a target may carry the credential, for a provider whose targets belong to
    ///     several servers or users; default: all may. It is asked for calls of the scheme `.automatic` or `.bearer`.
    ///   - onStoreFailure: Called when a refreshed credential couldn't be stored, or an invalid one not removed. The
    ///     session continues with the credential in memory, and the next call tries to store it again. Default: does
    ///     nothing.
    ///   - signOut: Called once with the error of a refresh that has failed permanently, before the waiting calls fail.
    ///     Calls that it makes with the credential fail at once; ``signIn(_:)`` in it begins the next session.
    public init(
        authenticator: A,
        store: (any CredentialStore<A.Credential>)? = nil,
        refreshLimit: Int = 5,
        refreshTimeout: Duration = .seconds(60),
        clock: any Clock<Duration> = ContinuousClock(),
        authorizes: @escaping @Sendable (any TargetType) -> Bool = { _ in true },
        onStoreFailure: @escaping @Sendable (any Error) -> Void = { _ in },
        signOut: @escaping @Sendable (_ error: any Error) async -> Void
    ) {
        self.init(
            authenticator: authenticator,
            store: store ?? MemoryCredentialStore<A.Credential>(),
            limit: RefreshLimit(refreshLimit, timeout: refreshTimeout),
            clock: clock,
            authorizes: authorizes,
            onStoreFailure: onStoreFailure,
            signOut: signOut
        )
    }

    /// Creates a plugin whose limit has an interval of the caller's.
    package init(
        authenticator: A,
        store: any CredentialStore<A.Credential>,
        limit: RefreshLimit,
        clock: any Clock<Duration> = ContinuousClock(),
        authorizes: @escaping @Sendable (any TargetType) -> Bool = { _ in true },
        onStoreFailure: @escaping @Sendable (any Error) -> Void = { _ in },
        signOut: @escaping @Sendable (_ error: any Error) async -> Void
    ) {
        self.authenticator = authenticator
        self.authorizes = authorizes
        currentCredential = CurrentCredential(
            authenticator,
            credentialStore: SerialCredentialStore(store),
            limit: limit,
            clock: clock,
            onStoreFailure: onStoreFailure,
            signOut: signOut
        )
    }

    /// The fields that the authenticator sets.
    public var secretHeaders: Set<HTTPHeaderName> { authenticator.secretHeaders }

    /// Applies the credential that is known. A refresh that is due, or in progress, belongs to the exchange.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        guard authorizes(context) else { return request }
        do {
            guard let lease = try await knownLease(for: context) else { return request }
            let (changed, applied) = try applying(lease, to: request)
            context[AppliedCredentialKey.self] = applied
            context.credentialOwner = lease.owner.id.map {
                CredentialOwner(identifier: $0, fields: Set(applied.fields.keys))
            }
            return changed
        } catch let failure as RefreshFailure {
            throw callError(for: failure, request: request, context: context)
        }
    }

    /// Waits for a refresh that is due or in progress, and applies the newer credential.
    public func exchange(
        _ request: TransportRequest,
        context: RequestContext,
        next: Exchange
    ) async throws -> TransportResponse {
        guard !request.isCrossOrigin, authorizes(context), let call = context[calls], let generation = call.prepared,
            !currentCredential.isRefreshingHere, let prepared = context[AppliedCredentialKey.self],
            prepared.isCarried(by: request.urlRequest)
        else { return try await next(request) }
        var request = request
        do {
            let lease = try await currentCredential.lease(in: call.session)
            if let lease, lease.generation != generation {
                note(lease, of: call, context)
                let (changed, applied) = try applying(lease, to: prepared.removed(from: request.urlRequest))
                request.urlRequest = changed
                context[RefreshedCredentialKey.self] = applied
            }
        } catch let failure as RefreshFailure {
            throw callError(for: failure, request: request.urlRequest, context: context)
        } catch  where !error.isCancellation {
            throw TargetKitError(stage: .request, request: request.urlRequest, underlying: error)
        }
        return try await next(request)
    }

    private func callError(
        for failure: RefreshFailure,
        request: URLRequest,
        context: RequestContext
    ) -> TargetKitError {
        if case .ended = failure { context[EndedSessionKey.self] = true }
        return failure.error(request: request)
    }

    private func applying(
        _ lease: CurrentCredential<A>.Lease,
        to original: URLRequest
    ) throws -> (URLRequest, AppliedCredential) {
        var request = original
        try authenticator.apply(lease.credential, to: &request)
        return (request, AppliedCredential(of: lease.owner, before: original, after: request))
    }

    /// Retries a call whose credential the server has rejected, once there is a newer one.
    public func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
        guard let response = rejected(result) else {
            if case .success = result, let applied = context[calls]?.applied {
                currentCredential.noteAcceptance(of: applied)
            }
            return .doNotRetry
        }
        guard authorizes(context), !currentCredential.isRefreshingHere, let call = context[calls],
            let applied = call.applied, let now = try? await currentCredential.position()
        else { return .doNotRetry }
        guard now.session == call.session else {
            return .fail(RefreshFailure.signedOut.error(request: response.request))
        }
        let request = response.refusalKey
        // Newer than the call, and the newest, so the server would reject another one, too.
        if applied == now.generation, applied > call.first {
            currentCredential.noteRefusal(of: request, with: applied)
            return .doNotRetry
        }
        if applied == now.generation, currentCredential.wasRefused(request, with: applied) { return .doNotRetry }
        do {
            _ = try await currentCredential.lease(after: applied, in: call.session)
            return .retry(after: .zero)
        } catch let failure as RefreshFailure {
            return .fail(failure.error(request: response.request, rejected: response))
        } catch {
            // The call was cancelled.
            return .doNotRetry
        }
    }
}

// MARK: - The session

extension AuthenticationPlugin {
    /// The current credential, or `nil` if there is none.
    ///
    /// - Throws: The store's error, if the store hasn't been read before.
    public var credential: A.Credential? {
        get async throws {
            _ = try await currentCredential.position()
            return currentCredential.lease?.credential
        }
    }

    /// Begins a session with a credential, and stores it.
    ///
    /// The result of a refresh for the previous session is discarded. Calls that wait for it end with stage
    /// `.cancelled`, as do calls in flight that the server rejects: they belong to the previous session. The credential
    /// is stored after a refresh in progress in another process.
    ///
    /// - Throws: The store's error. The session has begun nevertheless.
    public func signIn(_ credential: A.Credential) async throws {
        _ = try await currentCredential.replace(with: credential)
    }

    /// Ends the session, and clears the store; the sign-out handler isn't called. The calls of the session end as
    /// described for ``signIn(_:)``, and the store is cleared after a refresh in progress in another process.
    ///
    /// - Returns: The credential that was in use, for its revocation (RFC 7009).
    /// - Throws: The store's error. The session has ended nevertheless.
    @discardableResult
    public func signOut() async throws -> A.Credential? {
        // A credential that can't be read is removed nevertheless.
        _ = try? await currentCredential.position()
        return try await currentCredential.replace(with: nil)
    }

    /// Whether this plugin refreshes the credential when the call is rejected, so that the rejection doesn't end the
    /// session.
    func refreshesCredential(of context: RequestContext) -> Bool {
        currentCredential.lease != nil && authorizes(context)
    }

    /// The number of sessions that began with a sign-in.
    var signInCount: Int { currentCredential.state.withLock(\.signInCount) }
}

// MARK: - Calls

/// The credentials that a call was sent with.
private struct AuthenticatedCall: Sendable {
    let session: Int
    /// The credential's generation when the call began.
    var first: Int
    /// The generation that the latest attempt was prepared with; `nil` without a credential.
    var prepared: Int?
    /// The generation that the latest request was sent with, after a refresh; `nil` without a credential.
    var applied: Int?
    /// Whether a credential of another process has become the first one.
    var hasAdopted = false
}

extension Response {
    /// The key under which the rejection of a request is recorded: its method and its URL without the query.
    fileprivate var refusalKey: String {
        let url = request?.url
        return "\(request?.httpMethod ?? "") \(url?.host() ?? "") \(url?.path() ?? "")"
    }
}

extension AuthenticationPlugin {
    private func authorizes(_ context: RequestContext) -> Bool {
        switch context.options.authorization {
        case .automatic, .bearer: authorizes(context.target)
        case .none, .basic, .custom: false
        }
    }

    /// The credential of the call's session, which may need a refresh; `nil` if there is none.
    private func knownLease(for context: RequestContext) async throws -> CurrentCredential<A>.Lease? {
        // A call that is part of the refresh would wait for itself.
        if currentCredential.isRefreshingHere { return currentCredential.lease }
        let now = try await currentCredential.position()
        var call = context[calls] ?? AuthenticatedCall(session: now.session, first: now.generation)
        let lease = try currentCredential.knownLease(in: call.session)
        call.prepared = lease?.generation
        note(lease, of: call, context)
        return lease
    }

    /// Records the credential that a call carries.
    private func note(_ lease: CurrentCredential<A>.Lease?, of call: AuthenticatedCall, _ context: RequestContext) {
        var call = call
        call.applied = lease?.generation
        // It need not be newer than the one that was rejected.
        if let lease, lease.isAdopted, !call.hasAdopted {
            call.first = lease.generation
            call.hasAdopted = true
        }
        context[calls] = call
    }

    /// The response that rejected the call's credential. A redirect to another origin is followed
    /// without the credential, so a response from there doesn't count.
    private func rejected(_ result: Result<Response, TargetKitError>) -> Response? {
        let response: Response
        switch result {
        case .success(let answer): response = answer
        case .failure(let error):
            guard error.stage != .cancelled, let answer = error.response else { return nil }
            response = answer
        }
        guard authenticator.wasRejected(response), !response.redirects.contains(where: \.isCrossOrigin) else {
            return nil
        }
        return response
    }
}
