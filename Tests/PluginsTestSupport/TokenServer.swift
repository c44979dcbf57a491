// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TargetKitTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A credential with a number.
package struct Token: Sendable, Hashable, Codable {
    package var number: Int

    package init(_ number: Int) {
        self.number = number
    }

    package var field: String { "Bearer token-\(number)" }
}

/// An authenticator whose behavior the test sets.
package struct TokenAuthenticator: Authenticator {
    package var renew: @Sendable (Token) async throws -> Token
    package var isDue: @Sendable (Token) -> Bool
    package var isUsable: @Sendable (Token) -> Bool
    /// Whether it knows its users, each of whom has a hundred tokens.
    package var namesUsers: Bool

    package init(
        namesUsers: Bool = false,
        renew: @escaping @Sendable (Token) async throws -> Token = { Token($0.number + 1) },
        isDue: @escaping @Sendable (Token) -> Bool = { _ in false },
        isUsable: @escaping @Sendable (Token) -> Bool = { _ in false }
    ) {
        self.renew = renew
        self.isDue = isDue
        self.isUsable = isUsable
        self.namesUsers = namesUsers
    }

    package func apply(_ token: Token, to request: inout URLRequest) {
        request.setValue(token.field, forHTTPHeaderField: "Authorization")
    }

    package func user(of token: Token) -> String? { namesUsers ? "\(token.number / 100)" : nil }
    package func needsRefresh(_ token: Token) -> Bool { isDue(token) }
    package func canStillUse(_ token: Token) -> Bool { isUsable(token) }
    package func refresh(_ token: Token) async throws -> Token { try await renew(token) }
}

/// A server that accepts one token at a time, and gives out the next one for it.
package final class TokenServer: Sendable {
    private struct State: Sendable {
        var good: Int
        var refreshes: [Int] = []
    }

    private let state: Locked<State>
    /// The `Authorization` fields of the calls that have arrived, in order.
    package let fields = Recorder<String?>()

    /// A server that accepts that token.
    package init(good: Int = 2) {
        state = Locked(State(good: good))
    }

    /// The tokens that were renewed.
    package var refreshes: [Int] { state.withLock { $0.refreshes } }

    /// Gives out the token after that one, and accepts no other from then on.
    package func renew(_ token: Token) -> Token {
        state.withLock { state in
            state.refreshes.append(token.number)
            state.good = token.number + 1
            return Token(state.good)
        }
    }

    /// Accepts no token that it has given out so far.
    package func expire() {
        state.withLock { $0.good += 1 }
    }

    /// Answers a call: status 200 to the good token, and 401 to others.
    package func answer(_ request: URLRequest) -> SampleResponse {
        let field = request.value(forHTTPHeaderField: "Authorization")
        fields.append(field)
        let isGood = state.withLock { field == Token($0.good).field }
        return .response(status: isGood ? 200 : 401, data: Data("{}".utf8))
    }

    package var transport: StubTransport {
        StubTransport { self.answer($0.urlRequest) }
    }

    package var authenticator: TokenAuthenticator {
        TokenAuthenticator(renew: { self.renew($0) })
    }
}

/// Records the sign-outs of an ``AuthenticationPlugin``.
package struct SignOuts: Sendable {
    package let errors = Recorder<any Error>()

    package init() {}

    package var count: Int { errors.count }

    /// A plugin with that token; `nil`: without a credential.
    package func plugin(
        _ authenticator: TokenAuthenticator,
        holding token: Int? = 1,
        limit: RefreshLimit = RefreshLimit(),
        clock: ManualClock = ManualClock()
    ) -> AuthenticationPlugin<TokenAuthenticator> {
        plugin(authenticator, MemoryCredentialStore(token.map { Token($0) }), limit: limit, clock: clock)
    }

    /// A plugin over that store.
    package func plugin(
        _ authenticator: TokenAuthenticator,
        _ store: any CredentialStore<Token>,
        limit: RefreshLimit = RefreshLimit(),
        clock: ManualClock = ManualClock(),
        onStoreFailure: @escaping @Sendable (any Error) -> Void = { _ in }
    ) -> AuthenticationPlugin<TokenAuthenticator> {
        AuthenticationPlugin(
            authenticator: authenticator,
            store: store,
            limit: limit,
            clock: clock,
            onStoreFailure: onStoreFailure
        ) { [errors] error in
            errors.append(error)
        }
    }
}
