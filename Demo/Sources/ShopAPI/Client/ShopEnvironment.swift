// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins

/// The systems that a shop's server runs.
package enum ShopEnvironment: String, CaseIterable, Sendable {
    case production
    /// Has products that are not released, and is for testers only.
    case staging

    /// The environments of a server, of which this one is the current one.
    ///
    /// - Parameter server: The address of the server; default: the shop's public address.
    package func store(at server: URL = ShopServers.production) -> EnvironmentStore {
        let others = Self.allCases.filter { $0 != self }
        return EnvironmentStore(
            default: environment(at: server),
            others: others.map { $0.environment(at: server) },
            isSelectedAtLaunch: false
        )
    }

    private func environment(at server: URL) -> ServerEnvironment {
        switch self {
        case .production: ServerEnvironment(rawValue, baseURL: server.absoluteString)
        case .staging:
            ServerEnvironment(
                rawValue,
                baseURL: server.appending(path: "staging").absoluteString,
                headers: ["X-Tester": "yes"]
            )
        }
    }
}

extension Endpoint {
    /// The endpoint of a target on another server: the base URL takes the place of the target's, which has no path.
    package init(_ target: some TargetType, at baseURL: URL) throws {
        try self.init(target: target)
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return }
        let prefix = baseURL.path(percentEncoded: true)
        parts.scheme = baseURL.scheme
        parts.host = baseURL.host()
        parts.port = baseURL.port
        parts.percentEncodedPath =
            (prefix.hasSuffix("/") ? String(prefix.dropLast()) : prefix) + parts.percentEncodedPath
        url = parts.url ?? url
    }
}
