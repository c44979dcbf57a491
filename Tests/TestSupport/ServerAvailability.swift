// SPDX-License-Identifier: MIT

import Foundation
import TargetKitTesting

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// A server that integration tests require, and whether it is running.
///
/// ```swift
/// @Suite(.enabled(if: ServerAvailability.httpbin.isRunning, Comment(rawValue: ServerAvailability.httpbin.skipReason)))
/// ```
public struct ServerAvailability: Sendable, Hashable {
    /// The name of the server in messages.
    public let name: String
    /// The environment variable with its URL.
    public let variable: String
    /// The URL of the server.
    public let baseURL: URL

    /// httpbin, at `TARGETKIT_HTTPBIN`.
    public static let httpbin = ServerAvailability("httpbin", variable: "TARGETKIT_HTTPBIN")

    /// nginx with the configuration of `.ci/nginx.conf.in`, at `TARGETKIT_NGINX`.
    public static let nginx = ServerAvailability("nginx", variable: "TARGETKIT_NGINX")

    /// The same nginx over TLS, at `TARGETKIT_NGINX_TLS`.
    public static let nginxTLS = ServerAvailability("nginx over TLS", variable: "TARGETKIT_NGINX_TLS")

    /// The OAuth server of `.ci/oauth_server.py`, at `TARGETKIT_OAUTH`.
    public static let oauth = ServerAvailability("the OAuth server", variable: "TARGETKIT_OAUTH")

    /// The tus server of `.ci/tus_server.py`, at `TARGETKIT_TUS`.
    public static let tus = ServerAvailability("the tus server", variable: "TARGETKIT_TUS")

    /// The server of `.ci/websocket_server.py` with websockets, at `TARGETKIT_WEBSOCKETS`.
    public static let websockets = ServerAvailability("the WebSocket server", variable: "TARGETKIT_WEBSOCKETS")

    /// The server of `.ci/websocket_server.py` with aiohttp, at `TARGETKIT_AIOHTTP`.
    public static let aiohttp = ServerAvailability("the aiohttp server", variable: "TARGETKIT_AIOHTTP")

    /// The proxy of `.ci/websocket_server.py`, at `TARGETKIT_TUNNELS`.
    public static let tunnels = ServerAvailability("the proxy", variable: "TARGETKIT_TUNNELS")

    /// There is no default URL, because another program can listen on the usual port.
    private init(_ name: String, variable: String) {
        let text = ProcessInfo.processInfo.environment[variable] ?? ""
        self.init(name, variable: variable, baseURL: URL(string: text) ?? URL(fileURLWithPath: "/"))
    }

    /// Creates a server with a URL.
    public init(_ name: String, variable: String, baseURL: URL) {
        self.name = name
        self.variable = variable
        self.baseURL = baseURL
    }

    /// Whether the server accepts a connection. A server on another machine counts as not running.
    public var isRunning: Bool {
        guard let address, let port = UInt16(exactly: baseURL.port ?? 80),
            let descriptor = try? Socket.connected(to: address, port: port)
        else { return false }
        close(descriptor)
        return true
    }

    /// The message of a skipped test.
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
