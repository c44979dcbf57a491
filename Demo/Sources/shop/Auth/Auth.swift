// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins

/// Signing in, and ending the session.
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

    /// A call that signs in has no token yet, and its 401 means a wrong password: it does not end a session.
    var options: CallOptions {
        switch self {
        case .signIn: .setting(\.authorization, .none).setting(\.endsSessionOnUnauthorized, false)
        case .revoke: .init()
        }
    }

    var sampleData: Data {
        switch self {
        case .signIn: Data(#"{"token":"sample-token"}"#.utf8)
        case .revoke: Data()
        }
    }
}
