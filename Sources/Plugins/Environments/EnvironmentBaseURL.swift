// SPDX-License-Identifier: MIT
import Foundation

/// Where a base URL of an environment leads to, in parts that can be compared.
struct EnvironmentBaseURL: Sendable, Hashable {
    /// The environment's place in the store's list.
    private(set) var index = 0
    private let origin: ServerOrigin
    /// Without the slash at the end.
    private let path: String

    /// `nil` for a URL that cannot be called.
    init?(_ url: URL) {
        guard let origin = ServerOrigin(url) else { return nil }
        self.origin = origin
        let path = url.path(percentEncoded: true)
        self.path = path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// The places of all base URLs of an environment.
    static func all(of environment: ServerEnvironment, index: Int) -> [EnvironmentBaseURL] {
        ([environment.baseURL] + environment.modules.values).compactMap { url in
            var place = EnvironmentBaseURL(url)
            place?.index = index
            return place
        }
    }

    /// How well a request's place fits this base URL's: the length of the path that they share, all of it or none; `nil` when
    /// it is another server.
    func score(of request: EnvironmentBaseURL) -> Int? {
        guard request.origin == origin else { return nil }
        let isBelow = request.path == path || request.path.hasPrefix(path + "/")
        return isBelow ? path.utf8.count : 0
    }
}
