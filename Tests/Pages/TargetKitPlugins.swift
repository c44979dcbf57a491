// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

enum Account: Sendable {
    case signIn
    case refresh

    var baseURL: URL { URL(filePath: "/") }
    var path: RequestPath { "/account" }
}
