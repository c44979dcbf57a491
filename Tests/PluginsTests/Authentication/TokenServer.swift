// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TargetKitTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A credential with a number.
struct Token: Sendable, Hashable, Codable {
    var number: Int

    init(_ number: Int) {
        self.number = number
    }

    var field: String { "Bearer token-\(number)" }
}

/// An authenticator whose behavior the test sets.
struct TokenAuthenticator: Authenticator {
    var renew: @Sendable (Token) async throws -> Token = { Token($0.number + 1) }
    var isDue: @Sendable (Token) -> Bool = { _ in false }
    var isUsable: @Sendable (Token) -> Bool = { _ in false }

    func apply(_ token: Token, to request: inout URLRequest) {
        request.setValue(token.field, forHTTPHeaderField: "Authorization")
    }

    func needsRefresh(_ token: Token) -> Bool { isDue(token) }
    func canStillUse(_ token: Token) -> Bool { isUsable(token) }
    func refresh(_ token: Token) async throws -> Token { try await renew(token) }
}

/// A server that accepts one token at a time, and gives out the next one for it.
final class TokenServer: Sendable {
    private struct State: Sendable {
        var good: Int
        var refreshes: [Int] = []
    }

    private let state: Locked<State>
    /// The `Authorization` fields of the calls that have arrived, in order.
    let fields = Recorder<String?>()

    /// A server that accepts that token.
    init(good: Int = 2) {
        state = Locked(State(good: good))
    }

    /// The tokens that were renewed.
    var refreshes: [Int] { state.withLock { $0.refreshes } }

    /// Gives out the token after that one, and accepts no other from then on.
    func renew(_ token: Token) -> Token {
        state.withLock { state in
            state.refreshes.append(token.number)
            state.good = token.number + 1
            return Token(state.good)
        }
    }

    /// Accepts no token that it has given out so far.
    func expire() {
        state.withLock { $0.good += 1 }
    }

    /// Answers a call: status 200 to the good token, and 401 to others.
    func answer(_ request: URLRequest) -> SampleResponse {
        let field = request.value(forHTTPHeaderField: "Authorization")
        fields.append(field)
        let isGood = state.withLock { field == Token($0.good).field }
        return .response(status: isGood ? 200 : 401, data: Data("{}".utf8))
    }

    var transport: StubTransport {
        StubTransport { self.answer($0.urlRequest) }
    }

    var authenticator: TokenAuthenticator {
        TokenAuthenticator(renew: { self.renew($0) })
    }
}

/// Records the sign-outs of an ``AuthenticationPlugin``.
struct SignOuts: Sendable {
    let errors = Recorder<any Error>()

    var count: Int { errors.count }

    /// A plugin with that token; `nil`: without a credential.
    func plugin(
        _ authenticator: TokenAuthenticator,
        holding token: Int? = 1,
        limit: RefreshLimit = RefreshLimit(),
        clock: ManualClock = ManualClock()
    ) -> AuthenticationPlugin<TokenAuthenticator> {
        plugin(authenticator, MemoryCredentialStore(token.map { Token($0) }), limit: limit, clock: clock)
    }

    /// A plugin over that store.
    func plugin(
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
