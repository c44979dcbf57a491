// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins

/// Signing in, and refreshing what that has returned.
package enum Auth: ShopTarget {
    case signIn(Credentials)
    case refresh(token: String)

    package var route: Route {
        switch self {
        case .signIn(let credentials): .post("/session", .json(credentials))
        case .refresh(let token): .post("/session/refresh", .json(["refreshToken": token]))
        }
    }

    /// These calls have no token yet, and their 401 means a wrong password: it does not end a session.
    ///
    /// A sign-in that was received twice is harmless, so it is retried. A refresh token counts once, so a refresh is
    /// not.
    package var options: CallOptions {
        let options = CallOptions.setting(\.authorization, .none).setting(\.endsSessionOnUnauthorized, false)
        switch self {
        case .signIn: return options.setting(\.retryPolicy, RetryPolicy(attempts: 6, methods: [.post]))
        case .refresh: return options.setting(\.retryPolicy, .never)
        }
    }

    package var sampleData: Data {
        Data(#"{"accessToken":"sample","refreshToken":"sample-refresh","expiresIn":900}"#.utf8)
    }
}
