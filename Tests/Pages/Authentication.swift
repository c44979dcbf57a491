// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

nonisolated extension Orders {
    var baseURL: URL { URL(filePath: "/") }
    var path: RequestPath { "/orders" }
}

nonisolated struct Screen: Sendable {
    func showSignIn(because error: any Error) async {}
    func signOut() async {}
}

nonisolated struct Sessions: Sendable {
    func renew(_ token: String?) async throws -> (token: String, next: String) { ("", "") }
}

nonisolated struct Browser: Sendable {
    func open(_ url: URL) async throws -> URL { url }
}

nonisolated struct PrivateKey: Sendable {
    func signedToken(for audience: URL) async throws -> String { "" }
}

nonisolated struct Vault: Sendable {
    func read(_ name: String) async throws -> Data? { nil }
    func write(_ data: Data, to name: String) async throws {}
    func remove(_ name: String) async throws {}
}

nonisolated struct List: Sendable {
    func append(_ text: String) {}
}

nonisolated let session = Screen()
nonisolated let sessions = Sessions()
nonisolated let reasons = List()
nonisolated let tokenURL = URL(filePath: "/token")
nonisolated let authorizationURL = URL(filePath: "/authorize")
nonisolated let deviceURL = URL(filePath: "/device")
nonisolated let revocationURL = URL(filePath: "/revoke")
nonisolated let redirectURI = URL(filePath: "/signed-in")
nonisolated let browser = Browser()
nonisolated let key = PrivateKey()
nonisolated let folder = URL(filePath: "/")
nonisolated let store = FileCredentialStore<OAuthCredential>(folder)
nonisolated let transport = StubTransport(.response(status: 200, data: Data()))

nonisolated func show(_ text: String) {}
nonisolated func showRetry() {}
