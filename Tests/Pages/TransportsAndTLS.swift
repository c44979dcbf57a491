// SPDX-License-Identifier: MIT
import TargetKit

nonisolated enum Orders: RoutedTarget {
    case latest

    var baseURL: URL { URL(filePath: "/") }
    var route: Route { .get("/orders") }
}

typealias Account = Orders

nonisolated let password = "secret"

/// The app's own HTTP client.
nonisolated struct Engine: Sendable {
    struct Exchange: Sendable {
        func response() async throws -> TransportResponse {
            TransportResponse(head: ResponseHead(statusCode: 204), body: .data(Data()))
        }

        func cancel() {}
    }

    func exchange(for request: TransportRequest) -> Exchange { Exchange() }
}
