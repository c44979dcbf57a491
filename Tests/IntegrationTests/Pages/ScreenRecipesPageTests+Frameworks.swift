// SPDX-License-Identifier: MIT
import Foundation
import Observation
import PluginsTestSupport
import TargetKit
import TargetKitTesting
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#if canImport(PromiseKit)
import PromiseKit
#endif

#if canImport(RxSwift)
import RxSwift
#endif

#if canImport(SwiftUI)
import SwiftUI
#endif

#if canImport(UIKit)
import UIKit
#endif

/// The parts of the page that use SwiftUI, UIKit, RxSwift and PromiseKit.
extension ScreenRecipesPageTests {
    @Test("Load a list, with a preview")
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @MainActor
    func model() async throws {
        let model = ProductsModel(provider: .preview)
        await model.load()
        #expect(model.products == [Product(id: 7, name: "Green tea")])
        #expect(model.message == nil)
        let offline = ProductsModel(provider: .offline)
        await offline.load()
        #expect(offline.products.isEmpty)
        #expect(offline.message?.isEmpty == false)
    }

    @Test("Use RxSwift")
    func single() async throws {
        let provider = Provider<ShopAPI>(transport: StubTransport.texts { _ in #"{"id":7,"name":"Green tea"}"# })
        #expect(try await provider.single(.profile, as: Product.self).value.id == 7)
    }

    @Test("Use promises", arguments: [200, 404])
    func promise(status: Int) async throws {
        let sample = SampleResponse.response(status: status, data: Data(#"{"id":7,"name":"Green tea"}"#.utf8))
        let provider = Provider<ShopAPI>(transport: StubTransport(sample))
        let result = try await provider.promise(.profile, as: Product.self).seal.results.element(0)
        #expect((try? result.get().id) == (status == 200 ? 7 : nil))
    }

    #if !canImport(UIKit)
    @Test("Finish calls in the background", .serialized, arguments: [true, false])
    @MainActor
    func background(expires: Bool) async throws {
        let held = HeldTransport()
        let scope = RequestScope(clock: ManualClock())
        let provider = Provider<ShopAPI>(transport: held.transport, scope: scope)
        let call = Task { await provider.result(.profile).failure?.kind }
        await held.gate.waitForArrivals()
        let application = UIApplication.shared
        let shutdown = Task { await scope.shutdownInBackground(grace: .seconds(20)) }
        await application.began.waitForCount(1)
        if expires { application.expire?() } else { held.gate.open() }
        await shutdown.value
        #expect(await call.value == (expires ? .cancelled : nil))
        #expect(application.began.elements == application.ended.elements)
        application.reset()
    }
    #endif
}

extension RequestScope {
    @MainActor
    func shutdownInBackground(grace: Duration) async {
        let application = UIApplication.shared
        let task = application.beginBackgroundTask(withName: "Calls") { [self] in
            cancelAll()
        }
        await shutdown(grace: grace)
        application.endBackgroundTask(task)
    }
}

extension Provider {
    func single<Value: Decodable & Sendable>(_ target: Target, as type: Value.Type) -> Single<Value> {
        Single.create { [self] in try await request(target, as: type) }
    }
}

extension Provider {
    func promise<Value: Decodable & Sendable>(_ target: Target, as type: Value.Type) -> Promise<Value> {
        Promise { seal in
            request(target, as: type) { result in
                switch result {
                case .success(let value): seal.fulfill(value)
                case .failure(let error): seal.reject(error)
                }
            }
        }
    }
}

#if !canImport(UIKit)
/// Stands for UIKit's.
@MainActor
final class UIApplication {
    static let shared = UIApplication()

    private(set) var began = Recorder<Int>()
    private(set) var ended = Recorder<Int>()
    private(set) var expire: (@MainActor @Sendable () -> Void)?

    func beginBackgroundTask(
        withName name: String?,
        expirationHandler: (@MainActor @Sendable () -> Void)?
    ) -> Int {
        expire = expirationHandler
        began.append(began.count)
        return began.count - 1
    }

    func endBackgroundTask(_ identifier: Int) {
        ended.append(identifier)
    }

    func reset() {
        (began, ended, expire) = (Recorder(), Recorder(), nil)
    }
}
#endif

/// Stands for RxSwift's.
struct Single<Element: Sendable>: Sendable {
    private let work: @Sendable () async throws -> Element

    static func create(work: @escaping @Sendable () async throws -> Element) -> Single {
        Single(work: work)
    }

    var value: Element {
        get async throws { try await work() }
    }
}

/// Stands for PromiseKit's.
struct Promise<Value: Sendable>: Sendable {
    struct Seal: Sendable {
        let results = Recorder<Result<Value, any Error>>()

        func fulfill(_ value: Value) { results.append(.success(value)) }
        func reject(_ error: any Error) { results.append(.failure(error)) }
    }

    let seal = Seal()

    init(resolver body: (Seal) throws -> Void) rethrows {
        try body(seal)
    }
}

extension Provider where Target == ShopAPI {
    static var preview: Provider { Provider(stubClosure: { _ in .immediate }) }

    static var offline: Provider {
        Provider(transport: StubTransport(.failure(URLError(.notConnectedToInternet))))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
@MainActor @Observable
final class ProductsModel {
    private(set) var products: [Product] = []
    private(set) var message: String?
    private let provider: Provider<ShopAPI>

    init(provider: Provider<ShopAPI>) {
        self.provider = provider
    }

    func load() async {
        do throws(TargetKitError) {
            products = try await provider.request(.products(page: 1), as: [Product].self, atKeyPath: "data")
            message = products.isEmpty ? "There are no products yet." : nil
        } catch {
            if error.kind != .cancelled { message = error.text(.summary) }
        }
    }
}

#if canImport(SwiftUI)
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
struct ProductsView: View {
    let model: ProductsModel

    var body: some View {
        List(model.products, id: \.id) { product in
            Text(product.name)
        }
        .overlay {
            if let message = model.message { Text(message) }
        }
        .refreshable { await model.load() }
        .task { await model.load() }
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
#Preview("Products") {
    ProductsView(model: ProductsModel(provider: .preview))
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
#Preview("Offline") {
    ProductsView(model: ProductsModel(provider: .offline))
}
#endif
