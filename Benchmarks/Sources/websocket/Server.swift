// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitWebSocket

/// The server in C.
struct Server: Sendable {
    let port: Int

    func feed(_ path: String) -> Feed {
        Feed(baseURL: URL(string: "http://127.0.0.1:\(port)") ?? URL(filePath: "/"), path: RequestPath(raw: path))
    }

    /// Opens a WebSocket of TargetKit.
    func open(_ path: String, limits: WebSocketLimits = WebSocketLimits()) async throws -> WebSocket {
        let options = CallOptions.setting(\.webSocketCompression, false).setting(\.webSocketLimits, limits)
        return try await Provider<Feed>().webSocket(feed(path), options: options)
    }
}

/// A WebSocket of the server.
struct Feed: TargetType {
    var baseURL: URL
    var path: RequestPath
}

/// What was received is not what was sent.
struct WrongResult: Error {
    let what: String
}
