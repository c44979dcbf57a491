// SPDX-License-Identifier: MIT
import Foundation

/// A base URL of an environment in parts that can be compared.
struct EnvironmentBaseURL: Sendable, Hashable {
    /// The index of the environment in the store.
    private(set) var index = 0
    private let origin: ServerOrigin
    /// Without the slash at the end.
    private let path: String

    /// `nil` for a URL that can't be called.
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

    /// How well a request's URL matches this base URL: the length of this path if the request's is below it, else 0;
    /// `nil` for another server.
    func score(of request: EnvironmentBaseURL) -> Int? {
        guard request.origin == origin else { return nil }
        let isBelow = request.path == path || request.path.hasPrefix(path + "/")
        return isBelow ? path.utf8.count : 0
    }
}
