// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitCombine
import TargetKitTesting
import TestSupport
import Testing

#if canImport(Combine)
import Combine
#endif

/// The code of the page about TargetKitCombine, run where there is Combine.
@Suite("Page: TargetKitCombine", .throttled, .timeLimit(.minutes(1)))
struct CombinePageTests {
    #if canImport(Combine)
    private struct Product: ResponseModel {
        var id: Int
    }

    private enum TeaCatalog: TargetType {
        case products

        var baseURL: URL { .example }
        var path: RequestPath { "products" }
    }

    @Test("Publishers")
    func publishers() async {
        let provider = Provider<TeaCatalog>(
            transport: StubTransport(.response(status: 200, data: Data(#"[{"id":7}]"#.utf8)))
        )
        let shown = Expectation()
        func show(_ count: Int) { shown.fulfill() }
        let cancellable = provider.valuePublisher(for: .products, as: [Product].self)
            .map(\.count).replaceError(with: 0)
            .sink { count in show(count) }
        await shown.wait()
        cancellable.cancel()
    }
    #else
    /// As it is on Apple's systems; Tests/CombineTests runs the publishers against OpenCombine.
    private static let publishers = #"""
        import Combine
        let cancellable = provider.valuePublisher(for: .products, as: [Product].self)
            .map(\.count).replaceError(with: 0)
            .sink { count in show(count) }
        """#
    #endif

    @Test("Every line of Swift on the page is a line of this file")
    func everySnippetIsHere() throws {
        let known = try DocumentationPage.lines(at: "Tests/TargetKitTests/CombinePageTests.swift")
        let lines = try DocumentationPage("Sources/Combine/TargetKitCombine.docc/TargetKitCombine.md").lines()
        #expect(!lines.isEmpty)
        for line in lines { #expect(known.contains(line), "\(line)") }
    }
}
