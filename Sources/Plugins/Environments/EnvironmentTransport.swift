// SPDX-License-Identifier: MIT
import TargetKit

/// A transport that uses a separate transport for each environment, with its own trust policy and connections.
///
/// ```swift
/// let provider = Provider<Photos>(
///     transport: EnvironmentTransport(Servers.store),
///     plugins: [EnvironmentPlugin(Servers.store)]
/// )
/// ```
///
/// The scheme, host, port and path of the request's URL determine the environment. The current environment's transport
/// sends requests to other servers. A transport is created when it is first needed, and released when its environment
/// isn't current and its last call has ended. `CurlTransport` and `URLSessionTransport` then finish bodies that are
/// still being read, and close their connections.
///
/// For development servers with self-signed certificates, an environment can trust any certificate of any host. A
/// warning is written to standard error:
///
/// ```swift
/// EnvironmentTransport(Servers.store, trustingAnyCertificateIn: ["development"])
/// ```
public final class EnvironmentTransport: Transport {
    private struct Entry: Sendable {
        /// The environment's name.
        let name: String
        let transport: any Transport
        var calls = 0
    }

    private let store: EnvironmentStore
    private let make: @Sendable (ServerEnvironment) -> any Transport
    private let developmentTrust: DevelopmentTrust
    private let entries = Locked<[Entry]>([])
    private let switches: Task<Void, Never>

    /// Creates a transport for the environments of a store.
    ///
    /// - Parameters:
    ///   - store: The environments.
    ///   - names: **For development only.** The names of the environments that trust any certificate of any host, so
    ///     that everyone on the network can read and change their calls. Pinned keys still apply. The current
    ///     environment's transport, with its trust, also sends requests to other servers. Default: none. In a release
    ///     build of this package, it has no effect unless you also pass `alsoInReleaseBuilds`.
    ///   - alsoInReleaseBuilds: Whether these environments also trust any certificate in release builds; default:
    ///     `false`.
    ///   - make: Creates the transport of an environment with its ``ServerEnvironment/tls``; default: the system's
    ///     transport.
    public convenience init(
        _ store: EnvironmentStore,
        trustingAnyCertificateIn names: Set<String> = [],
        alsoInReleaseBuilds: Bool = false,
        make: (@Sendable (ServerEnvironment) -> any Transport)? = nil
    ) {
        let trust = DevelopmentTrust(names: names, isAllowed: DevelopmentTrust.isDebugBuild || alsoInReleaseBuilds)
        self.init(store, developmentTrust: trust, make: make)
    }

    init(
        _ store: EnvironmentStore,
        developmentTrust: DevelopmentTrust,
        make: (@Sendable (ServerEnvironment) -> any Transport)? = nil
    ) {
        self.store = store
        self.developmentTrust = developmentTrust
        self.make = make ?? Self.system
        // An environment that was current only briefly may have a transport.
        switches = store.onEachChange { [entries] current in
            // Released outside the lock.
            _ = entries.withLock { entries in
                // Read under the lock, so that the transport of a newly selected environment isn't released.
                let current = current().name
                let old = entries
                entries.removeAll { $0.name != current && $0.calls == 0 }
                return old
            }
        }
    }

    deinit {
        switches.cancel()
    }

    /// The names of the environments that currently have a transport.
    package var names: Set<String> { entries.withLock { Set($0.map(\.name)) } }

    /// The system's transport with the environment's policy.
    private static let system: @Sendable (ServerEnvironment) -> any Transport = { environment in
        #if os(Linux)
        return CurlTransport(tls: environment.tls)
        #else
        return URLSessionTransport(tls: environment.tls)
        #endif
    }

    /// Whether the transport of the current environment reports interim responses.
    public var reportsInterimResponses: Bool { current(\.reportsInterimResponses) }

    /// Whether the transport of the current environment streams responses.
    public var streamsResponses: Bool { current(\.streamsResponses) }

    /// Whether the transport of the current environment returns upgraded connections.
    public var upgradesConnections: Bool { current(\.upgradesConnections) }

    private func current(_ property: (any Transport) -> Bool) -> Bool {
        let environment = store.current
        let transport = begin(environment)
        defer { end(environment) }
        return property(transport)
    }

    /// Performs one exchange with the transport of the request's environment.
    ///
    /// - Throws: The transport's error.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        let environment = store.environment(of: request.urlRequest.url) ?? store.current
        let transport = begin(environment)
        defer { end(environment) }
        return try await transport.send(request)
    }

    private func begin(_ environment: ServerEnvironment) -> any Transport {
        if let transport = entries.withLock({ Self.join(&$0, name: environment.name, made: nil) }) { return transport }
        // Created outside the lock. If another call created one at the same time, this call uses that one.
        let made = make(developmentTrust.applied(to: environment))
        return entries.withLock { Self.join(&$0, name: environment.name, made: made) } ?? made
    }

    private static func join(
        _ entries: inout [Entry],
        name: String,
        made: (any Transport)?
    ) -> (any Transport)? {
        if let index = entries.firstIndex(where: { $0.name == name }) {
            entries[index].calls += 1
            return entries[index].transport
        }
        if let made { entries.append(Entry(name: name, transport: made, calls: 1)) }
        return made
    }

    private func end(_ environment: ServerEnvironment) {
        _ = entries.withLock { entries -> Entry? in
            guard let index = entries.firstIndex(where: { $0.name == environment.name }) else { return nil }
            entries[index].calls -= 1
            // Read under the lock, so that a later selection detects that the call has ended.
            guard entries[index].calls == 0, store.current.name != environment.name else { return nil }
            return entries.remove(at: index)
        }
    }
}
