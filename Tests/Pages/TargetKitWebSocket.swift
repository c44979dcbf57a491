// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitWebSocket

enum Market: TargetType {
    case quotes

    var baseURL: URL { URL(filePath: "/") }
    var path: RequestPath { "/quotes" }
}

let provider = Provider<Market>()

func show(_ message: WebSocketMessage) {}
