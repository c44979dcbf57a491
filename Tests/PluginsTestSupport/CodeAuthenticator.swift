// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An authenticator for a server that reports a rejected token with status 401 or in the body.
package struct CodeAuthenticator: Authenticator {
    package init() {}

    /// A plugin without a credential.
    package static var plugin: AuthenticationPlugin<CodeAuthenticator> {
        AuthenticationPlugin(authenticator: CodeAuthenticator()) { _ in }
    }

    package func apply(_ token: Token, to request: inout URLRequest) {
        request.setValue(token.field, forHTTPHeaderField: "Authorization")
    }

    package func refresh(_ token: Token) async throws -> Token { Token(token.number + 1) }

    package func wasRejected(_ response: Response) -> Bool {
        response.statusCode == 401 || BodyCode.signIn.matches(response)
    }
}

extension BodyCode {
    /// The code with which the server requests a sign-in.
    package static let signIn = BodyCode(keyPath: "code", equals: 401)
}
