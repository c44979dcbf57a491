// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitJSON
import TargetKitPlugins
import TargetKitResilience
import TargetKitTransfers
import TargetKitOffline
import TargetKitTesting
import TestSupport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The calls of the app.
enum AppTarget: TargetType, Codable, Hashable {
    case list, order
    case upload(URL)
    case film(URL)

    var baseURL: URL { .shop }

    var path: RequestPath {
        switch self {
        case .list: "/list"
        case .order: "/orders"
        case .upload: "/photo"
        case .film: "/film"
        }
    }

    var method: HTTPMethod {
        switch self {
        case .list, .film: .get
        case .order: .post
        case .upload: .put
        }
    }

    var task: HTTPTask {
        switch self {
        case .list: .plain
        case .order: .json(["tea": 3])
        case .upload(let file): .upload(file: file)
        case .film(let place): .download(to: place)
        }
    }

    var isTransfer: Bool {
        switch self {
        case .list, .order: false
        case .upload, .film: true
        }
    }

    var options: CallOptions {
        CallOptions().setting(\.cachePolicy, .staleOnFailure).setting(\.envelope, CodeMessageData())
            .setting(\.timeout, .exchange(.seconds(10)))
    }
}

/// One launch of an app with the usual plugins. Launches with one folder share what is on the disk.
final class ShopApp: Sendable {
    let server: AppServer
    let connectivity: ManualConnectivity
    let authentication: AuthenticationPlugin<AppAuthenticator>
    let provider: Provider<AppTarget>
    let outbox: OfflineOutbox<AppTarget>
    let queue: TransferQueue<AppTarget>
    let store: FileCredentialStore<AppToken>
    private let cache: ResponseCache
    let signOuts = Recorder<String>()
    /// When each call has ended.
    let ends = Recorder<ManualClock.Instant>()
    private let unauthorized: UnauthorizedPlugin

    init(_ folder: URL, _ server: AppServer, _ connectivity: ManualConnectivity, launch: Int) throws {
        let clock = server.clock
        let signOuts = signOuts
        let reachability = Reachability(connectivity)
        self.server = server
        self.connectivity = connectivity
        store = FileCredentialStore(folder.appendingPathComponent("credential"))
        authentication = AuthenticationPlugin(
            authenticator: AppAuthenticator(server: server),
            store: store,
            // Nobody moves it: the limit of a refresh would pass at once whenever the calls wait for something else.
            clock: ManualClock()
        ) { _ in }
        unauthorized = UnauthorizedPlugin(
            after: authentication,
            bodyCodes: [BodyCode(keyPath: "code", equals: 401)]
        ) { _ in
            signOuts.append("signed out")
        }
        let now = { @Sendable in
            Date(timeIntervalSince1970: 1_800_000_000 + clock.now.offset / .seconds(1))
        }
        cache = ResponseCache(storedIn: folder.appendingPathComponent("cache"), now: now)
        provider = Provider(
            transport: StubTransport { try await server.answer($0.urlRequest) },
            plugins: [
                authentication, unauthorized, ResponseCachePlugin(cache),
                RetryPlugin(clock: clock, generator: SeededGenerator(seed: 1), now: now),
                CircuitBreakerPlugin(clock: clock),
                WaitsForConnectivityPlugin(reachability, timeout: .seconds(5), clock: clock),
                LoadingPlugin(clock: clock) { _ in },
                NetworkLoggerPlugin(level: .basic, clock: clock, output: { _ in }),
                EndPlugin(server: server, ends: ends),
            ],
            clock: clock
        )
        outbox = try OfflineOutbox(
            provider,
            storedIn: folder.appendingPathComponent("outbox"),
            reachability: reachability,
            clock: clock,
            now: now
        )
        queue = try TransferQueue(
            provider,
            storedIn: folder.appendingPathComponent("queue-\(launch)"),
            reachability: reachability
        )
    }

    func signIn(_ user: String) async throws {
        try await authentication.signIn(server.signIn(user))
        unauthorized.reset()
    }

    /// Waits until the stored response is on the disk.
    func waitForWrites() async {
        while await cache.size.disk == 0 { await Task.yield() }
    }

    /// Signs out, and waits until the user's stored responses, of which there is at least one, are removed.
    func signOut() async throws {
        var events = cache.events.makeAsyncIterator()
        _ = try await authentication.signOut()
        while let event = await events.next() {
            if case .removed = event { return }
        }
    }
}

/// Notes when calls end. A task that waits for a call may see the end only after the clock has moved on.
private struct EndPlugin: Plugin {
    let server: AppServer
    let ends: Recorder<ManualClock.Instant>

    func didFinish(_ call: FinishedCall, context: RequestContext) {
        ends.append(server.clock.now)
        if (context.target as? AppTarget)?.isTransfer == true { server.attempts.append(call.result) }
    }
}

// MARK: - What the user sees

extension ShopApp {
    func list() async -> String {
        do throws(TargetKitError) {
            let response: Response = try await provider.request(.list)
            let value = (try? response.decode(String.self, atKeyPath: "data")) ?? "something else"
            switch response.origin {
            case .network: return value
            case .revalidated: return "\(value), revalidated"
            case .cache: return "\(value), cached"
            case .stale: return "\(value), stale"
            }
        } catch {
            return "\(error.kind)"
        }
    }

    func order() async -> String {
        do throws(TargetKitError) {
            switch try await outbox.send(.order) {
            case .sent: return "sent"
            case .kept: return "kept"
            }
        } catch {
            return "\(error.kind)"
        }
    }

    /// Adds a transfer to the queue, and waits until it has ended, or waits after an attempt or for the network.
    func transfer(_ target: AppTarget) async -> String {
        let updates = queue.updates
        guard let id = try? await queue.add(target) else { return "not added" }
        for await transfers in updates {
            guard let transfer = transfers.first(where: { $0.id == id }) else { continue }
            switch transfer.state {
            case .finished: return "finished"
            case .failed(let error): return "\(error.kind)"
            case .cancelled: return "cancelled"
            case .paused: return "paused"
            case .waiting where connectivity.isOffline || !server.log.isEmpty: return "waiting"
            case .waiting, .running: continue
            }
        }
        return "no end"
    }
}

extension ManualConnectivity {
    fileprivate var isOffline: Bool { Reachability(self).isOffline }
}

extension Reachability {
    fileprivate var isOffline: Bool {
        start()
        defer { stop() }
        return status == .offline
    }
}
