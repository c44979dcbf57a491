// SPDX-License-Identifier: MIT
import TargetKit
import TestSupport
import Testing

/// A WebSocket of a server.
struct Feed: TargetType {
    var baseURL = URL(string: "http://127.0.0.1") ?? URL(filePath: "/")
    var path: RequestPath = "/echo"
    var method = HTTPMethod.get
    var task = HTTPTask.plain
    var headers: HTTPHeaders = [:]
}

/// A server of WebSockets that the tests need.
enum Peer: CaseIterable {
    case websockets
    case aiohttp
    case nginx
    case nginxTLS

    static var running: [Peer] { allCases.filter(\.server.isRunning) }

    static let skipReason: Comment = "skipped: no WebSocket server is running; .ci/run starts them"

    var server: ServerAvailability {
        switch self {
        case .websockets: .websockets
        case .aiohttp: .aiohttp
        case .nginx: .nginx
        case .nginxTLS: .nginxTLS
        }
    }

    func feed(_ path: RequestPath = "/echo") -> Feed {
        switch self {
        case .websockets, .aiohttp: Feed(baseURL: server.baseURL, path: path)
        case .nginx, .nginxTLS: Feed(baseURL: server.baseURL.appending(path: "websocket"), path: path)
        }
    }

    /// A transport that trusts the certificate of nginx.
    func transport() throws -> any Transport {
        guard self == .nginxTLS else { return SystemTransport.shared }
        #if os(Linux)
        let path = try #require(ProcessInfo.processInfo.environment["TARGETKIT_NGINX_CA"])
        return CurlTransport(tls: TLSPolicy(trust: .authoritiesFile(URL(filePath: path))))
        #else
        return SystemTransport.shared
        #endif
    }

    func provider(plugins: [any Plugin] = [], scope: RequestScope = RequestScope()) throws -> Provider<Feed> {
        Provider(transport: try transport(), plugins: plugins, scope: scope)
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips, and says so, where the server is not running.
    static func needs(_ server: ServerAvailability) -> Self {
        .enabled(if: server.isRunning, Comment(rawValue: server.skipReason))
    }

    /// Skips, and says so, where no server is running.
    static var needsPeer: Self { .enabled(if: !Peer.running.isEmpty, Peer.skipReason) }
}
