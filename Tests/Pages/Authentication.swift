// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

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

struct List: Sendable {
    func append(_ credential: OAuthCredential) {}
    func append(_ text: String) {}
}

let session = Screen()
let sessions = Sessions()
let revoked = List()
let reasons = List()
let tokenURL = URL(filePath: "/token")
let folder = URL(filePath: "/")
let store = FileCredentialStore<OAuthCredential>(folder)
let transport = StubTransport(.response(status: 200, data: Data()))

func show(_ text: String) {}
func showRetry() {}
