// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends calls with a credential, and renews it when it runs out or the server rejects it: the calls are sent again, and their
/// callers notice nothing.
///
/// ```swift
/// let authentication = AuthenticationPlugin(
///     authenticator: OAuthAuthenticator(tokenURL: tokenURL, client: OAuthClient(id: "shop-app")),
///     store: FileCredentialStore(file)
/// ) { error in
///     await session.showSignIn()
/// }
/// let provider = Provider<Orders>(plugins: [authentication])
/// try await authentication.signIn(credential)
/// ```
///
/// - Calls whose targets are `AuthorizedTarget`s of the scheme `.bearer` carry the credential; all others are left alone, and
///   `authorizes` says otherwise. While nobody is signed in, calls go out as they are.
/// - **One refresh at a time.** Calls that are rejected meanwhile, and calls that begin, wait for it. A call that was sent with
///   an older credential is sent again without a refresh. One that is rejected with a credential newer than its own beginning is
///   given up: its caller gets what the server said. Whoever is cancelled leaves; the refresh goes on, also when nobody is left.
/// - **A refresh that fails for good** ends the session (``Authenticator/endsSession(_:)``): the store is cleared, the sign-out
///   handler is called, once, and then every call that waits fails, and each that begins later, until ``signIn(_:)`` or
///   ``signOut()``. Such an error has the kind `.unauthorized`, stage `.status` (`.envelope` when the body said so), the
///   rejected response (status 401 where nothing was sent), and the error of the refresh underneath.
/// - **A failure that passes** (offline, 5xx) fails the calls that wait, with its error; nobody is signed out, and the next call
///   tries again. So do more refreshes than the limit allows: by the failure of the latest one, or by
///   ``AuthenticationError/tooManyRefreshes(_:)`` when that has brought a credential.
/// - No error that a caller gets holds what the refresh has sent or received, but for its status.
/// - A call belongs to the session in which it began: it never goes out with the credential of the next one.
///
/// Order: before plugins that look at the whole request, a logger or a signature for one, and before those that try again, so
/// that they are asked only about what no refresh has mended. One plugin may serve any number of providers; copies of it share
/// what they know.
public struct AuthenticationPlugin<A: Authenticator>: Plugin {
    private let authenticator: A
    private let authorizes: @Sendable (any TargetType) -> Bool
    let currentCredential: CurrentCredential<A>
    private let calls = Locked(AuthenticatedCalls())

    /// A plugin that renews credentials by that authenticator.
    ///
    /// - Parameters:
    ///   - authenticator: How calls carry the credential, and how it is renewed.
    ///   - store: Where the credential is kept; default: in memory, so that nobody is signed in at first.
    ///   - limit: How often it is renewed at most; default: 5 times in 30 seconds.
    ///   - clock: What the limit is measured by; default: the continuous clock.
    ///   - authorizes: Whether a target's calls carry the credential; default: those of an
    ///     `AuthorizedTarget` whose scheme is `.bearer`.
    ///   - onStoreFailure: Is told when a renewed credential cannot be stored, or one that is worth nothing not be removed. The
    ///     session goes on with what is in memory, and the next call tries again. Default: does nothing.
    ///   - signOut: Is called once when a refresh has failed for good, with its error, before the calls that wait for it fail.
    ///     Calls that it makes with the credential fail at once; ``signIn(_:)`` in it begins the next session.
    public init(
        authenticator: A,
        store: any CredentialStore<A.Credential> = MemoryCredentialStore<A.Credential>(),
        limit: RefreshLimit = RefreshLimit(),
        clock: any Clock<Duration> = ContinuousClock(),
        authorizes: (@Sendable (any TargetType) -> Bool)? = nil,
        onStoreFailure: @escaping @Sendable (any Error) -> Void = { _ in },
        signOut: @escaping @Sendable (_ error: any Error) async -> Void
    ) {
        self.authenticator = authenticator
        self.authorizes = authorizes ?? { ($0 as? any AuthorizedTarget)?.authorization == .bearer }
        currentCredential = CurrentCredential(
            authenticator,
            SerialCredentialStore(store),
            limit,
            clock: clock,
            onStoreFailure: onStoreFailure,
            signOut: signOut
        )
    }

    /// The fields that the authenticator sets.
    public var secretHeaders: Set<HTTPHeaderName> { authenticator.secretHeaders }

    /// Applies the credential; waits for a refresh that is due or under way.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        guard authorizes(context.target) else { return request }
        do {
            guard let lease = try await lease(for: context) else { return request }
            var request = request
            try authenticator.apply(lease.credential, to: &request)
            return request
        } catch let failure as RefreshFailure {
            throw failure.error(request: request)
        }
    }

    /// Asks for another attempt when the server has rejected a credential in whose place there is, or soon will be, a newer one.
    public func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
        guard authorizes(context.target), !currentCredential.isRefreshingHere,
            let response = rejected(result), let call = call(context, response), let applied = call.applied,
            let now = try? await currentCredential.position()
        else { return .doNotRetry }
        guard now.session == call.session else {
            return .fail(RefreshFailure.signedOut.error(request: response.request))
        }
        // The newest that there is, and no older than the call: another one would fare no better.
        if applied == now.generation, applied > call.first { return .doNotRetry }
        do {
            _ = try await currentCredential.lease(after: applied, in: call.session)
            return .retry(after: .zero)
        } catch let failure as RefreshFailure {
            return .fail(failure.error(request: response.request, rejected: response))
        } catch {
            // The call has been cancelled, and ends as that.
            return .doNotRetry
        }
    }

    /// Lets go of what was noted of the call; later when it may have left an exchange that others share.
    public func process(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        calls.withLock { $0.end(context.id, with: result) }
        return result
    }
}

// MARK: - The session

extension AuthenticationPlugin {
    /// The credential in use; `nil` when nobody is signed in.
    ///
    /// - Throws: what the store throws, when it has yet to be read.
    public var credential: A.Credential? {
        get async throws {
            _ = try await currentCredential.position()
            return currentCredential.lease?.credential
        }
    }

    /// Begins a session with that credential, and stores it.
    ///
    /// A refresh for the session before comes to nothing. Calls that wait for it end with stage `.cancelled`, and so do calls
    /// in flight if the server rejects them: they were made by whoever was signed in then.
    ///
    /// - Throws: what the store throws; the session has begun all the same.
    public func signIn(_ credential: A.Credential) async throws {
        _ = try await currentCredential.replace(with: credential)
    }

    /// Ends the session, and clears the store; the sign-out handler is not called. What holds for the calls of the session
    /// before at ``signIn(_:)`` holds here.
    ///
    /// - Returns: The credential that was in use, so that the server can be told to take it back (RFC 7009).
    /// - Throws: what the store throws; the session has ended all the same.
    @discardableResult
    public func signOut() async throws -> A.Credential? {
        // What cannot be read cannot be given back, but is removed.
        _ = try? await currentCredential.position()
        return try await currentCredential.replace(with: nil)
    }

    /// Whether a rejected call of that target is for this plugin to mend, and not a sign that the session has ended.
    func isInCharge(of target: any TargetType) -> Bool {
        currentCredential.lease != nil && authorizes(target)
    }
}

// MARK: - Calls

extension AuthenticationPlugin {
    private func lease(for context: RequestContext) async throws -> CurrentCredential<A>.Lease? {
        // A call that is part of the refresh would wait for itself.
        if currentCredential.isRefreshingHere { return currentCredential.lease }
        let now = try await currentCredential.position()
        guard let call = calls.withLock({ $0.call(context, in: (now.session, now.generation)) }) else {
            throw RefreshFailure.signedOut
        }
        let lease = try await currentCredential.lease(in: call.session)
        calls.withLock { $0.apply(lease?.generation, to: context.id) }
        return lease
    }

    /// What was noted of the call. Where nothing is any more, since it has left an exchange that others share long ago, the
    /// request tells whether the credential of this moment was rejected; an older one may be another session's.
    private func call(_ context: RequestContext, _ response: Response) -> AuthenticatedCalls.Call? {
        if let call = calls.withLock({ $0[context.id] }) { return call }
        guard context.attempt == 0, let request = response.request,
            let (lease, session) = currentCredential.leaseInSession
        else {
            return nil
        }
        var again = request
        guard (try? authenticator.apply(lease.credential, to: &again)) != nil, again.url == request.url,
            again.allHTTPHeaderFields == request.allHTTPHeaderFields
        else { return nil }
        return .init(session: session, first: lease.generation, applied: lease.generation)
    }

    /// The response by which the server has rejected the call's credential. One from another origin, where a redirect has led,
    /// has not seen it.
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
