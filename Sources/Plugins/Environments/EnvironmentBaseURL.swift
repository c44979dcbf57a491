// SPDX-License-Identifier: MIT
import Foundation

/// The comparable parts of an environment's base URL.
struct EnvironmentBaseURL: Sendable, Hashable {
    /// The index of the environment in the store.
    private(set) var index = 0
    private let origin: ServerOrigin
    /// The path without a trailing slash.
    private let path: String

    /// Returns `nil` for a URL that can't be called.
    init?(_ url: URL) {
        guard let origin = ServerOrigin(url) else { return nil }
        self.origin = origin
        let path = url.path(percentEncoded: true)
        self.path = path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// All base URLs of an environment.
    static func all(of environment: ServerEnvironment, index: Int) -> [EnvironmentBaseURL] {
        ([environment.baseURL] + environment.modules.values).compactMap { url in
            var baseURL = EnvironmentBaseURL(url)
            baseURL?.index = index
            return baseURL
        }
    }

    /// The quality of the match of a request's URL: the length of this path if it contains the request's path, or else
    /// 0; `nil` for another server.
    func score(of request: EnvironmentBaseURL) -> Int? {
        guard request.origin == origin else { return nil }
        let isBelow = request.path == path || request.path.hasPrefix(path + "/")
        return isBelow ? path.utf8.count : 0
    }
}
