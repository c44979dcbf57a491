// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitOffline

nonisolated enum Catalog: TargetType {
    case list

    var baseURL: URL { URL(filePath: "/") }
    var path: RequestPath { "/list" }
}

nonisolated struct Account: Sendable {
    var current: String?
}

nonisolated let folder = URL(filePath: "/")
nonisolated let account = Account()

nonisolated func show(_ list: Response, note: String?) {}
