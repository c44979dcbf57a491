// SPDX-License-Identifier: MIT
import Foundation
import Observation
import ShopAPI
import TargetKit

/// Signing in.
@available(iOS 17, macOS 14, *)
@MainActor @Observable
public final class LoginModel {
    /// What the person has typed.
    public var user = ""
    /// What the person has typed.
    public var password = ""
    /// Whether the server is being asked.
    public private(set) var isSigningIn = false
    /// Whether somebody is signed in.
    public private(set) var isSignedIn = false
    /// Why the last attempt has failed, for the person.
    public private(set) var message: String?

    private let client: ShopClient

    package init(_ client: ShopClient) {
        self.client = client
    }

    /// Whether the button is enabled.
    public var canSignIn: Bool { !isSigningIn && !user.isEmpty && !password.isEmpty }

    /// Signs in. Does nothing without a user and a password.
    public func signIn() async {
        guard canSignIn else { return }
        isSigningIn = true
        defer { isSigningIn = false }
        do {
            try await client.signIn(Credentials(user: user, password: password))
            password = ""
            message = nil
            isSignedIn = true
        } catch let error as TargetKitError where error.stage == .cancelled {
            message = nil
        } catch {
            message = error.localizedDescription
        }
    }

    /// Ends the session, and cancels its calls.
    public func signOut() async {
        client.scope.cancelAll()
        _ = try? await client.authentication.signOut()
        client.session.end()
        isSignedIn = false
    }
}
