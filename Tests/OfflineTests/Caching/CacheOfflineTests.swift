// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitResilience
import TargetKitOffline
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Stored responses for a device without a network, and for servers that can't be reached.
@Suite("Cache: offline", .throttled, .timeLimit(.minutes(2)))
struct CacheOfflineTests {
    /// What lets a call use a stored response if the server can't be reached.
    enum Permission: CaseIterable, Sendable {
        case policy, staleIfError, none
    }

    @Test(
        "A call with a usable response isn't delayed while the device is known to be offline",
        arguments: Permission.allCases,
        [Reachability.Status.offline, .unknown]
    )
    func knownOffline(_ permission: Permission, status: Reachability.Status) async throws {
        let (connectivity, clock) = (ManualConnectivity(.unknown), ManualClock())
        let world = CacheWorld(plugins: [WaitsForConnectivityPlugin(Reachability(connectivity), clock: clock)]) { _ in
            .cacheable("first", permission == .staleIfError ? ["Cache-Control": "max-age=60, stale-if-error=600"] : [:])
        }
        let target = CachedTarget().with(permission == .policy ? .staleOnFailure : .useProtocol)
        _ = try await world.provider.request(target)
        world.pass(70)
        world.answer { _ in .error(.notConnectedToInternet) }
        connectivity.set(status)
        let provider = world.provider
        let (result, sleeps) = await clock.stepping { await provider.result(target) }
        #expect((result.failure == nil) == (permission != .none))
        let waits = permission == .none && status == .offline
        #expect(sleeps == (waits ? [.seconds(60)] : []))
        // The plugin retries a failure without a network once.
        #expect(world.requests.count == (status == .offline ? 1 : permission == .staleIfError ? 2 : 3))
    }

    @Test("Without a stored response, a call waits for the network as before")
    func notStored() async throws {
        let (connectivity, clock) = (ManualConnectivity(.offline), ManualClock())
        let world = CacheWorld(plugins: [WaitsForConnectivityPlugin(Reachability(connectivity), clock: clock)])
        let provider = world.provider
        let (result, sleeps) = await clock.stepping { await provider.result(CachedTarget().with(.staleOnFailure)) }
        #expect(result.failure?.kind == .offline)
        #expect(sleeps == [.seconds(60)])
    }

    private static func failover(_ hosts: HostSet, _ cache: ResponseCache) -> Provider<CachedTarget> {
        Provider(
            transport: hosts.script.transport,
            plugins: [
                ResponseCachePlugin(cache), HostFailoverPlugin(hosts: HostSet.urls("ab"), clock: ManualClock()),
            ]
        )
    }

    @Test("A change on the reserve host invalidates what the main host has sent")
    func changeOnReserve() async throws {
        let hosts = HostSet()
        hosts.set(.cacheable("old"), "a")
        let cache = ResponseCache()
        let provider = Self.failover(hosts, cache)
        _ = try await provider.request(CachedTarget())
        hosts.set(.error(.cannotConnectToHost), "a")
        _ = try await provider.request(CachedTarget(.post).validated())
        #expect(hosts.visits.hasSuffix("b"))
        // After the fail-back, which a new plugin stands for.
        hosts.set(.cacheable("new"), "a")
        #expect(try await Self.failover(hosts, cache).request(CachedTarget()).body == "new")
    }

    @Test("A stored response is used while all hosts are down, whichever of them has sent it", arguments: ["a", "b"])
    func allHostsDown(_ sender: String) async throws {
        let hosts = HostSet()
        hosts.set(.error(.cannotConnectToHost), "a", "b")
        hosts.set(.cacheable("old", ["Cache-Control": "no-cache"]), sender)
        let provider = Self.failover(hosts, ResponseCache())
        _ = try await provider.request(CachedTarget().with(.staleOnFailure))
        hosts.set(.error(.cannotConnectToHost), "a", "b")
        #expect(try await provider.request(CachedTarget().with(.staleOnFailure)).body == "old")
    }

    @Test("A stored response is used if the server redirects to one that can't be reached", arguments: [302, 307, 308])
    func deadHop(status: Int) async throws {
        let world = CacheWorld { _ in .cacheable("old", ["Cache-Control": "no-cache"]) }
        let target = CachedTarget().validated().with(.staleOnFailure)
        _ = try await world.provider.request(target)
        world.answer { request in
            guard request.url?.host() == "shop.example" else { throw URLError(.cannotConnectToHost) }
            return .status(status, ["Location": "https://dead.example/list", "Cache-Control": "no-store"])
        }
        #expect(try await world.provider.request(target).body == "old")
        world.answer { request in
            guard request.url?.host() == "shop.example" else { return .status(404) }
            return .status(status, ["Location": "https://dead.example/list", "Cache-Control": "no-store"])
        }
        #expect(await world.provider.result(target).failure != nil)
    }
}
