// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitOffline

nonisolated enum Account: TargetType {
    case profile
    case rename(String)

    var baseURL: URL { URL(filePath: "/") }
    var path: RequestPath { "/profile" }
}

nonisolated let provider = Provider<Account>(transport: StubTransport(.response(status: 200, data: Data())))
let model = Model(provider)

nonisolated func show(_ text: String) {}
