// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TargetKitDiagnostics
import TargetKitResilience

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The plugins that are measured.
public enum PluginSet {
    /// A token, a user's password where there is no token, and the activity indicator: with a logger, the four of Moya.
    public static var withoutLogger: [any Plugin] {
        [AccessTokenPlugin { _ in "token" }, CredentialsPlugin { _ in nil }, NetworkActivityPlugin { _, _ in }]
    }

    /// The same with a logger that writes a line for each request and response to nowhere.
    public static var withLogger: [any Plugin] {
        withoutLogger + [NetworkLoggerPlugin(level: .basic) { _ in }]
    }

    /// A plugin that is measured alone.
    public struct Single: Sendable {
        /// The name of its type.
        public let name: String
        /// The plugin.
        public let plugin: any Plugin
        /// Whether it formats, hashes or changes the request, which takes more than a microsecond by hand too.
        public let doesMore: Bool
    }

    /// Each plugin as most apps create it. On Linux a changed header field takes a microsecond.
    public static var each: [Single] {
        let online = Reachability()
        online.set(.online(.wifi, isExpensive: false))
        let environment = ServerEnvironment("production", baseURL: "https://api.example.com")
        let plugins: [(any Plugin, Bool)] = [
            (AccessTokenPlugin { _ in "token" }, true),
            (AuthenticationPlugin(authenticator: TokenAuthenticator()) { _ in }, false),
            (CredentialsPlugin { _ in nil }, false),
            (UnauthorizedPlugin { _ in }, false),
            (DefaultHeadersPlugin(), true),
            (ServerClockPlugin(), true),
            (RequestSigningPlugin(fields: ["X-Signature"]) { _, _ in ["X-Signature": "0"] }, true),
            (RetryPlugin(), false),
            (HostFailoverPlugin(hosts: []), false),
            (CircuitBreakerPlugin(), false),
            (HedgingPlugin(), false),
            (CookiePlugin(), false),
            (EnvironmentPlugin(EnvironmentStore(default: environment, isSelectedAtLaunch: false)), false),
            (ErrorHandlingPlugin { _, _ in .doNotRetry }, false),
            (WaitsForConnectivityPlugin(online), false),
            (ConcurrencyLimitPlugin(100), false),
            (RateLimitPlugin(1_000_000), false),
            (NetworkActivityPlugin { _, _ in }, false),
            (LoadingPlugin { _ in }, false),
            (MetricsPlugin(), true),
            (NetworkLoggerPlugin(level: .basic) { _ in }, true),
            (EventLogPlugin { _ in }, true),
            (TraceContextPlugin(), true),
            (ErrorPresentationPlugin { _, _ in }, false),
        ]
        let signedIn = AuthenticationPlugin(authenticator: TokenAuthenticator(), store: TokenStore()) { _ in }
        return plugins.map { plugin, doesMore in
            let name = "\(type(of: plugin))".prefix { $0 != "<" }
            return Single(name: String(name), plugin: plugin, doesMore: doesMore)
        } + [Single(name: "AuthenticationPlugin, signed in", plugin: signedIn, doesMore: true)]
    }

    /// Always has a token.
    private struct TokenStore: CredentialStore {
        func load() async throws -> String? { "token" }
        func save(_ credential: String) async throws {}
        func clear() async throws {}
    }

    /// Sends a token that never expires.
    private struct TokenAuthenticator: Authenticator {
        func apply(_ credential: String, to request: inout URLRequest) throws {
            request.setValue("Bearer \(credential)", forHTTPHeaderField: "Authorization")
        }

        func refresh(_ credential: String) async throws -> String { credential }
    }
}
