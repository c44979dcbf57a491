// SPDX-License-Identifier: MIT
import Dispatch
import Foundation
import TargetKit
import TargetKitJSON
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The snippets of the page about responses, compiled and run.
@Suite("Page: Responses", .throttled, .timeLimit(.minutes(2)))
struct ResponsesPageTests {
    private func provider(_ body: String, status: Int = 200) -> Provider<TeaShop> {
        Provider(transport: StubTransport(.response(status: status, data: Data(body.utf8))))
    }

    // MARK: Values

    struct Product: ResponseModel, Equatable {
        @Lenient var id: Int
        @Lenient var name: String
        @Lenient var price: Decimal?
        @Lenient var tags: [String]
    }

    enum FirstPage: LenientDefaultProvider { static let lenientDefault = 1 }

    struct Results: ResponseModel {
        @LenientDefault<FirstPage> var page: Int
        @LossyArray var products: [Product]
    }

    @Test("A default of the app's own, and an array without elements that cannot be decoded")
    func defaults() async throws {
        let results = try await provider(#"{"page":"first","products":["tea",{"id":7,"name":"tea"}]}"#)
            .request(.products, as: Results.self)
        #expect(results.page == 1)
        #expect(results.products.map(\.id) == [7])
    }

    @Test("Values, a look without a model, and lenient models")
    func values() async throws {
        let provider = provider(#"{"data":{"items":[{"id":"7","price":null,"tags":[1,"a",null]}],"total":1}}"#)
        let products = try await provider.request(.products, as: [Product].self, atKeyPath: "data.items")
        #expect(products.map(\.id) == [7])
        #expect(products[0].tags == ["1", "a"])
        let response = try await provider.request(.products).filter()
        let first = try response.decode(Product.self, atKeyPath: "data.items.0")
        #expect(first == products[0])
        let json = try response.json()
        let total = json.data.total.int ?? 0
        let price = json.data.items[0].price.lenient.double ?? 0
        #expect(total == 1)
        #expect(price == 0)
        let nothing = json.no.such["thing"][7]
        #expect(nothing == .null)
    }

    @Test("JSON values go out again")
    func parameters() throws {
        let name = "green"
        let filter: JSONValue = ["tags": ["tea", .string(name)], "max": 12.5]
        let task = HTTPTask.parameters(["filter": filter], encoding: .json)
        var endpoint = try Endpoint(target: TeaShop.cart)
        endpoint.task = task
        endpoint.method = .post
        let body = try endpoint.urlRequest().httpBody
        #expect(body == Data(#"{"filter":{"max":12.5,"tags":["tea","green"]}}"#.utf8))
    }

    @Test("Repairs are reported")
    func observer() async throws {
        let repairs = Recorder<String>()
        let decoder = JSONDecoder.snakeCase { repair in repairs.append("\(repair)") }
        let provider = Provider<TeaShop>(
            transport: StubTransport(.response(status: 200, data: Data(#"{"id":"7"}"#.utf8))),
            options: .setting(\.decoder, decoder)
        )
        _ = try await provider.request(.product(id: 7), as: Product.self)
        #expect(repairs.count > 0)
    }

    // MARK: Envelopes

    struct Cart: ResponseModel { var count: Int }

    @Test("The codes that an envelope names are unauthorized", arguments: [401, 40101, 500])
    func unauthorizedCodes(code: Int) throws {
        let session = CodeMessageData(unauthorized: [401, 40101])
        let response = Response(statusCode: 200, data: Data(#"{"code":\#(code)}"#.utf8))
        let error = try #require(throws: TargetKitError.self) { try response.unwrap(JSONValue.self, from: session) }
        #expect(error.kind == (code == 500 ? .rejected : .unauthorized))
    }

    @Test("Envelopes")
    func envelopes() async throws {
        let provider = provider(#"{"status":"FULL","msg":"The cart is full.","result":null}"#)
        let orders = CodeMessageData(code: "status", messages: ["msg"], data: "result", success: ["OK"])
        do {
            let cart = try await provider.request(.cart, as: Cart.self, options: .setting(\.envelope, orders))
            show(cart.count)
        } catch {
            let refusal = error.underlying as? ServerDefinedError
            show(refusal?.message ?? error.localizedDescription)
            #expect(refusal?.code == "FULL")
        }
    }

    // MARK: Decoders

    @Test("Decoders")
    func decoders() async throws {
        let sample = SampleResponse.response(status: 200, data: Data(#"{"user_name":"a"}"#.utf8))
        do {
            let provider = Provider<TeaShop>(options: .setting(\.decoder, .snakeCase()))
            #expect(provider.scope.inFlightCount == 0)
        }
        struct Report: Decodable { var userName: String }
        let provider = Provider<TeaShop>(transport: StubTransport(sample))
        #expect(try await provider.request(.legacyReport, as: Report.self).userName == "a")
        await #expect(throws: TargetKitError.self) { try await provider.request(.cart, as: Report.self) }
    }

    // MARK: Errors

    @Test("Errors: what the screen does, what the person reads, and the app's own")
    func errors() async throws {
        let provider = provider("{}", status: 410)
        do {
            let product = try await provider.request(.product(id: 7), as: Product.self)
            show(product.name)
        } catch {
            switch error.kind {
            case .offline, .timedOut, .cannotConnect: showRetry()
            case .unauthorized: showSignIn()
            case .cancelled: break
            default: show(error.localizedDescription)
            }
            #expect(error.appError is TeaShopError)
            #expect(error.localizedDescription == "This is sold out.")
            let chinese = error.text(.recoverySuggestion, in: .simplifiedChinese)
            #expect(chinese.hasSuffix("。"))
            let toast = error.text(.summary)
            #expect(toast == "This is sold out.")
        }
        let texts = ErrorTexts.custom { error, piece in
            error.kind == .offline && piece == .description ? "No connection to the shop." : nil
        }
        let error = TargetKitError(stage: .transport, underlying: URLError(.notConnectedToInternet))
        #expect(error.text(in: texts) == "No connection to the shop.")
    }

    // MARK: Services

    struct CartService: APIService {
        let provider: Provider<TeaShop>

        func load(show: @escaping @MainActor (Cart) -> Void, failure: @escaping @MainActor (TargetKitError) -> Void) {
            request(.cart, as: Cart.self, success: show, failure: failure)
        }
    }

    @Test("Services")
    func service() async {
        let service = CartService(provider: provider(#"{"count":2}"#))
        let count = await withCheckedContinuation { done in
            service.load { cart in
                done.resume(returning: cart.count)
            } failure: { _ in
                done.resume(returning: -1)
            }
        }
        #expect(count == 2)
    }

    @Test("Every line of Swift on the page is a line of this file")
    func everySnippetIsHere() throws {
        let known = try DocumentationPage.lines(at: "Tests/JSONTests/Pages/ResponsesPageTests.swift")
        let lines = try DocumentationPage("Sources/TargetKit/TargetKit.docc/Responses.md").lines()
        #expect(!lines.isEmpty)
        for line in lines {
            #expect(known.contains(line), "\(line)")
        }
    }
}

enum TeaShop: RoutedTarget {
    case products
    case product(id: Int)
    case cart
    case legacyReport

    var baseURL: URL { .example }

    var route: Route {
        switch self {
        case .products: .get("/products")
        case .product(let id): .get("/products/\(id)")
        case .cart: .get("/cart")
        case .legacyReport: .get("/report")
        }
    }
}

enum TeaShopError: LocalizedError {
    case soldOut

    var errorDescription: String? { "This is sold out." }
}

extension TeaShop {
    var options: CallOptions {
        switch self {
        case .legacyReport: .setting(\.decoder, .snakeCase())
        default: .init()
        }
    }
}

extension TeaShop: ErrorMappingTarget {
    func appError(for response: Response) -> (any Error)? {
        response.statusCode == 410 ? TeaShopError.soldOut : nil
    }
}

private func show(_ count: Int) {}
private func show(_ text: String) {}
private func showRetry() {}
private func showSignIn() {}
