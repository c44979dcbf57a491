// SPDX-License-Identifier: MIT
import TestSupport
import Testing

@Suite("Pages of the plugins", .throttled)
struct PagesTests {
    @Test(
        "Every line of Swift on a page is a line of a test in a folder of pages",
        arguments: [
            "Sources/Plugins/TargetKitPlugins.docc", "Sources/Resilience/TargetKitResilience.docc",
            "Sources/Offline/TargetKitOffline.docc", "Sources/Diagnostics/TargetKitDiagnostics.docc",
        ].flatMap { DocumentationPage.pages(in: $0) }
            + [
                DocumentationPage("Sources/Transfers/TargetKitTransfers.docc/TransferQueue.md"),
                DocumentationPage("Documentation/zh-Hans/ChineseServers.md"),
            ]
    )
    func everySnippetIsHere(page: DocumentationPage) throws {
        let products = ["Plugins", "Resilience", "Transfers", "Offline", "Diagnostics", "Integration"]
        let known = try products.reduce(into: Set<String>()) { known, product in
            known.formUnion(try DocumentationPage.lines(at: "Tests/\(product)Tests/Pages"))
        }
        for line in try page.lines() {
            if !known.contains(line) { Issue.record("\(page): \(line)") }
        }
    }
}
