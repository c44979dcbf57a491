// SPDX-License-Identifier: MIT

import Foundation
import TargetKitTesting

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A real server that integration tests need, and whether it is running now.
///
/// ```swift
/// @Suite(.enabled(if: ServerAvailability.httpbin.isRunning, Comment(rawValue: ServerAvailability.httpbin.skipReason)))
/// ```
public struct ServerAvailability: Sendable, Hashable {
    /// What the server is called in messages.
    public let name: String
    /// The environment variable that says where it is.
    public let variable: String
    /// Where it is expected.
    public let baseURL: URL

    /// httpbin, at `TARGETKIT_HTTPBIN`.
    public static let httpbin = ServerAvailability("httpbin", variable: "TARGETKIT_HTTPBIN")

    /// nginx with the configuration of `.ci/nginx.conf.in`, at `TARGETKIT_NGINX`.
    public static let nginx = ServerAvailability("nginx", variable: "TARGETKIT_NGINX")

    /// The same nginx over TLS, at `TARGETKIT_NGINX_TLS`.
    public static let nginxTLS = ServerAvailability("nginx over TLS", variable: "TARGETKIT_NGINX_TLS")

    /// The OAuth server of `.ci/oauth_server.py`, at `TARGETKIT_OAUTH`.
    public static let oauth = ServerAvailability("the OAuth server", variable: "TARGETKIT_OAUTH")

    /// A port is no name: what listens at a usual one may be somebody else's. So the variable has to say it.
    private init(_ name: String, variable: String) {
        let text = ProcessInfo.processInfo.environment[variable] ?? ""
        self.init(name, variable: variable, baseURL: URL(string: text) ?? URL(fileURLWithPath: "/"))
    }

    /// A server at that place.
    public init(_ name: String, variable: String, baseURL: URL) {
        self.name = name
        self.variable = variable
        self.baseURL = baseURL
    }

    /// Whether something accepts a connection there now. Places other than this machine count as not running.
    public var isRunning: Bool {
        guard let address, let port = UInt16(exactly: baseURL.port ?? 80),
            let descriptor = try? Socket.connected(to: address, port: port)
        else { return false }
        close(descriptor)
        return true
    }

    /// What a skipped test says.
    public var skipReason: String {
        baseURL.isFileURL
            ? "skipped: \(variable) does not say where \(name) is running; .ci/run starts it"
            : "skipped: \(name) is not running at \(baseURL.absoluteString), where \(variable) says it is"
    }

    private var address: TestServer.Address? {
        switch baseURL.host {
        case "127.0.0.1", "localhost": .ipv4
        case "::1", "[::1]": .ipv6
        default: nil
        }
    }
}
