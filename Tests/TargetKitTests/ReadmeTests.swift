// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

/// The snippets of the two READMEs, compiled and run.
@Suite("README", .throttled, .timeLimit(.minutes(2)))
struct ReadmeTests {
    enum Shop: RoutedTarget {
        case product(id: Int)
        case order(product: Int, count: Int)

        // swift-format-ignore: NeverForceUnwrap
        var baseURL: URL { URL(string: "https://shop.example/v1")! }
        var route: Route {
            switch self {
            case .product(let id): .get("/products/\(id)")
            case .order(let product, let count): .post("/orders", .json(["product": product, "count": count]))
            }
        }
    }

    struct Product: ResponseModel {
        var id: Int
        var name: String
    }

    struct ShopTests {
        @Test("A product has a name")
        func product() async throws {
            let stub = StubTransport(routes: [.get("/products/7"): .json(#"{"id":7,"name":"Green tea"}"#)])
            let product = try await Provider<Shop>(transport: stub).request(.product(id: 7), as: Product.self)
            #expect(product.name == "Green tea")
        }
    }

    @Test("The target's requests have the path and the body that it declares")
    func requests() throws {
        let product = try Endpoint(target: Shop.product(id: 7)).urlRequest()
        #expect(product.url?.absoluteString == "https://shop.example/v1/products/7")
        let order = try Endpoint(target: Shop.order(product: 7, count: 2)).urlRequest()
        #expect(order.httpBody == Data(#"{"count":2,"product":7}"#.utf8))
    }

    @Test("Every line of Swift on a README is a line of this file, or installs the package", arguments: readmes)
    func everySnippetIsHere(page: DocumentationPage) throws {
        let known = try DocumentationPage.lines(at: "Tests/TargetKitTests/ReadmeTests.swift").union(Self.elsewhere)
        for line in try page.lines() {
            #expect(known.contains(line), "\(page): \(line)")
        }
    }

    @Test("A README has at most 130 lines", arguments: readmes)
    func length(page: DocumentationPage) throws {
        #expect(try page.text().split(separator: "\n", omittingEmptySubsequences: false).count <= 131)
    }

    @Test("The READMEs have the same code, headings, tables and links, line for line")
    func sameContent() throws {
        let pages = try Self.readmes.map(Self.skeleton)
        #expect(pages[0] == pages[1])
    }

    @Test(
        "The figures are those that Benchmarks/README states",
        arguments: [
            ("added to a stripped program, by Moya", 1...3, "| added to a stripped Linux program |"),
            ("clean release build, by Moya", 1...3, "| a clean release build on 2 cores |"),
            ("stubbed call, 5 parameters, by hand", 3...3, "- A stubbed call "),
            ("the same: allocations", 1...1, "- A stubbed call "),
            ("1 GiB in a form: memory", 1...1, "- Uploading a form "),
        ]
    )
    func figures(measured: String, columns: ClosedRange<Int>, beginning: String) throws {
        let measurements = try DocumentationPage("Benchmarks/README.md").text().components(separatedBy: "\n")
        let row = try #require(measurements.first { $0.hasPrefix("| \(measured) |") })
        let figures = row.components(separatedBy: "|")[columns.lowerBound + 1...columns.upperBound + 1]
            .map { $0.trimmingCharacters(in: .whitespaces) }
        let line = try Self.readmes[0].text().components(separatedBy: "\n").first { $0.hasPrefix(beginning) }
        for figure in figures { #expect(line?.contains(" \(figure)") == true, "\(figure): \(line ?? "")") }
        if beginning.contains("stripped") {
            let page = try DocumentationPage("Sources/TargetKit/TargetKit.docc/ChooseAProduct.md").text()
            for figure in figures.prefix(2) { #expect(page.contains("\(figure) "), "\(figure)") }
        }
    }

    private static let readmes = [DocumentationPage("README.md"), DocumentationPage("README.zh-Hans.md")]

    /// What is not Swift of this module: a manifest's lines, and a call over the network.
    private static let elsewhere = [
        #"platforms: [.iOS(.v16), .macOS(.v13)], dependencies: [.package(name: "TargetKit", path: "../TargetKit")],"#,
        #".product(name: "TargetKit", package: "TargetKit")"#,
        "let provider = Provider<Shop>()",
        "let product = try await provider.request(.product(id: 7), as: Product.self)",
    ]

    /// The lines of a page without the words of its language: code without comments, and of each other line its mark,
    /// its links, the number of its cells and its figures. A page in Chinese is the one that it translates.
    private static func skeleton(of page: DocumentationPage) throws -> [String] {
        var isCode = false
        return try page.text().components(separatedBy: "\n").map { line in
            if line.hasPrefix("```") { isCode.toggle() }
            if isCode { return line.components(separatedBy: "  #")[0] }
            let links = line.components(separatedBy: "](").dropFirst().map { $0.components(separatedBy: ")")[0] }
            let mark = line.prefix { "#-|<> `".contains($0) }
            let cells = line.hasPrefix("|") ? line.components(separatedBy: "|") : []
            // What shows a row of the comparison.
            let proofs = cells.count == 7 ? cells[5].components(separatedBy: "`") : []
            let tests = proofs.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
            let figures =
                "|-".contains(line.prefix(1)) ? line.matches(of: /[0-9]+(\.[0-9]+)*/).map { String($0.output.0) } : []
            return
                ([String(mark), "\(cells.count)"] + links.filter { !$0.hasPrefix("README") } + tests + figures.sorted())
                .joined(separator: " ")
                .replacingOccurrences(of: "Documentation/zh-Hans/", with: "Sources/TargetKit/TargetKit.docc/")
        }
    }
}
