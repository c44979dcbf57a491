// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Credentials", .timeLimit(.minutes(2)))
struct CredentialsPluginTests {
    private static let anna = CredentialsPlugin { _ in
        URLCredential(user: "anna", password: "secret", persistence: .none)
    }

    @Test("The first request has user and password")
    func basic() async throws {
        #expect(try await sentAuthorization(PluginTarget(), Self.anna) == ["Basic YW5uYTpzZWNyZXQ="])
    }

    @Test("Without a credential the request is not changed")
    func none() async throws {
        #expect(try await sentAuthorization(PluginTarget(), CredentialsPlugin { _ in nil }) == [])
    }

    @Test(
        "Calls of another scheme are not changed",
        arguments: [(.basic, true), (.none, false), (.bearer, false), (.custom("Token"), false)]
            as [(AuthorizationScheme, Bool)]
    )
    func schemes(_ scheme: AuthorizationScheme, _ isSent: Bool) async throws {
        #expect(
            try await sentAuthorization(PluginTarget(authorization: scheme), Self.anna)
                == (isSent ? ["Basic YW5uYTpzZWNyZXQ="] : [])
        )
    }

    @Test("The closure gets the target")
    func perTarget() async throws {
        let plugin = CredentialsPlugin { target in
            guard (target as? PluginTarget)?.method == .post else { return nil }
            return URLCredential(user: "anna", password: "secret", persistence: .none)
        }
        #expect(try await sentAuthorization(PluginTarget(), plugin) == [])
        #expect(try await sentAuthorization(PluginTarget(method: .post), plugin) == ["Basic YW5uYTpzZWNyZXQ="])
    }

    @Test("An existing field is not replaced", arguments: ["Authorization", "authorization"])
    func keeps(_ name: String) async throws {
        #expect(try await sentAuthorization(PluginTarget(headers: HTTPHeaders([name: "Own"])), Self.anna) == ["Own"])
        #expect(
            try await sentAuthorization(PluginTarget(), AccessTokenPlugin { _ in "token" }, Self.anna) == [
                "Bearer token"
            ]
        )
        #expect(
            try await sentAuthorization(PluginTarget(), Self.anna, AccessTokenPlugin { _ in "token" }) == [
                "Bearer token"
            ]
        )
    }

    @Test("A user with a colon ends the call with stage request")
    func colon() async throws {
        let plugin = CredentialsPlugin { _ in URLCredential(user: "a:b", password: "c", persistence: .none) }
        let error = try #require(await Provider<PluginTarget>.stubbed(plugin).result(PluginTarget()).failure)
        #expect(error.stage == .request)
        #expect(error.underlying as? BasicCredentials.Problem == .colonInUser)
    }

    @Test("An error of the closure ends the call with stage request")
    func throwing() async throws {
        let plugin = CredentialsPlugin { _ in throw Boom() }
        let error = try #require(await Provider<PluginTarget>.stubbed(plugin).result(PluginTarget()).failure)
        #expect(error.stage == .request)
        #expect(error.underlying is Boom)
    }
}

@Suite("Basic credentials")
struct BasicCredentialsTests {
    @Test(
        "They are written in UTF-8 and base64",
        arguments: [
            // RFC 7617 §2 and §2.1.
            ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            ("test", "123£", "Basic dGVzdDoxMjPCow=="),
            ("", "", "Basic Og=="), ("user", "a:b", "Basic dXNlcjphOmI="),
        ]
    )
    func value(_ user: String, _ password: String, _ expected: String) throws {
        #expect(try BasicCredentials(user: user, password: password).fieldValue == expected)
        #expect(try BasicCredentials("\(user):\(password)").fieldValue == expected)
    }

    @Test(
        "What the scheme does not allow is refused",
        arguments: [
            ("a:b", "c", .colonInUser), ("a\n", "c", .controlCharacter), ("a", "c\u{7F}", .controlCharacter),
            ("a", "\u{0}", .controlCharacter),
        ] as [(String, String, BasicCredentials.Problem)]
    )
    func refused(_ user: String, _ password: String, _ problem: BasicCredentials.Problem) {
        #expect(throws: problem) { try BasicCredentials(user: user, password: password) }
    }

    @Test("A text without a colon is refused")
    func noColon() {
        #expect(throws: BasicCredentials.Problem.noColon) { try BasicCredentials("anna") }
    }

    @Test("No description contains the password")
    func redacted() throws {
        let credentials = try BasicCredentials(user: "anna", password: "hunter2")
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), dumped, "\([credentials])"] {
            #expect(text.contains("anna"))
            #expect(!text.contains("hunter2"))
        }
    }

    @Test("Each problem has a description", arguments: BasicCredentials.Problem.allCases)
    func problems(_ problem: BasicCredentials.Problem) {
        #expect(problem.errorDescription?.contains("Basic scheme") == true)
    }
}
