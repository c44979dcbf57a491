// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins

/// What signing in takes.
package struct Credentials: RequestModel {
    package let user: String
    package let password: String

    package init(user: String, password: String) {
        (self.user, self.password) = (user, password)
    }
}

/// What signing in and refreshing return.
package struct SignedIn: ResponseModel {
    package let accessToken: String
    package let refreshToken: String
    /// Seconds.
    package let expiresIn: Int

    /// - Parameter now: When the response arrived.
    package func tokens(now: Date = Date()) -> ShopTokens {
        ShopTokens(
            accessToken: accessToken,
            refreshToken: refreshToken,
            expiresAt: now.addingTimeInterval(TimeInterval(expiresIn))
        )
    }
}

/// The credential of a session.
package struct ShopTokens: ResponseModel, RequestModel, Equatable {
    package let accessToken: String
    package let refreshToken: String
    package let expiresAt: Date

    package init(accessToken: String, refreshToken: String, expiresAt: Date) {
        (self.accessToken, self.refreshToken, self.expiresAt) = (accessToken, refreshToken, expiresAt)
    }
}
