// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitJSON
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Page: recipes for screens", .throttled, .timeLimit(.minutes(2)))
struct ScreenRecipesPageTests {
    private let list = #"{"data":[{"id":7,"name":"Green tea"}]}"#

    @Test("Show a loading indicator")
    func loadingIndicator() async throws {
        let indicator = Indicator()
        let (held, clock) = (HeldTransport(), ManualClock())
        let transport = held.transport
        let loading = LoadingPlugin(delay: .milliseconds(300), shortest: .milliseconds(500), clock: clock) { isOn in
            indicator.isVisible = isOn
        }
        let provider = Provider<ShopAPI>(transport: transport, plugins: [loading])
        async let status = {
            let products = try await provider.request(.products(page: 1))
            return products.statusCode
        }()
        try await clock.waitForSleepers()
        clock.advance(by: .milliseconds(300))
        #expect(await indicator.changes.waitForCount(1) == [true])
        held.gate.open()
        #expect(try await status == 200)
        try await clock.waitForSleepers()
        clock.advance(by: .milliseconds(500))
        #expect(await indicator.changes.waitForCount(2) == [true, false])
        let refreshed = try await provider.request(.products(page: 1), options: .setting(\.showsLoading, false))
        #expect(refreshed.statusCode == 200)
        #expect(clock.sleeperCount == 0)
    }

    @Test("Show a toast for every failed call")
    func toasts() async throws {
        let screen = Screen()
        let transport = StubTransport(.error(.timedOut))
        let toast = ToastPlugin { message in screen.toast = message }
        let provider = Provider<ShopAPI>(transport: transport, plugins: [toast])
        let result = try? await provider.request(.search(text: "te"), options: .setting(\.showsToast, false))
        #expect(result == nil)
        let error = try #require(await provider.result(.profile).failure)
        #expect(await screen.toasts.waitForCount(1) == [error.text(.summary)])
    }

    @Test("Cancel calls when a view controller closes")
    @MainActor
    func presenter() async throws {
        let shown = Recorder<[String]>()
        let held = HeldTransport(.response(status: 200, data: Data(list.utf8)))
        let provider = Provider<ShopAPI>(transport: held.transport)
        var presenter: SearchPresenter? = SearchPresenter(provider: provider) { shown.append($0.map(\.name)) }
        presenter?.search("t")
        presenter?.search("te")
        held.gate.open()
        #expect(await shown.waitForCount(1) == [["Green tea"]])
        let closed = HeldTransport()
        let other = Provider<ShopAPI>(transport: closed.transport)
        presenter = SearchPresenter(provider: other) { _ in Issue.record("The screen has closed.") }
        presenter?.search("tea")
        presenter = nil
        for await count in other.scope.inFlightCounts where count == 0 { break }
        #expect(shown.count == 1)
    }

    @Test("Search while the user types")
    @MainActor
    func search() async throws {
        let script = ScriptedTransport(.response(status: 200, data: Data(list.utf8)))
        let clock = ManualClock()
        let model = SearchModel(provider: Provider(transport: script.transport), clock: clock)
        model.textChanged(to: "t")
        model.textChanged(to: "te")
        try await clock.waitForSleepers()
        clock.advance(by: .milliseconds(300))
        await model.task?.value
        #expect(model.products.map(\.id) == [7])
        #expect(script.requests.elements.map { $0.url?.query } == ["q=te"])
    }

    /// Two pages of a product each. The second one waits at the gate.
    private func pages(_ gate: Gate) -> Provider<ShopAPI> {
        let transport = StubTransport { request in
            let isFirst = request.urlRequest.url?.query == "page=1"
            if !isFirst { try await gate.waitUnlessCancelled() }
            let first = #"{"items":[{"id":1,"name":"Green tea"}],"next":2}"#
            let second = #"{"items":[{"id":2,"name":"Black tea"}]}"#
            return .response(status: 200, data: Data((isFirst ? first : second).utf8))
        }
        return Provider(transport: transport)
    }

    @Test("Read all pages of a list")
    func allPages() async throws {
        func allProducts(_ provider: Provider<ShopAPI>) async throws -> [Product] {
            let pages = provider.pages(first: .products(page: 1), as: ProductPage.self) { page in
                page.next.map { .products(page: $0) }
            }
            var products: [Product] = []
            for try await page in pages { products += page.items }
            return products
        }
        let gate = Gate()
        gate.open()
        #expect(try await allProducts(pages(gate)).map(\.id) == [1, 2])
    }

    @Test("Pull to refresh, scroll to load more")
    @MainActor
    func refreshing() async throws {
        let gate = Gate()
        let list = ProductList(provider: pages(gate))
        try await list.refresh()
        async let late: Void = list.loadMore()
        await gate.waitForArrivals()
        try await list.loadMore()
        try await list.refresh()
        gate.open()
        try await late
        #expect(list.products.map(\.id) == [1])
        try await list.loadMore()
        #expect(list.products.map(\.id) == [1, 2])
        #expect(list.isComplete && !list.isLoading)
    }

    @Test("Ask the user to allow wireless data")
    func wirelessData() async {
        func watch(_ reachability: Reachability, show: @MainActor (String?) -> Void) async {
            reachability.start()
            for await status in reachability.statuses {
                await show(status == .offline ? "No connection. Allow Wireless Data in Settings." : nil)
            }
        }
        let connectivity = ManualConnectivity(.offline)
        let shown = Recorder<Bool>()
        let watching = Task {
            await watch(Reachability(connectivity)) { shown.append($0 != nil) }
        }
        await shown.waitForCount(1)
        connectivity.set(.online(.cellular, isExpensive: true))
        #expect(await shown.waitForCount(2) == [true, false])
        watching.cancel()
        await watching.value
    }

    @Test("Log calls", arguments: [true, false])
    func logs(isDebug: Bool) async throws {
        func logger(isDebug: Bool, write: @escaping @Sendable (String) -> Void) -> NetworkLoggerPlugin {
            NetworkLoggerPlugin(level: isDebug ? [.body, .curl] : .errors, output: write)
        }
        let lines = Recorder<String>()
        let provider = Provider<ShopAPI>.stubbed(logger(isDebug: isDebug) { lines.append($0) })
        _ = try await provider.request(.signIn(user: "anna", password: "green-tea"))
        #expect(lines.elements.contains { $0.contains("curl ") } == isDebug)
        #expect(!lines.elements.contains { $0.contains("green-tea") })
    }

    @Test("Work before the server exists")
    func samples() async throws {
        func mock(in folder: URL) -> StubTransport {
            StubTransport { request in
                let name = request.urlRequest.url?.lastPathComponent ?? ""
                guard let data = try? Data(contentsOf: folder.appending(path: name + ".json")) else {
                    return .response(status: 404, data: Data())
                }
                return .response(status: 200, data: data)
            }
        }
        let owner = try TemporaryFolder()
        let folder = owner.url
        _ = try owner.file("profile.json", Data(#"{"name":"Anna"}"#.utf8))
        let provider = Provider<ShopAPI>(transport: mock(in: folder))
        #expect(try await provider.request(.profile).json().name.string == "Anna")
        #expect(await provider.result(.products(page: 1)).failure?.kind == .notFound)
        let transport = StubTransport(.status(503))
        let some = Provider<ShopAPI>(
            stubClosure: { target in if case .search = target { .immediate } else { .never } },
            transport: transport
        )
        #expect(try await some.request(.search(text: "te")).statusCode == 200)
        #expect(await some.result(.profile).failure?.response?.statusCode == 503)
    }

    @Test("Divide an app into modules")
    func modules() async throws {
        let script = ScriptedTransport(.status(200))
        let transport = script.transport
        let network = Network(transport: transport, plugins: [RetryPlugin()])
        let shop = network.provider(for: ShopAPI.self)
        let everything = network.provider(for: MultiTarget.self)
        let response = try await everything.request(ShopAPI.profile)
        network.session.cancelAll()
        #expect(response.statusCode == 200)
        #expect(shop.scope.parent === network.session)
    }
}

// MARK: - The types of the page

extension ScreenRecipesPageTests {
    /// What the page's app shows.
    @MainActor
    final class Indicator {
        let changes = Recorder<Bool>()
        var isVisible = false { didSet { changes.append(isVisible) } }
    }

    /// What the page's app shows.
    @MainActor
    final class Screen {
        let toasts = Recorder<String>()
        var toast = "" { didSet { toasts.append(toast) } }
    }

    struct ToastPlugin: Plugin {
        let show: @MainActor @Sendable (String) -> Void

        var place: PluginPlace { .observation }

        func didFinish(_ call: FinishedCall, context: RequestContext) {
            guard case .failure(let error) = call.result, error.kind != .cancelled else { return }
            guard context.options.showsToast else { return }
            DispatchQueue.main.async { show(error.text(.summary)) }
        }
    }

    @MainActor
    final class SearchPresenter {
        private let provider: Provider<ShopAPI>
        private let show: @MainActor ([Product]) -> Void
        private var handle: RequestHandle?

        init(provider: Provider<ShopAPI>, show: @escaping @MainActor ([Product]) -> Void) {
            self.provider = provider
            self.show = show
        }

        func search(_ text: String) {
            handle?.cancel()
            handle = provider.request(.search(text: text), as: [Product].self, atKeyPath: "data") { [weak self] in
                if case .success(let products) = $0 { self?.show(products) }
            }
        }

        deinit {
            handle?.cancel()
        }
    }

    @MainActor
    final class SearchModel {
        private(set) var products: [Product] = []
        private let provider: Provider<ShopAPI>
        private let clock: any Clock<Duration>
        private(set) var task: Task<Void, Never>?

        init(provider: Provider<ShopAPI>, clock: any Clock<Duration> = ContinuousClock()) {
            self.provider = provider
            self.clock = clock
        }

        func textChanged(to text: String) {
            task?.cancel()
            task = Task {
                do {
                    try await clock.sleep(for: .milliseconds(300))
                    products = try await provider.request(.search(text: text), as: [Product].self, atKeyPath: "data")
                } catch {
                    // Cancelled by the next letter, or failed: the products stay.
                }
            }
        }
    }

    struct ProductPage: ResponseModel {
        var items: [Product]
        var next: Int?
    }

    @MainActor
    final class ProductList {
        private(set) var products: [Product] = []
        private(set) var isLoading = false
        private var next: Int? = 1
        private var generation = 0
        private let provider: Provider<ShopAPI>

        init(provider: Provider<ShopAPI>) {
            self.provider = provider
        }

        var isComplete: Bool { next == nil }

        func refresh() async throws(TargetKitError) {
            generation += 1
            try await load(page: 1)
        }

        func loadMore() async throws(TargetKitError) {
            guard let next, !isLoading else { return }
            try await load(page: next)
        }

        private func load(page number: Int) async throws(TargetKitError) {
            let list = generation
            isLoading = true
            defer { if list == generation { isLoading = false } }
            let page = try await provider.request(.products(page: number), as: ProductPage.self)
            guard list == generation else { return }
            products = number == 1 ? page.items : products + page.items
            next = page.next
        }
    }

    struct Network: Sendable {
        let session = RequestScope()
        let transport: any Transport
        let plugins: [any Plugin]

        func provider<API: TargetType>(for api: API.Type = API.self) -> Provider<API> {
            Provider(transport: transport, plugins: plugins, scope: RequestScope(parent: session))
        }
    }
}

extension CallOptions {
    nonisolated var showsToast: Bool {
        get { self[ShowsToast.self] }
        set { self[ShowsToast.self] = newValue }
    }
}

enum ShowsToast: CallOptionKey {
    static let defaultValue = true
}
