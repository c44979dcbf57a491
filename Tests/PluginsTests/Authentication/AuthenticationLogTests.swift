// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

@Suite("Authentication: the log of a rejected call", .throttled, .timeLimit(.minutes(2)))
struct AuthenticationLogTests {
    private let signOuts = SignOuts()

    /// How a refresh is refused.
    enum Refusal: String, CaseIterable, Sendable {
        case oauth, call

        var error: any Error {
            switch self {
            case .oauth: OAuthError.refused(code: "invalid_grant", message: nil, statusCode: 400)
            case .call: TargetKitError(stage: .status, response: Response(statusCode: 400))
            }
        }

        var text: String {
            switch self {
            case .oauth: "the token endpoint rejected the request: invalid_grant"
            case .call: "the status code isn't accepted (HTTP 400)"
            }
        }
    }

    private static let failed = "the credential couldn't be refreshed: "

    @Test("The developer's line of a refused refresh contains the refresh's own line", arguments: Refusal.allCases)
    func line(_ refusal: Refusal) async throws {
        let plugin = signOuts.plugin(TokenAuthenticator(renew: { _ in throw refusal.error }))
        let provider = Provider<PluginTarget>(transport: TokenServer().transport, plugins: [plugin])
        let error = try #require(await provider.result(PluginTarget()).failure)
        let start = "PluginTarget: the status code isn't accepted (HTTP 401) [GET https://shop.example/api/things]: "
        #expect(error.description == start + Self.failed + refusal.text)
    }

    @Test(
        "A rejection is logged once, and the reason for the end of the call once",
        arguments: [StatusValidation.none, .successCodes],
        [true, false]
    )
    func once(_ validation: StatusValidation, _ succeeds: Bool) async throws {
        let plugin = signOuts.plugin(
            TokenAuthenticator(renew: { token in
                guard succeeds else { throw Refusal.oauth.error }
                return Token(token.number + 1)
            })
        )
        let lines = await LoggedLines(plugins: [plugin])(
            .basic,
            PluginTarget(validation: validation),
            answer: .response(status: 401, data: Data("{}".utf8))
        )
        let sent = "→ GET https://shop.example/api/things (PluginTarget)"
        let received = "← 401 PluginTarget, 2 bytes, 12.0 ms"
        let failure = "✗ PluginTarget: the status code isn't accepted (HTTP 401) [GET https://shop.example/api/things]"
        let attempt = [sent, received] + (validation == .none ? [] : [failure + ", 12.0 ms"])
        if succeeds {
            #expect(lines == attempt.map { "[.0] " + $0 } + attempt.map { "[.1] " + $0 })
        } else {
            let reason = (validation == .none ? failure : "✗ PluginTarget") + ": " + Self.failed + Refusal.oauth.text
            #expect(lines == (attempt + [reason]).map { "[.0] " + $0 })
        }
    }
}
