// SPDX-License-Identifier: MIT
import TargetKit

/// Signs the user out when the server rejects the session's credential with status 401, or with a code in the body of a
/// successful response.
///
/// ```swift
/// let unauthorized = UnauthorizedPlugin(bodyCodes: [BodyCode(keyPath: "status", equals: 401)]) { context in
///     await session.signOut()
/// }
/// // after the next sign-in:
/// unauthorized.reset()
/// ```
///
/// Only a call that sent the credential to the rejecting server ends the session. Its request must have one of the
/// `credentialHeaders`, without a redirect to another origin. For example, a wrong password in a sign-in call doesn't
/// end the session.
///
/// At the first such result, the plugin cancels the other calls of the session, and then waits for the handler, so that
/// the caller receives the unchanged result after the user is signed out. The calls of the session are those that this
/// plugin prepared since the last ``reset()`` or sign-in, in every provider and scope, except calls that were sent
/// without one of the fields. An event stream or a WebSocket that reconnects ends too, even if it has no connection at
/// that moment. The cancelled calls end with stage `.cancelled`. Calls that the handler makes aren't cancelled, and the
/// handler may cancel all calls, or shut down the scope: the rejected call keeps its result. Further results have no
/// effect until ``reset()``. A plugin that was created with `after` needs no reset, because a sign-in with the
/// ``AuthenticationPlugin`` rearms it.
///
/// A 401 counts as a response and as an error of stage `.status`, regardless of the target's validation. A call that
/// was prepared before ``reset()`` doesn't count afterwards, so that a late response to the previous session doesn't
/// end the new one. Set `CallOptions.endsSessionOnUnauthorized` to `false` for calls that neither sign out nor are
/// cancelled, such as the sign-in.
///
/// The plugin acts in `process`, after the last attempt, so a plugin that refreshes a token and retries comes first. To
/// use it with an ``AuthenticationPlugin``, create it with `after`; it then signs out after a permanent refresh
/// failure.
///
/// Several providers can use the same plugin. Copies share their state.
public struct UnauthorizedPlugin: Plugin {
    /// A session that can end.
    private struct Session: Sendable, Hashable {
        /// The number of calls of ``UnauthorizedPlugin/reset()``.
        var resetCount = 0
        /// The number of sign-ins by the authentication plugin.
        var signInCount = 0

        /// Whether the session had begun when another one ended.
        func isOver(by ended: Session) -> Bool { resetCount <= ended.resetCount && signInCount <= ended.signInCount }
    }

    private struct State: Sendable {
        var resetCount = 0
        /// The ended session, whose further rejections don't sign out.
        var ended: Session?
        /// The outermost scopes of the calls that the plugin prepared.
        var scopes: [WeakScope] = []
        /// The sessions of WebSockets, whose calls have ended.
        var sockets: [(id: RequestContext.ID, session: Session)] = []
    }

    private struct WeakScope: Sendable {
        weak var scope: RequestScope?
    }

    /// The place just before `PluginPlace.standard`.
    public var place: PluginPlace { .sessionEnd }

    /// The hooks that the plugin implements.
    public var hooks: PluginHooks { [.prepare, .willSend, .process, .didFinish, .rejectsCredential] }

    private let bodyCodes: [BodyCode]
    private let credentialHeaders: Set<HTTPHeaderName>?
    private let counts: @Sendable (RequestContext) -> Bool
    private let signInCount: @Sendable () -> Int
    private let signOut: @Sendable (RequestContext) async -> Void
    private let state = Locked(State())
    /// The session of each call.
    private let sessions = PluginStorage<Session>()
    /// Whether a request of each call contained the session's credential; `nil` before one is sent.
    private let carriers = PluginStorage<Bool>()

    /// Creates a plugin that acts on status 401 and on a code in the body.
    ///
    /// - Parameters:
    ///   - bodyCodes: The codes in a body that report that the session has ended; default: none.
    ///   - credentialHeaders: The header fields with the session's credential. Add `.cookie` for a session in a cookie.
    ///     Default `nil`: `Authorization`, the fields in which the provider's plugins put secrets, and fields whose
    ///     names indicate a token or a session, such as `token` and `X-Session-Key`.
    ///   - belongsToSession: Returns whether the calls of a target count; default: all do.
    ///   - signOut: Called once until ``reset()``, with the rejected call. It isn't cancelled with that call.
    public init(
        bodyCodes: [BodyCode] = [],
        credentialHeaders: Set<HTTPHeaderName>? = nil,
        belongsToSession: @escaping @Sendable (any TargetType) -> Bool = { _ in true },
        signOut: @escaping @Sendable (_ context: RequestContext) async -> Void
    ) {
        self.init(
            bodyCodes,
            credentialHeaders: credentialHeaders,
            counts: { belongsToSession($0.target) },
            signOut: signOut
        )
    }

    private init(
        _ bodyCodes: [BodyCode],
        credentialHeaders: Set<HTTPHeaderName>?,
        counts: @escaping @Sendable (RequestContext) -> Bool,
        signInCount: @escaping @Sendable () -> Int = { 0 },
        signOut: @escaping @Sendable (RequestContext) async -> Void
    ) {
        self.signInCount = signInCount
        self.bodyCodes = bodyCodes
        self.credentialHeaders = credentialHeaders
        self.counts = { $0.options.endsSessionOnUnauthorized && counts($0) }
        self.signOut = signOut
    }

    /// Rearms the plugin for a new session. Call this method when the user signs in.
    public func reset() {
        state.withLock { $0.resetCount += 1 }
    }

    private var session: Session {
        Session(resetCount: state.withLock(\.resetCount), signInCount: signInCount())
    }

    /// Notes the session of the call at each attempt, because a retried call may have a new token. A stream whose
    /// session has ended isn't opened again.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        if let begun = context.options.connectionSeries?[sessions], counts(context),
            let ended = state.withLock(\.ended), begun.isOver(by: ended)
        {
            throw CredentialError.ofOtherOwner
        }
        context[sessions] = session
        let scope = context.scope.outermost
        state.withLock { state in
            if state.scopes.contains(where: { $0.scope === scope }) { return }
            state.scopes.removeAll { $0.scope == nil }
            state.scopes.append(WeakScope(scope: scope))
        }
        return request
    }

    /// Notes whether the request contains the session's credential.
    public func willSend(_ request: URLRequest, context: RequestContext) {
        if context[carriers] != true { context[carriers] = carriesSession(request, context: context) }
        if context[carriers] == true { context.options.connectionSeries?[sessions] = context[sessions] }
    }

    /// Notes the session of a WebSocket, which outlives its call.
    public func didFinish(_ call: FinishedCall, context: RequestContext) {
        guard case .success(let response) = call.result, response.statusCode == 101, let session = context[sessions],
            context[carriers] == true
        else { return }
        state.withLock { state in
            let scopes = state.scopes
            state.sockets.removeAll { id, _ in !scopes.contains { $0.scope?.hasEntry(of: id) == true } }
            state.sockets.append((context.id, session))
        }
    }

    /// Signs out if the result means that the session ended, and returns the result unchanged.
    public func process(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        guard counts(context), endsSession(result, context: context) else { return result }
        let session = session
        let isFirst = state.withLock { state in
            guard context[sessions] ?? session == session, state.ended != session else { return false }
            state.ended = session
            return true
        }
        guard isFirst else { return result }
        cancelCalls(of: session, after: context)
        await handle(context)
        return result
    }

    /// Cancels the other calls of a session, its WebSockets, and its streams that wait to reconnect.
    private func cancelCalls(of session: Session, after rejected: RequestContext) {
        let (scopes, sockets) = state.withLock { state in
            let ended = state.sockets.filter { $0.session == session }.map(\.id)
            state.sockets.removeAll { $0.session == session }
            return (state.scopes.compactMap(\.scope), ended)
        }
        for scope in scopes {
            scope.cancelAll { call in
                guard call.id != rejected.id, counts(call) else { return false }
                if sockets.contains(call.id) || call.options.connectionSeries?[sessions] == session { return true }
                return call[sessions] == session && mayCarrySession(call)
            }
        }
    }

    /// Whether a call may have sent the credential. A call that isn't sent yet may already contain it.
    private func mayCarrySession(_ call: RequestContext) -> Bool {
        // A call that shares an exchange sends nothing itself.
        call[carriers] ?? call.preparedRequest.map { carriesSession($0, context: call) } ?? true
    }

    /// Calls the handler, and waits for it unless the call is cancelled.
    private func handle(_ context: RequestContext) async {
        let (signOut, outcome) = (signOut, SharedOutcome<Void>())
        // A separate task, so that cancelling this call doesn't cancel the handler.
        Task {
            let calls = RequestScope.callsOfHandler.union([context.id])
            await RequestScope.$callsOfHandler.withValue(calls) { await signOut(context) }
            outcome.settle(())
        }
        try? await outcome.value()
    }

    /// Whether a plugin ended the session, or the server rejected the session's credential.
    private func endsSession(_ result: Result<Response, TargetKitError>, context: RequestContext) -> Bool {
        switch result {
        case .success(let response): rejectsSession(response, context: context)
        case .failure(let error) where error.stage == .cancelled: false
        case .failure(let error) where error.isMarked(.endedSession): true
        case .failure(let error):
            error.response.map { rejectsSession($0, isReported: error.reportsRejection, context: context) } ?? false
        }
    }

    /// Whether the call sent the session's credential to the server that rejected it.
    ///
    /// - Parameter isReported: Whether the call's envelope reports it.
    private func rejectsSession(
        _ response: Response,
        isReported: Bool = false,
        context: RequestContext
    ) -> Bool {
        guard isReported || isUnauthorized(response), let request = response.request,
            !response.isCrossOrigin
        else { return false }
        return carriesSession(request, context: context)
    }

    /// Whether a request contains the session's credential.
    private func carriesSession(_ request: URLRequest, context: RequestContext) -> Bool {
        if let credentialHeaders {
            return credentialHeaders.contains { request.value(forHTTPHeaderField: $0.rawValue) != nil }
        }
        return request.allHTTPHeaderFields?.keys.contains { name in
            Self.carriesSession(HTTPHeaderName(rawValue: name), context: context)
        } == true
    }

    /// Whether a field usually contains the credential of a session.
    private static func carriesSession(_ name: HTTPHeaderName, context: RequestContext) -> Bool {
        if otherSecrets.contains(name) { return false }
        if context.secretHeaders.contains(name) { return true }
        guard HeaderRedaction.standard.isSecret(name) else { return false }
        let text = SecretFields.normalized(name.rawValue)
        return sessionWords.contains(where: text.contains) && !otherWords.contains(where: text.contains)
    }

    /// Words in the names of fields with a session's credential.
    private static let sessionWords = ["token", "session", "sess", "sid", "jwt", "auth", "bearer", "ticket"]

    /// Words in the names of fields that apps and guests send without a session.
    private static let otherWords = [
        "csrf", "xsrf", "appcheck", "apikey", "appkey", "client", "captcha", "device", "guest", "push", "sign", "proxy",
    ]

    /// Secret fields that may be unrelated to a session, such as cookies of guests and keys of apps.
    private static let otherSecrets: Set<HTTPHeaderName> = [
        .cookie, .setCookie, "Proxy-Authorization", "Authentication-Info", "Proxy-Authentication-Info", "X-Api-Key",
        "Api-Key", "X-Csrf-Token",
    ]

    private func isUnauthorized(_ response: Response) -> Bool {
        response.statusCode == 401 || bodyCodes.contains { $0.matches(response) }
    }
}

extension UnauthorizedPlugin {
    /// Whether the body has one of the plugin's codes.
    public func rejectsCredential(_ response: Response, context: RequestContext) -> Bool {
        bodyCodes.contains { $0.matches(response) }
    }
}

extension UnauthorizedPlugin {
    /// Creates a plugin that signs out after a permanent refresh failure of an ``AuthenticationPlugin``.
    ///
    /// ```swift
    /// let unauthorized = UnauthorizedPlugin(after: authentication) { context in
    ///     await session.signOut()
    /// }
    /// let provider = Provider<Orders>(plugins: [authentication, unauthorized])
    /// ```
    ///
    /// While the other plugin has a credential, rejected calls with it don't count, even if a new credential was
    /// rejected or the refresh failed transiently. After a permanent failure, the first failed call signs out, and the
    /// others are cancelled. The next sign-in rearms the plugin.
    ///
    /// - Parameters:
    ///   - authentication: The plugin that refreshes the credential, in the same providers.
    ///   - bodyCodes: The codes in a body that reject another credential than the authentication plugin's, whose
    ///     authenticator has its own codes; default: none.
    ///   - credentialHeaders: The header fields with a credential of the session other than the authentication
    ///     plugin's; default `nil` as in ``init(bodyCodes:credentialHeaders:belongsToSession:signOut:)``.
    ///   - belongsToSession: Returns whether the calls of a target count; default: all do.
    ///   - signOut: Called once for each session, with the rejected call. It isn't cancelled with that call.
    public init<A>(
        after authentication: AuthenticationPlugin<A>,
        bodyCodes: [BodyCode] = [],
        credentialHeaders: Set<HTTPHeaderName>? = nil,
        belongsToSession: @escaping @Sendable (any TargetType) -> Bool = { _ in true },
        signOut: @escaping @Sendable (_ context: RequestContext) async -> Void
    ) {
        self.init(
            bodyCodes,
            credentialHeaders: credentialHeaders,
            counts: { belongsToSession($0.target) && !authentication.refreshesCredential(of: $0) },
            signInCount: { authentication.signInCount },
            signOut: signOut
        )
    }
}

extension CallOptions {
    /// Whether an `UnauthorizedPlugin` signs out when the server rejects the call's credentials, and cancels the call
    /// when the session ends; default `true`. Set it to `false` for the sign-in, where a 401 means a wrong password.
    public var endsSessionOnUnauthorized: Bool {
        get { self[EndsSessionOnUnauthorizedKey.self] }
        set { self[EndsSessionOnUnauthorizedKey.self] = newValue }
    }
}

private enum EndsSessionOnUnauthorizedKey: CallOptionKey { static let defaultValue = true }
