// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitWebSocket

nonisolated enum Market: TargetType {
    case quotes

    var baseURL: URL { URL(filePath: "/") }
    var path: RequestPath { "/quotes" }
}

nonisolated let provider = Provider<Market>()

nonisolated func show(_ message: WebSocketMessage) {}
