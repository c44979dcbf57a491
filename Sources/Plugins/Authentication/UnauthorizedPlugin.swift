// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Signs the user out when the server no longer knows them: on status 401, or on a code in the body of a response
/// that says 200.
///
/// ```swift
/// let unauthorized = UnauthorizedPlugin(bodyCodes: [BodyCode(keyPath: "status", equals: 401)]) { context in
///     await session.signOut()
/// }
/// // after the next sign-in:
/// unauthorized.rearm()
/// ```
///
/// At the first such result the plugin cancels every call of the scope but that one, and then waits for the handler:
/// the caller gets the result, unchanged, when the user is signed out. The calls that were cancelled end with stage
/// `.cancelled`; calls that the handler makes are not touched. From then on nothing happens until ``rearm()``,
/// however many calls fail the same way: their callers get what the server said.
///
/// It does not matter whether the target validates status codes: the 401 counts as a response and as an error of
/// stage `.status`. A call that was prepared before ``rearm()`` does not count after it, so that a late answer to the
/// old session does not end the new one. Targets opt out by ``SessionTarget`` or by a closure; they neither sign out
/// nor are cancelled.
///
/// The plugin works in `process`, so after every plugin's `retry`: one that refreshes the token and tries again comes
/// first at any place of the array, and the user is signed out only when that has not helped. Beside an
/// ``AuthenticationPlugin``, make it `after` that one: then it waits until a refresh has failed for good. Order:
/// before plugins that make another result in `process` and drop the response; those that keep it in their error may
/// stand before it.
///
/// One plugin may serve any number of providers; copies of it share what they know.
public struct UnauthorizedPlugin: Plugin {
    private struct State: Sendable {
        var isArmed = true
        var session = 0
        var sessionOfCall: [RequestContext.ID: Int] = [:]
    }

    private let bodyCodes: [BodyCode]
    private let belongsToSession: @Sendable (any TargetType) -> Bool
    private let signOut: @Sendable (RequestContext) async -> Void
    private let state = Locked(State())

    /// How many calls are noted.
    var noteCount: Int { state.withLock(\.sessionOfCall.count) }

    /// A plugin that acts on status 401 and on a code in the body.
    ///
    /// - Parameters:
    ///   - bodyCodes: What in a body means that the session has ended; default: bodies are not looked at.
    ///   - belongsToSession: Whether a target's calls count; default: those of targets that do not opt out by
    ///     ``SessionTarget``.
    ///   - signOut: Is called once until ``rearm()``, with the call whose result it was. It runs to its end also when
    ///     that call is cancelled meanwhile.
    public init(
        bodyCodes: [BodyCode] = [],
        belongsToSession: (@Sendable (any TargetType) -> Bool)? = nil,
        signOut: @escaping @Sendable (_ context: RequestContext) async -> Void
    ) {
        self.bodyCodes = bodyCodes
        self.belongsToSession = belongsToSession ?? Self.belongsToSession
        self.signOut = signOut
    }

    private static let belongsToSession: @Sendable (any TargetType) -> Bool = {
        ($0 as? any SessionTarget)?.belongsToSession ?? true
    }

    /// Makes the plugin act again, for the session that begins now: call it when the user has signed in.
    public func rearm() {
        state.withLock { state in
            state.isArmed = true
            state.session += 1
        }
    }

    /// Notes which session the call is made in; again at each attempt, which may carry a new token. An exchange that others
    /// share may go on when its call is over: of that nothing is noted.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        state.withLock { state in
            guard context.attempt == 0 || state.sessionOfCall[context.id] != nil else { return }
            state.sessionOfCall[context.id] = state.session
        }
        return request
    }

    /// Signs out, if that is what the result means, and passes the result on.
    public func process(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        let isUnauthorized = isUnauthorized(result) && belongsToSession(context.target)
        let isFirst = state.withLock { state in
            let session = state.sessionOfCall.removeValue(forKey: context.id) ?? state.session
            guard isUnauthorized, state.isArmed, session == state.session else { return false }
            state.isArmed = false
            return true
        }
        guard isFirst else { return result }
        context.scope.cancelAll { $0.id != context.id && belongsToSession($0.target) }
        let signOut = signOut
        // A task of its own: the cancelling of this call does not reach it.
        await Task { await signOut(context) }.value
        return result
    }

    private func isUnauthorized(_ result: Result<Response, TargetKitError>) -> Bool {
        switch result {
        case .success(let response): isUnauthorized(response)
        case .failure(let error) where error.stage == .cancelled: false
        case .failure(let error): error.response.map(isUnauthorized) ?? false
        }
    }

    private func isUnauthorized(_ response: Response) -> Bool {
        response.statusCode == 401 || bodyCodes.contains { $0.matches(response) }
    }
}

extension UnauthorizedPlugin {
    /// A plugin beside one that renews the credential: it signs out when no refresh can help any more, and not before.
    ///
    /// ```swift
    /// let unauthorized = UnauthorizedPlugin(after: authentication) { context in
    ///     await session.signOut()
    /// }
    /// let provider = Provider<Orders>(plugins: [authentication, unauthorized])
    /// ```
    ///
    /// As long as the other plugin holds a credential, a rejected call that carries it does not count: neither the one that is
    /// given up because the server rejects what it has just given out, nor one whose refresh has failed for a reason that
    /// passes. Once a refresh has failed for good, the first call that fails by it signs out, and the others are cancelled.
    /// Calls that the other plugin leaves alone count as ever.
    ///
    /// - Parameters:
    ///   - authentication: The plugin that renews the credential, in the same providers.
    ///   - bodyCodes: What in a body means that the session has ended; default: bodies are not looked at.
    ///   - belongsToSession: Whether a target's calls count; default: those of targets that do not opt out by
    ///     ``SessionTarget``.
    ///   - signOut: Is called once until ``rearm()``, with the call whose result it was.
    public init<A>(
        after authentication: AuthenticationPlugin<A>,
        bodyCodes: [BodyCode] = [],
        belongsToSession: (@Sendable (any TargetType) -> Bool)? = nil,
        signOut: @escaping @Sendable (_ context: RequestContext) async -> Void
    ) {
        self.init(
            bodyCodes: bodyCodes,
            belongsToSession: { (belongsToSession ?? Self.belongsToSession)($0) && !authentication.isInCharge(of: $0) },
            signOut: signOut
        )
    }
}

/// A target that says whether its call is made on behalf of the user who is signed in. Targets that do not conform are.
///
/// The call that signs in is not: its 401 means a wrong password, not a session that has ended.
public protocol SessionTarget: TargetType {
    /// Whether an ``UnauthorizedPlugin`` looks at this call, and cancels it when the session ends.
    var belongsToSession: Bool { get }
}
