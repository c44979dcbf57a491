// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

extension ServerEnvironment {
    nonisolated static let production = Self(
        "production",
        baseURL: "https://api.shop.example/v1",
        modules: ["media": "https://media.shop.example"]
    )
    nonisolated static let test = Self(
        "test",
        baseURL: "https://api.test.shop.example/v1",
        modules: ["media": "https://media.test.shop.example"],
        headers: ["X-Tester": "yes"],
        tls: TLSPolicy(trust: .insecureTrustAll(for: ["*.test.shop.example"]))
    )
}

@Suite("The page on environments", .throttled, .timeLimit(.minutes(3)))
struct EnvironmentsPageTests {
    /// The store of an app. The tests do not select in it, since a selection is saved.
    enum App {
        enum Servers {
            nonisolated static let store = EnvironmentStore(
                default: .production,
                others: [
                    .production.overHTTP(as: "production-http"),
                    .test,
                    .test.overHTTP(as: "test-http"),
                ]
            )
        }
    }

    /// Each test has a store of its own.
    enum Servers {
        @TaskLocal static var store = EnvironmentStore(default: .production, storage: MemoryEnvironmentStorage())
    }

    enum Photos: EnvironmentTarget {
        case photo(id: Int)

        static var environments: EnvironmentStore { Servers.store }
        var module: String? { "media" }

        var path: RequestPath {
            switch self {
            case .photo(let id): "/photos/\(id)"
            }
        }
    }

    /// A provider with stubbed transports, and the requests that they get.
    private func stubbed() -> (Provider<Photos>, Recorder<String>) {
        let sent = Recorder<String>()
        let transport = EnvironmentTransport(Servers.store) { environment in
            StubTransport { request in
                sent.append("\(environment.name) \(request.urlRequest.url?.absoluteString ?? "")")
                return .response(status: 200, data: Data())
            }
        }
        return (Provider<Photos>(transport: transport, plugins: [EnvironmentPlugin(Servers.store)]), sent)
    }

    private func store(_ launch: EnvironmentStore.Launch) -> EnvironmentStore {
        EnvironmentStore(
            default: .production,
            others: Array(App.Servers.store.environments.dropFirst()),
            storage: MemoryEnvironmentStorage(),
            launch: launch
        )
    }

    private func withStore(
        _ launch: EnvironmentStore.Launch = .ignored,
        _ body: () async throws -> Void
    ) async throws {
        let store = store(launch)
        try await Servers.$store.withValue(store) { try await body() }
    }

    @Test("The store of an app")
    func app() {
        #expect(App.Servers.store.environments.map(\.name) == [.production, "production-http", .test, "test-http"])
    }

    @Test("A provider of an app")
    func provider() {
        let provider = Provider<Photos>(
            transport: EnvironmentTransport(Servers.store),
            plugins: [EnvironmentPlugin(Servers.store)]
        )
        #expect(provider.scope.inFlightCount == 0)
    }

    @Test("An environment that trusts any certificate")
    func developmentTrust() {
        let transport = EnvironmentTransport(Servers.store, trustingAnyCertificateIn: ["test"])
        #expect(transport.names.isEmpty)
    }

    @Test("Calls follow the store")
    func calls() async throws {
        try await withStore {
            let (provider, sent) = stubbed()
            _ = try await provider.request(.photo(id: 7))
            try Servers.store.select("test-http")
            _ = try await provider.request(.photo(id: 7))
            #expect(
                sent.elements == [
                    "production https://media.shop.example/photos/7",
                    "test-http http://media.test.shop.example/photos/7",
                ]
            )
        }
    }

    @Test("A screen of settings shows and selects")
    func settings() async throws {
        try await withStore {
            let names = Recorder<String>()
            let watching = Task {
                for await environment in Servers.store.updates {
                    names.append(environment.name)
                }
            }
            await names.waitForCount(1)
            let provider = stubbed().0
            func switchTo(_ name: String) throws {
                provider.scope.cancelAll()
                try Servers.store.select(name)
            }
            try switchTo(.test)
            #expect(await names.waitForCount(2) == ["production", "test"])
            watching.cancel()
        }
    }

    @Test("A launch that names an unknown environment")
    func problem() async throws {
        let launch = EnvironmentStore.Launch(arguments: ["app", "-TargetKitEnvironment", "tset"])
        try await withStore(launch) {
            #expect(Servers.store.problem != nil)
            let error = await stubbed().0.result(.photo(id: 7)).failure
            #expect(error?.underlying as? EnvironmentError == Servers.store.problem as? EnvironmentError)
        }
    }
}
