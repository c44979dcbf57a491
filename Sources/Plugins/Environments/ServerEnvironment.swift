// SPDX-License-Identifier: MIT
import TargetKit

/// A set of servers that an app uses together, for example for production or for testing.
///
/// ```swift
/// extension ServerEnvironment {
///     static let production = Self(
///         "production",
///         baseURL: "https://api.shop.example/v1",
///         modules: ["media": "https://media.shop.example"]
///     )
///     static let test = Self(
///         "test",
///         baseURL: "https://api.test.shop.example/v1",
///         headers: ["X-Tester": "yes"],
///         tls: TLSPolicy(trust: .authoritiesFile(testAuthority))
///     )
/// }
/// ```
public struct ServerEnvironment: Sendable, Hashable {
    /// The case-sensitive name, for the app's settings, the launch argument, and the saved selection.
    public var name: String
    /// The URL of the modules without a separate URL.
    public var baseURL: URL
    /// The URLs of the parts of the API on separate servers, by name.
    public var modules: [String: URL]
    /// The header fields that an ``EnvironmentPlugin`` adds to each request to these servers; default: none.
    public var headers: HTTPHeaders
    /// The trust policy of an ``EnvironmentTransport`` for these servers; default: the system's.
    public var tls: TLSPolicy

    /// Creates an environment.
    ///
    /// A string that isn't a URL becomes a URL with the scheme `invalid`. Calls to it fail with
    /// `InvalidRequest.unsupportedURL(_:)`, which contains the string.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - baseURL: The URL of the modules without a separate URL.
    ///   - modules: The URLs of the other modules; default: none.
    ///   - headers: The header fields only for these servers; default: none.
    ///   - tls: The trust policy for these servers; default: the system's.
    public init(
        _ name: String,
        baseURL: String,
        modules: [String: String] = [:],
        headers: HTTPHeaders = [:],
        tls: TLSPolicy = .system
    ) {
        self.name = name
        self.baseURL = URL(ofServer: baseURL)
        self.modules = modules.mapValues { URL(ofServer: $0) }
        self.headers = headers
        self.tls = tls
    }

    /// The URL of a module, or else ``baseURL``.
    public func url(of module: String?) -> URL {
        module.flatMap { modules[$0] } ?? baseURL
    }

    /// A copy of the environment with another name, over HTTP without TLS. An explicit port isn't changed.
    ///
    /// ```swift
    /// let plain = ServerEnvironment.test.overHTTP(as: "test-http")
    /// ```
    public func overHTTP(as name: String) -> ServerEnvironment {
        var environment = self
        environment.name = name
        environment.baseURL = baseURL.overHTTP
        environment.modules = modules.mapValues(\.overHTTP)
        return environment
    }
}

extension URL {
    /// The URL of a string, or a URL that can't be called and contains the string.
    init(ofServer text: String) {
        self = URL(escaped: text) ?? URL(uncallable: "invalid", text: text)
    }

    /// Creates a URL with a scheme that can't be called, so that calls fail with an error that contains the text.
    init(uncallable scheme: String, text: String) {
        let escaped = text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        self = URL(string: "\(scheme):\(escaped)") ?? URL(filePath: "/")
    }

    fileprivate var overHTTP: URL {
        guard scheme?.lowercased() == "https", var parts = URLComponents(url: self, resolvingAgainstBaseURL: true)
        else {
            return self
        }
        parts.scheme = "http"
        return parts.url ?? self
    }
}

extension ServerEnvironment: RedactedDescription {
    /// The name and the base URL, without header fields, user, password and query.
    package var redactedDescription: String { "\(name): \(RedactedURL(baseURL))" }
}
