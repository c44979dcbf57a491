// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitOffline

enum Catalog: TargetType {
    case list

    var baseURL: URL { URL(filePath: "/") }
    var path: RequestPath { "/list" }
}

struct Account: Sendable {
    var current: String?
}

let folder = URL(filePath: "/")
let account = Account()

func show(_ list: Response, note: String?) {}
