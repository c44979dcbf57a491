// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// How calls carry the tokens of the shop, and how these are refreshed.
package struct ShopAuthenticator: Authenticator {
    /// The time before its end at which a token is refreshed.
    private static let margin: TimeInterval = 10
    /// The server's older part reports an invalid token in a body with the status 200.
    package static let bodyCode = BodyCode(keyPath: "status", equals: 401)

    private let now: @Sendable () -> Date
    private let renew: @Sendable (ShopTokens) async throws -> ShopTokens

    package init(
        now: @escaping @Sendable () -> Date = { Date() },
        renew: @escaping @Sendable (ShopTokens) async throws -> ShopTokens
    ) {
        (self.now, self.renew) = (now, renew)
    }

    package func apply(_ tokens: ShopTokens, to request: inout URLRequest) {
        request.setValue("Bearer \(tokens.accessToken)", forHTTPHeaderField: "Authorization")
    }

    package func needsRefresh(_ tokens: ShopTokens) -> Bool {
        tokens.expiresAt.timeIntervalSince(now()) < Self.margin
    }

    package func refresh(_ tokens: ShopTokens) async throws -> ShopTokens { try await renew(tokens) }

    package func wasRejected(_ response: Response) -> Bool {
        response.statusCode == 401 || Self.bodyCode.matches(response)
    }
}
