// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import Testing

@testable import ShopScreens

@MainActor @Suite("Login", .timeLimit(.minutes(1)))
struct LoginModelTests {
    private static let tokens = #"{"accessToken":"a","refreshToken":"r","expiresIn":900}"#

    @Test("The button needs a user and a password")
    func button() async throws {
        let world = try ModelCase([.any: .json(Self.tokens)])
        let model = LoginModel(world.client)
        #expect(!model.canSignIn)
        await model.signIn()
        #expect(world.calls.requests.isEmpty)
        (model.user, model.password) = ("ada", "tea")
        #expect(model.canSignIn)
    }

    @Test("Signing in forgets the password, and the next call carries the token")
    func signIn() async throws {
        let world = try ModelCase([.post("/session"): .json(Self.tokens, status: 201), .any: .json("[]")])
        let model = LoginModel(world.client)
        (model.user, model.password) = ("ada", "tea")
        await model.signIn()
        #expect(model.isSignedIn && model.password.isEmpty && model.message == nil)
        _ = try await world.client.orders.request(.all)
        try world.calls.expect(.get("/orders").with(.header(.authorization, "Bearer a")), times: 1)
    }

    @Test("A wrong password is said, and the person can try again")
    func wrongPassword() async throws {
        let world = try ModelCase([.any: .status(403)])
        let model = LoginModel(world.client)
        (model.user, model.password) = ("ada", "coffee")
        await model.signIn()
        #expect(!model.isSignedIn && model.message != nil && model.canSignIn)
    }

    @Test("After signing out, calls carry no token")
    func signOut() async throws {
        let world = try ModelCase([.post("/session"): .json(Self.tokens), .any: .json("[]")])
        let model = LoginModel(world.client)
        (model.user, model.password) = ("ada", "tea")
        await model.signIn()
        await model.signOut()
        #expect(!model.isSignedIn)
        _ = try await world.client.orders.request(.all)
        try world.calls.expect(.get("/orders").with(.not(.header(.authorization))), times: 1)
    }
}
