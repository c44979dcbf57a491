// SPDX-License-Identifier: MIT
import TargetKit

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
    ///   - belongsToSession: Whether a target's calls count; default: ``targetDecides``.
    ///   - signOut: Is called once until ``rearm()``, with the call whose result it was.
    public init<A>(
        after authentication: AuthenticationPlugin<A>,
        bodyCodes: [BodyCode] = [],
        belongsToSession: @escaping @Sendable (any TargetType) -> Bool = Self.targetDecides,
        signOut: @escaping @Sendable (_ context: RequestContext) async -> Void
    ) {
        self.init(
            bodyCodes: bodyCodes,
            belongsToSession: { belongsToSession($0) && !authentication.isInCharge(of: $0) },
            signOut: signOut
        )
    }
}
