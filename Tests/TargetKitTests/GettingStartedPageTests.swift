// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The snippets of the page and the tutorial "Getting started", compiled and run.
@Suite("Getting started", .throttled, .timeLimit(.minutes(2)))
struct GettingStartedPageTests {
    struct Product: ResponseModel, Equatable {
        var id: Int
        var name: String
    }

    enum Shop: RoutedTarget {
        case products(search: String)
        case product(id: Int)
        case order(product: Int, count: Int)

        // swift-format-ignore: NeverForceUnwrap
        var baseURL: URL { URL(string: "http://127.0.0.1:8000")! }

        var route: Route {
            switch self {
            case .products(let text): .get("/products", .query(["q": text]))
            case .product(let id): .get("/products/\(id)")
            case .order(let product, let count): .post("/orders", .json(["product": product, "count": count]))
            }
        }

        var sampleData: Data {
            switch self {
            case .products: Data(#"[{"id":7,"name":"Green tea"}]"#.utf8)
            case .product: Data(#"{"id":7,"name":"Green tea"}"#.utf8)
            case .order: Data()
            }
        }
    }

    @MainActor
    final class ProductsModel {
        enum State: Equatable {
            case empty
            case loading
            case loaded([Product])
            case failed(String)
        }

        private let provider: Provider<Shop>
        private(set) var state = State.empty

        init(provider: Provider<Shop>) {
            self.provider = provider
        }

        func search(_ text: String) async {
            state = .loading
            do throws(TargetKitError) {
                let products = try await provider.request(.products(search: text), as: [Product].self)
                state = products.isEmpty ? .empty : .loaded(products)
            } catch {
                if error.kind != .cancelled { state = .failed(error.text(.summary)) }
            }
        }
    }

    @MainActor
    @Suite(.throttled)
    struct ProductsModelTests {
        @Test("The products that the server finds are shown")
        func products() async {
            let model = ProductsModel(provider: Provider(stubClosure: { _ in .immediate }))
            await model.search("tea")
            #expect(model.state == .loaded([Product(id: 7, name: "Green tea")]))
        }

        @Test("A failure is shown, and the next search replaces it")
        func failure() async throws {
            let calls = RequestLog()
            let transport = StubTransport(
                routes: [.get("/products"): .sequence(.failure(URLError(.notConnectedToInternet)), .json("[]"))],
                log: calls
            )
            let model = ProductsModel(provider: Provider(transport: transport))
            await model.search("tea")
            let text = "You are not connected to the internet. Check your connection and try again."
            #expect(model.state == .failed(text))
            await model.search("tea")
            #expect(model.state == .empty)
            try calls.expect(.get("/products").with(.query("q", "tea")), times: 2)
        }
    }

    func message(for error: TargetKitError) -> String? {
        switch error.kind {
        case .cancelled: nil
        case .unauthorized: "Please sign in."
        case .offline, .timedOut, .cannotConnect: "Please try again."
        default: error.text(.summary)
        }
    }

    @Test("Calls with await and with a closure")
    func calls() async throws {
        let server = try TestServer(routes: [.get("/products/:id"): .json(#"{"id":7,"name":"Green tea"}"#)])
        let provider = Provider<Shop>(endpointClosure: { target in
            var endpoint = try Endpoint(target: target)
            endpoint.url = server.baseURL.appending(path: endpoint.url.path())
            return endpoint
        })
        do throws(TargetKitError) {
            let product = try await provider.request(.product(id: 7), as: Product.self)
            print(product.name)
        } catch {
            print(error)
            print(error.text(.summary))
        }
        let handle = provider.request(.product(id: 7), as: Product.self) { result in
            switch result {
            case .success(let product): print(product.name)
            case .failure(let error): print(error.text(.summary))
            }
        }
        handle.cancel()
        #expect(server.log.count(of: .get("/products/7")) >= 1)
        #expect(message(for: TargetKitError(stage: .cancelled)) == nil)
    }

    private static let page = DocumentationPage("Sources/TargetKit/TargetKit.docc/GettingStarted.md")

    @Test("Every line of Swift on the page is a line of this file")
    func everySnippetIsHere() throws {
        let known = try DocumentationPage.lines(at: "Tests/TargetKitTests/GettingStartedPageTests.swift")
        let lines = try Self.page.lines()
        #expect(!lines.isEmpty)
        for line in lines where line != "let provider = Provider<Shop>()" && !line.hasPrefix("@testable import") {
            #expect(known.contains(line), "\(line)")
        }
    }

    @Test("The tutorials end with the code of the page")
    func tutorials() throws {
        let page = try Self.page.text()
        #expect(TutorialStep.manifest.map(page.contains) == true)
        let last = Dictionary(TutorialStep.all.map { ($0.description.prefix { $0 != "-" }, $0) }) { $1 }
        #expect(last.count == 4)
        for (name, step) in last {
            let source = try #require(step.sources["\(name).swift"])
            #expect(page.replacingOccurrences(of: "@testable import TeaShop\n", with: "").contains(source), "\(step)")
        }
    }
}
