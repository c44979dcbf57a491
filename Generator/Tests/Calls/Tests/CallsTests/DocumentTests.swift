// SPDX-License-Identifier: MIT
import Admin
import Foundation
import Library
import Shop
import TargetKit
import TargetKitContracts
import TargetKitJSON
import TargetKitTesting
import Testing

@Suite("The documents of the servers and the targets agree", .needsServers)
struct DocumentTests {
    @Test("A server still describes what its targets were generated from", arguments: ["shop", "library", "admin"])
    func isCurrent(server: String) async throws {
        let path = server == "admin" ? "v1/openapi.json" : "openapi.json"
        let served = try await data(of: path, at: server)
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../Sources")
        let file = package.appending(path: "\(server.capitalized)/openapi.json").standardizedFileURL
        let known = try JSONDecoder().decode(JSONValue.self, from: Data(contentsOf: file))
        #expect(try JSONDecoder().decode(JSONValue.self, from: served) == known)
    }

    @Test("Responses and samples match the document")
    func contracts() async throws {
        let contract = try OpenAPIContract(document: await data(of: "openapi.json", at: "shop"))
        let products: Provider<ProductsAPI> = FastAPIServers.shared.provider(at: "shop")
        let targets: [ProductsAPI] = [.listProducts(), .getProduct(productID: 3)]
        for target in targets { try contract.check(await products.request(target)) }
        try await products.checkContracts(of: targets, against: contract)
        let library = try OpenAPIContract(document: await data(of: "openapi.json", at: "library"))
        let books: Provider<ListBooks> = FastAPIServers.shared.provider(at: "library")
        try library.check(await books.request(ListBooks()))
    }

    private func data(of path: String, at server: String) async throws -> Data {
        let port = try #require(FastAPIServers.shared.ports[server])
        let url = try #require(URL(string: "http://127.0.0.1:\(port)/\(path)"))
        return try await Provider<URLTarget>().request(URLTarget(url)).data
    }
}
