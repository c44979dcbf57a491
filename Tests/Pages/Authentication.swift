// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Orders {
    var baseURL: URL { URL(filePath: "/") }
    var path: RequestPath { "/orders" }
}

struct Screen: Sendable {
    func showSignIn(because error: any Error) async {}
    func signOut() async {}
}

struct Sessions: Sendable {
    func renew(_ token: String?) async throws -> (token: String, next: String) { ("", "") }
}

struct Browser: Sendable {
    func open(_ url: URL) async throws -> URL { url }
}

struct PrivateKey: Sendable {
    func signedToken(for audience: URL) async throws -> String { "" }
}

struct Vault: Sendable {
    func read(_ name: String) async throws -> Data? { nil }
    func write(_ data: Data, to name: String) async throws {}
    func remove(_ name: String) async throws {}
}

struct List: Sendable {
    func append(_ text: String) {}
}

let session = Screen()
let sessions = Sessions()
let reasons = List()
let tokenURL = URL(filePath: "/token")
let authorizationURL = URL(filePath: "/authorize")
let deviceURL = URL(filePath: "/device")
let revocationURL = URL(filePath: "/revoke")
let redirectURI = URL(filePath: "/signed-in")
let browser = Browser()
let key = PrivateKey()
let folder = URL(filePath: "/")
let store = FileCredentialStore<OAuthCredential>(folder)
let transport = StubTransport(.response(status: 200, data: Data()))

func show(_ text: String) {}
func showRetry() {}
