// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitOffline
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Page: caching", .throttled, .timeLimit(.minutes(2)))
struct CachingPageTests {
    enum Catalog: TargetType {
        case list

        var baseURL: URL { .shop }
        var path: RequestPath { "/list" }
        var validation: StatusValidation { .successCodes }
    }

    struct CatalogPolicy: Plugin {
        func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
            var request = request
            if context.target is Catalog { request.cachePolicy = .returnCacheDataElseLoad }
            return request
        }
    }

    private struct Account: Sendable {
        var current: String?
    }

    @Test("A cache in a folder")
    func folder() async throws {
        let temporary = try TemporaryFolder()
        let folder = temporary.url
        let cache = ResponseCache(storedIn: folder.appending(path: "responses"), diskLimit: 64 << 20)
        let provider = Provider<Catalog>(plugins: [ResponseCachePlugin(cache), RetryPlugin()])
        let options = CallOptions.setting(\.cachePolicy, .onlyCached)
        _ = await #expect(throws: TargetKitError.self) { try await provider.request(.list, options: options) }
        #expect(await cache.size == (0, 0))
    }

    @Test("A list without a network, and a policy in a plugin")
    func offline() async throws {
        let notes = Recorder<String?>()
        func show(_ list: Response, note: String?) { notes.append(note) }
        let transport = ScriptedTransport(
            .response(status: 200, data: Data("[]".utf8)),
            .error(.notConnectedToInternet)
        )
        let cache = ResponseCache()
        let provider = Provider<Catalog>(transport: transport.transport, plugins: [ResponseCachePlugin(cache)])
        for _ in 0..<2 {
            let list = try await provider.request(.list, options: .setting(\.cachePolicy, .staleOnFailure))
            switch list.origin {
            case .network, .revalidated: show(list, note: nil)
            case .cache(let age), .stale(let age): show(list, note: "\(age.components.seconds / 60) minutes old")
            }
        }
        #expect(notes.elements == [nil, "0 minutes old"])
        let other = Provider<Catalog>(
            transport: transport.transport,
            plugins: [ResponseCachePlugin(cache), CatalogPolicy()]
        )
        #expect(try await other.request(.list).data == Data("[]".utf8))
        #expect(transport.requests.count == 2)
    }

    @Test("Users, and events")
    func users() async throws {
        let account = Account(current: "anna")
        let cache = ResponseCache()
        let personal = ResponseCachePlugin(cache) { _ in account.current }
        let unauthorized = UnauthorizedPlugin { _ in
            await cache.removeAll { $0.isPersonal }
        }
        let transport = ScriptedTransport(.cacheable(), .status(401))
        let token = AccessTokenPlugin { _ in "token" }
        let provider = Provider<Catalog>(transport: transport.transport, plugins: [personal, unauthorized, token])
        _ = try await provider.request(.list)
        let printed = Recorder<String>()
        let reading = Task {
            let print = { @Sendable (text: String) in printed.append(text) }
            for await event in cache.events {
                switch event {
                case .hit(let url, let origin): print("\(url.path()) from \(origin)")
                case .failed(let message): print("the cache's folder: \(message)")
                case .miss, .stored, .revalidated, .removed: break
                }
            }
        }
        while printed.count == 0 {
            try Task.checkCancellation()
            _ = try await provider.request(.list)
            await Task.yield()
        }
        #expect(printed.elements.first?.hasPrefix("/api/list from cache, ") == true)
        reading.cancel()
        let reload = CallOptions.setting(\.cachePolicy, .reload)
        _ = await #expect(throws: TargetKitError.self) { try await provider.request(.list, options: reload) }
        #expect(await cache.size.memory == 0)
    }
}
