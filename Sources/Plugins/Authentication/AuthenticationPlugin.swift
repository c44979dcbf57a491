// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitFiles

/// Adds a credential to calls, refreshes it when it expires or the server rejects it, and retries the rejected calls.
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
/// - Calls with the scheme (`CallOptions.authorization`) `.automatic`, the default, or `.bearer` include the
///   credential. Set `.none` for calls without it, such as the sign-in. If there is no credential, calls are sent
///   unchanged.
/// - **One refresh at a time.** Calls that start or are rejected during a refresh wait for it. A call that was sent
///   with an older credential is retried without a refresh. If the server rejects a credential newer than the one with
///   which the call started, the call isn't retried, and its caller receives the server's response. Cancelling a call
///   doesn't cancel the refresh.
/// - **Several processes** can share a store, which is read before and after each refresh. If another process refreshed
///   the credential, it is used without another refresh. If another process signed out, this process also signs out. If
///   another user signed in there, the session of this process ends as with ``signIn(_:)``, and later calls belong to
///   that user.
/// - **An endpoint that rejects every credential** doesn't affect other endpoints. After a call is rejected with a new
///   credential, further calls to its URL return the server's response without a refresh for 30 seconds.
/// - **A permanent failure** of a refresh ends the session (``Authenticator/endsSession(_:)``). The store is cleared,
///   and the sign-out handler is called once. Then all waiting calls fail, as do later calls until ``signIn(_:)`` or
///   ``signOut()``. The error has the kind `.unauthorized`, the stage `.status` (`.envelope` if the body reported the
///   rejection), the rejected response (status 401 if nothing was sent), and the error of the refresh as its underlying
///   error.
/// - After **a transient failure** (offline, 5xx, a proxy's page), the waiting calls fail with its error. The user
///   stays signed in, and the next call starts another refresh. Above the refresh limit, calls fail with the error of
///   the latest refresh, or with `AuthenticationError/tooManyRefreshes(_:)` if that refresh returned a credential.
/// - Errors contain no data of the refresh other than its status.
/// - A call belongs to the session in which it started, and is never sent with the credential of another session.
///
/// Several providers can use the same plugin. Copies share their state.
public struct AuthenticationPlugin<A: Authenticator>: Plugin {
    /// `PluginPlace.authentication`.
    public var place: PluginPlace { .authentication }

    /// The hooks that the plugin implements.
    public var hooks: PluginHooks { [.prepare, .exchange, .retry, .rejectsCredential] }

    private let authenticator: A
    private let authorizes: @Sendable (any TargetType) -> Bool
    let currentCredential: CurrentCredential<A>
    private let calls = PluginStorage<AuthenticatedCall>()

    /// Creates a plugin.
    ///
    /// - Parameters:
    ///   - authenticator: Applies and refreshes the credential.
    ///   - store: Stores the credential between launches of the app; default `nil`: the credential is stored only in
    ///     memory.
    ///   - refreshLimit: The maximum number of refreshes in 30 seconds, including failed ones. Refreshes without a
    ///     response, and refreshes whose credential the server accepts, don't count. Default: 5.
    ///   - refreshTimeout: The maximum time for which calls wait for a refresh. After it, they fail with the kind
    ///     `.timedOut`, and the user stays signed in. Default: one minute.
    ///   - clock: Measures these times; default: the continuous clock.
    ///   - authorizes: Returns whether calls of a target may include the credential, for a provider whose targets
    ///     belong to several servers or users; default: all may. It is called for calls with the scheme `.automatic` or
    ///     `.bearer`.
    ///   - onStoreFailure: Called if a refreshed credential can't be stored, or an invalid one can't be removed. The
    ///     session continues with the credential in memory, and the next call tries to store it again. Default: does
    ///     nothing.
    ///   - signOut: Called once with the error of a permanent refresh failure, before the waiting calls fail. Calls
    ///     that it makes with the credential fail immediately. It can start the next session with ``signIn(_:)``.
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
            store: store,
            limit: RefreshLimit(refreshLimit, timeout: refreshTimeout),
            clock: clock,
            authorizes: authorizes,
            onStoreFailure: onStoreFailure,
            signOut: signOut
        )
    }

    /// Creates a plugin with a custom interval for the refresh limit.
    package init(
        authenticator: A,
        store: (any CredentialStore<A.Credential>)?,
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
            store: store,
            limit: limit,
            clock: clock,
            onStoreFailure: onStoreFailure,
            signOut: signOut
        )
    }

    /// The fields that the authenticator sets.
    public var secretHeaders: Set<HTTPHeaderName> { authenticator.secretHeaders }

    /// Applies the current credential. A refresh that is due or in progress is part of the exchange.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        guard authorizes(context) else { return request }
        do {
            // A call that is part of the refresh must not wait for it.
            let isRefreshing = currentCredential.isRefreshingHere
            if !isRefreshing, currentCredential.isStoreBehind { try await currentCredential.catchUp() }
            let lease = isRefreshing ? currentCredential.lease : try knownLease(for: context)
            guard let lease else {
                context.apply(nil, of: id)
                return request
            }
            let (changed, applied) = try applying(lease, to: request)
            context.apply(applied, of: id)
            return changed
        } catch let failure as RefreshFailure {
            throw failure.error(request: request)
        }
    }

    /// Waits for a refresh that is due or in progress, and applies the new credential.
    public func exchange(
        _ request: TransportRequest,
        context: RequestContext,
        next: Exchange
    ) async throws -> TransportResponse {
        guard !request.isCrossOrigin, authorizes(context), let call = context[calls], let generation = call.prepared,
            !currentCredential.isRefreshingHere,
            let prepared = context[AppliedCredentialsKey.self]?.first(where: { $0.plugin == id }),
            prepared.isCarried(by: request.urlRequest)
        else { return try await next(request) }
        var request = request
        do {
            let lease = try await currentCredential.lease(in: call.session)
            if let lease, lease.generation != generation {
                note(lease, of: call, context)
                let (changed, applied) = try applying(lease, to: prepared.removed(from: request.urlRequest))
                request.urlRequest = changed
                context.refresh(applied)
            }
        } catch let failure as RefreshFailure {
            throw failure.error(request: request.urlRequest)
        } catch  where !error.isCancellation {
            throw TargetKitError(stage: .request, request: request.urlRequest, underlying: error)
        }
        return try await next(request)
    }

    private func applying(
        _ lease: CurrentCredential<A>.Lease,
        to original: URLRequest
    ) throws -> (URLRequest, AppliedCredential) {
        var request = original
        try authenticator.apply(lease.credential, to: &request)
        var applied = AppliedCredential(by: id, of: lease.owner, before: original, after: request)
        applied.owner = owner(of: lease, applied)
        return (request, applied)
    }

    /// Identifies the plugin and its copies.
    private var id: ObjectIdentifier { ObjectIdentifier(currentCredential) }

    /// The owner of a credential; `nil` if neither the authenticator names the user nor the store the session.
    private func owner(of lease: CurrentCredential<A>.Lease, _ applied: AppliedCredential) -> CredentialOwner? {
        let fields = Set(applied.fields.map(\.name))
        if let user = authenticator.user(of: lease.credential) {
            // A digest, because the identifier is stored with partial transfers.
            return CredentialOwner(identifier: "user " + SHA256Hasher.hexadecimal(of: user), fields: fields)
        }
        return lease.owner.id.map { CredentialOwner(identifier: $0, fields: fields) }
    }

    /// Retries a call whose credential the server rejected when there is a newer one.
    public func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
        guard let response = rejected(result) else {
            if case .success = result, let applied = context[calls]?.applied {
                currentCredential.state.withLock { $0.refreshes.accept(applied) }
            }
            return .doNotRetry
        }
        guard authorizes(context), !currentCredential.isRefreshingHere, let call = context[calls],
            let applied = call.applied, let now = try? await currentCredential.position()
        else { return .doNotRetry }
        guard now.session == call.session else {
            return .fail(RefreshFailure.signedOut.error(request: response.request))
        }
        // If the server rejects the newest credential, which is newer than the call, it would also reject the next one.
        if applied == now.generation,
            currentCredential.isRefused(response.refusalKey, with: applied, isNew: applied > call.first)
        {
            return .doNotRetry
        }
        do {
            _ = try await currentCredential.lease(after: applied, in: call.session)
            return response.repetition(of: context)
        } catch let failure as RefreshFailure {
            return .fail(failure.error(request: response.request, rejected: response))
        } catch {
            // The call was cancelled.
            return .doNotRetry
        }
    }

    /// Whether the authenticator finds in a body with an accepted status that the credential was rejected.
    public func rejectsCredential(_ response: Response, context: RequestContext) -> Bool {
        authorizes(context.target) && authenticator.wasRejected(response)
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

    /// Starts a session with a credential, and stores the credential.
    ///
    /// The result of a refresh for the previous session is discarded. Calls of the previous session that wait for it,
    /// or that the server rejects, end with stage `.cancelled`. If another process is refreshing the credential, the
    /// new credential is stored after that.
    ///
    /// - Throws: The store's error. The session starts in any case.
    public func signIn(_ credential: A.Credential) async throws {
        _ = try await currentCredential.replace(with: credential)
    }

    /// Ends the session, and clears the store, without calling the sign-out handler. The calls of the session end as
    /// described for ``signIn(_:)``. If another process is refreshing the credential, the store is cleared after that.
    ///
    /// - Returns: The credential of the session, for its revocation (RFC 7009).
    /// - Throws: The store's error. The session ends in any case.
    @discardableResult
    public func signOut() async throws -> A.Credential? {
        // A credential that can't be read is also removed.
        _ = try? await currentCredential.position()
        return try await currentCredential.replace(with: nil)
    }

    /// Whether this plugin refreshes the credential after a rejection, so that the rejection doesn't end the session.
    func refreshesCredential(of context: RequestContext) -> Bool {
        currentCredential.lease != nil && authorizes(context)
    }

    /// The number of sessions that started with a sign-in.
    var signInCount: Int { currentCredential.state.withLock(\.signInCount) }
}

// MARK: - Calls

/// The credentials of a call.
private struct AuthenticatedCall: Sendable {
    let session: Int
    /// The credential's generation when the call started.
    var first: Int
    /// The generation with which the latest attempt was prepared; `nil` without a credential.
    var prepared: Int?
    /// The generation with which the latest request was sent after a refresh; `nil` without a credential.
    var applied: Int?
    /// Whether a credential of another process became the first one.
    var hasAdopted = false
}

extension Response {
    /// The key for recording the rejection of a request, which consists of the method and the URL without the query.
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
    private func knownLease(for context: RequestContext) throws -> CurrentCredential<A>.Lease? {
        let now = currentCredential.knownPosition
        var call = context[calls] ?? AuthenticatedCall(session: now.session, first: now.generation)
        let lease = try currentCredential.knownLease(in: call.session)
        call.prepared = lease?.generation
        note(lease, of: call, context)
        return lease
    }

    /// Records the credential of a call.
    private func note(_ lease: CurrentCredential<A>.Lease?, of call: AuthenticatedCall, _ context: RequestContext) {
        var call = call
        call.applied = lease?.generation
        // The credential need not be newer than the rejected one.
        if let lease, lease.isAdopted, !call.hasAdopted {
            call.first = lease.generation
            call.hasAdopted = true
        }
        context[calls] = call
    }

    /// The response that rejected the call's credential. A response of another origin doesn't count, because redirects
    /// there don't include the credential.
    private func rejected(_ result: Result<Response, TargetKitError>) -> Response? {
        let (response, isReported): (Response, Bool)
        switch result {
        case .success(let answer): (response, isReported) = (answer, false)
        case .failure(let error):
            guard error.stage != .cancelled, let answer = error.response else { return nil }
            (response, isReported) = (answer, error.reportsRejection)
        }
        let isRejected = isReported || authenticator.wasRejected(response)
        return isRejected && !response.isCrossOrigin ? response : nil
    }
}
