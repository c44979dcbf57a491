// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// The servers that an app talks to, all of one kind: those of production, or those of the test system.
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
    /// What an environment is called: in the app's settings, as a launch argument, where the choice is stored.
    public struct Name: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The name as it is written and stored; upper and lower case differ.
        public let rawValue: String

        /// That name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// That name.
        public init(stringLiteral value: String) {
            rawValue = value
        }

        /// The name as it is written.
        public var description: String { rawValue }
    }

    /// A part of the API that may live on a server of its own.
    public struct Module: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The module's name.
        public let rawValue: String

        /// The module of that name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The module of that name.
        public init(stringLiteral value: String) {
            rawValue = value
        }

        /// The module's name.
        public var description: String { rawValue }

        /// What has no server of its own: ``ServerEnvironment/baseURL``.
        public static let main = Self(rawValue: "main")
    }

    /// The version of http in a base URL.
    public enum Scheme: String, Sendable, Hashable, CaseIterable {
        /// Over TLS.
        case https
        /// In the clear.
        case http
    }

    /// What it is called.
    public var name: Name
    /// Where every module lives that has no URL of its own.
    public var baseURL: URL
    /// Where the other modules live.
    public var modules: [Module: URL]
    /// Header fields that an ``EnvironmentPlugin`` puts into each request to these servers; default: none.
    public var headers: HTTPHeaders
    /// Whom an ``EnvironmentTransport`` trusts at these servers; default: whom the system trusts.
    public var tls: TLSPolicy

    /// An environment.
    ///
    /// A text that is no URL is kept as a URL of the scheme `invalid`: each call to it fails with
    /// `InvalidRequest.unsupportedURL(_:)`, which shows the text.
    ///
    /// - Parameters:
    ///   - name: What it is called.
    ///   - baseURL: Where every module lives that has no URL of its own.
    ///   - modules: Where the other modules live; default: there are none.
    ///   - headers: Header fields for these servers alone; default: none.
    ///   - tls: Whom to trust at these servers; default: whom the system trusts.
    public init(
        _ name: Name,
        baseURL: String,
        modules: [Module: String] = [:],
        headers: HTTPHeaders = [:],
        tls: TLSPolicy = .system
    ) {
        self.name = name
        self.baseURL = URL(ofServer: baseURL)
        self.modules = modules.mapValues { URL(ofServer: $0) }
        self.headers = headers
        self.tls = tls
    }

    /// Where a module lives: at its own URL, or else at ``baseURL``.
    public func url(of module: Module) -> URL {
        modules[module] ?? baseURL
    }

    /// The same environment over another scheme, under a name of its own. A port that a URL names stays as it is.
    ///
    /// ```swift
    /// let plain = ServerEnvironment.test.over(.http, as: "test-http")
    /// ```
    public func over(_ scheme: Scheme, as name: Name) -> ServerEnvironment {
        var environment = self
        environment.name = name
        environment.baseURL = baseURL.over(scheme)
        environment.modules = modules.mapValues { $0.over(scheme) }
        return environment
    }
}

extension URL {
    /// The URL that a text is, or one that cannot be called and shows the text.
    init(ofServer text: String) {
        self = URL(escaped: text) ?? URL(uncallable: "invalid", text)
    }

    /// A URL of a scheme that no call can be made to, so that it fails where it is used, and says what is wrong.
    init(uncallable scheme: String, _ text: String) {
        let escaped = text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        self = URL(string: "\(scheme):\(escaped)") ?? URL(filePath: "/")
    }

    fileprivate func over(_ scheme: ServerEnvironment.Scheme) -> URL {
        guard self.scheme == "http" || self.scheme == "https",
            var parts = URLComponents(url: self, resolvingAgainstBaseURL: true)
        else { return self }
        parts.scheme = scheme.rawValue
        return parts.url ?? self
    }
}

extension ServerEnvironment: RedactedDescription {
    /// The name and the base URL; header fields, user, password and query are left out.
    var redactedDescription: String { "\(name): \(RedactedURL(baseURL))" }
}
