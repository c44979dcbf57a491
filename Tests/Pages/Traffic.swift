// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitDiagnostics

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

nonisolated enum Tea: TargetType {
    case latest

    var baseURL: URL { URL(filePath: "/") }
    var path: RequestPath { "/teas/latest" }
}

nonisolated struct Connections: Sendable {
    func send(_ event: Data) {}
    func serve(_ html: String) {}
}

nonisolated let transport = StubTransport(.response(status: 200, data: Data()))
nonisolated let connections = Connections()
nonisolated let folder = URL(filePath: "/tmp")
nonisolated let eventsURL = URL(filePath: "/events")

nonisolated func log(_ line: String) {}

/// The public method of Pulse 5 that the page calls.
nonisolated final class LoggerStore: Sendable {
    static let shared = LoggerStore()

    func storeRequest(
        _ request: URLRequest,
        response: URLResponse?,
        error: (any Error)?,
        data: Data?,
        metrics: URLSessionTaskMetrics? = nil,
        label: String? = nil
    ) {}
}
