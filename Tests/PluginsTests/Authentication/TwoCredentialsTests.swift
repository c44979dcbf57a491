// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Two authentication plugins of one provider, for example for a user and a device.
@Suite("Authentication: two credentials", .throttled, .timeLimit(.minutes(2)))
struct TwoCredentialsTests {
    /// Sends a token in a field, or in the query.
    private struct FieldAuthenticator: Authenticator {
        let field: String
        let isDue = Locked(false)
        var secretHeaders: Set<HTTPHeaderName> { [HTTPHeaderName(rawValue: field)] }

        func apply(_ token: Token, to request: inout URLRequest) {
            request.setValue(token.field, forHTTPHeaderField: field)
        }

        func needsRefresh(_ token: Token) -> Bool { isDue.withLock(\.self) }

        func refresh(_ token: Token) async throws -> Token {
            isDue.withLock { $0 = false }
            return Token(token.number + 1)
        }

        func wasRejected(_ response: Response) -> Bool { response.headers["X-Rejected"] == field }
    }

    private let one = FieldAuthenticator(field: "Authorization")
    private let two = FieldAuthenticator(field: "X-Device-Token")

    private static func plugin(
        _ authenticator: FieldAuthenticator,
        _ token: Int
    ) async throws -> AuthenticationPlugin<FieldAuthenticator> {
        let plugin = AuthenticationPlugin(authenticator: authenticator) { _ in }
        try await plugin.signIn(Token(token))
        return plugin
    }

    @Test("The refresh of one credential keeps the other", arguments: [0, 1], [true, false])
    func refresh(of index: Int, isDue: Bool) async throws {
        let authenticators = [one, two]
        let rejected = authenticators[index].field
        let script = ScriptedTransport { request, _ in
            let isOld = request.value(forHTTPHeaderField: rejected) == Token(1).field
            return isOld ? .status(401, ["X-Rejected": rejected]) : .status(200)
        }
        let provider = Provider<PluginTarget>(
            transport: script.transport,
            plugins: [try await Self.plugin(one, 1), try await Self.plugin(two, 1)]
        )
        if isDue { authenticators[index].isDue.withLock { $0 = true } }
        for _ in 0..<2 { #expect(try await provider.request(PluginTarget()).statusCode == 200) }
        #expect(script.requests.count == (isDue ? 2 : 3))
        for request in script.requests.elements.suffix(2) {
            for authenticator in authenticators {
                let token = Token(authenticator.field == rejected ? 2 : 1)
                #expect(request.value(forHTTPHeaderField: authenticator.field) == token.field)
            }
        }
    }

    @Test("Both credentials identify the owner of a request, until one of them is another user's", arguments: [0, 1])
    func owner(changed index: Int) async throws {
        let owners = Recorder<CredentialOwner?>()
        let recording = RecordingPlugin(
            place: .observation,
            prepare: { request, context in
                owners.append(context.credentialOwner)
                return request
            }
        )
        let plugins = [try await Self.plugin(one, 1), try await Self.plugin(two, 1)]
        let provider = Provider<PluginTarget>.stubbed(plugins[0], plugins[1], recording)
        _ = try await provider.request(PluginTarget())
        [one, two][index].isDue.withLock { $0 = true }
        _ = try await provider.request(PluginTarget())
        try await plugins[index].signIn(Token(5))
        _ = try await provider.request(PluginTarget())
        try await plugins[index].signOut()
        _ = try await provider.request(PluginTarget())
        let found = owners.elements
        #expect(found[0] != nil)
        #expect(found[0]?.fields == ["Authorization", "X-Device-Token"])
        #expect(found[1] == found[0])
        #expect(found[2]?.identifier != found[0]?.identifier)
        #expect(found[3]?.fields.count == 1)
        #expect(Set(found.map { $0?.identifier }).count == 3)
    }
}
