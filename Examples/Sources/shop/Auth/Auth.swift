// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins

/// Signing in, and what ends a session.
enum Auth {
    case signIn(Credentials)
    case revoke
}

extension Auth: ShopTarget {
    var route: Route {
        switch self {
        case .signIn(let credentials): .post("/session", .json(credentials))
        case .revoke: .post("/session/revoke")
        }
    }

    /// Who signs in has no token yet.
    var authorization: AuthorizationScheme {
        switch self {
        case .signIn: .none
        case .revoke: .bearer
        }
    }

    var sampleData: Data {
        switch self {
        case .signIn: Data(#"{"token":"sample-token"}"#.utf8)
        case .revoke: Data()
        }
    }
}

extension Auth: SessionTarget {
    /// A 401 for who signs in means a wrong password: no session has ended.
    var belongsToSession: Bool {
        switch self {
        case .signIn: false
        case .revoke: true
        }
    }
}
