// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitContracts
import TargetKitTesting
import TestSupport
import Testing

private struct Product: ResponseModel, Equatable {
    var id: Int
    var name: String
}

private enum Catalog: TargetType, Equatable {
    case products
    case product(id: Int)

    // swift-format-ignore: NeverForceUnwrap
    var baseURL: URL { URL(string: "https://shop.example/v1")! }

    var path: RequestPath {
        switch self {
        case .products: "/products"
        case .product(let id): "/products/\(id)"
        }
    }

    var sampleResponse: SampleResponse {
        switch self {
        case .products: .json(#"[{"id":7,"name":"Sencha"}]"#)
        case .product: .json(#"{"id":7,"name":"Sencha"}"#)
        }
    }
}

/// The code of the page about TargetKitContracts, run.
@Suite("Page: TargetKitContracts", .throttled, .timeLimit(.minutes(1)))
struct ContractsPageTests {
    @Test("The samples fit the types that the app decodes")
    func contracts() async throws {
        let provider = Provider<Catalog>()
        try await provider.checkContracts(of: [.products, .product(id: 7)]) { target in
            target == .products ? [Product].self : Product.self
        }
    }

    @Test("Samples and responses fit the document of the API")
    func openAPI() async throws {
        let contract = try OpenAPIContract(document: Fixture("openapi.json").data())
        let provider = Provider<Catalog>(stubClosure: { _ in .immediate })
        try await provider.checkContracts(of: [.products, .product(id: 7)], against: contract)
        let response = try await provider.request(.product(id: 7))
        try contract.check(response)
        try contract.check(response, for: "GET /products/{id}")
    }

    @Test(
        "Every line of Swift on a page is a line of this file",
        arguments: DocumentationPage.pages(in: "Sources/Contracts/TargetKitContracts.docc")
    )
    func everySnippetIsHere(page: DocumentationPage) throws {
        let known = try DocumentationPage.lines(at: "Tests/ContractsTests/Pages/ContractsPageTests.swift")
        let lines = try page.lines()
        #expect(!lines.isEmpty)
        for line in lines { #expect(known.contains(line), "\(page): \(line)") }
    }
}
