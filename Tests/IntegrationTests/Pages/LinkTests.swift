// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

/// What documents refer to. DocC checks its own links, `doc:` and those of symbols.
@Suite("Links of documents", .throttled)
struct LinkTests {
    @Test("Each link leads to a file, and its anchor to a heading", arguments: DocumentationPage.documents)
    func links(page: DocumentationPage) throws {
        for link in try page.links() where !link.hasPrefix("http") && !link.hasPrefix("doc:") {
            let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let file = parts[0].isEmpty ? page : page.beside(parts[0])
            #expect(file.exists, "\(page): \(link)")
            if parts.count == 2 { #expect(try file.anchors().contains(parts[1]), "\(page): \(link)") }
        }
    }

    @Test("The documents are found, with their links")
    func documents() throws {
        let pages = DocumentationPage.documents
        #expect(pages.count > 70)
        #expect(try pages.map { try $0.links().count }.reduce(0, +) > 200)
        #expect(try DocumentationPage("CONTRIBUTING.md").anchors().contains("apples-systems"))
        #expect(!DocumentationPage("README.md").beside("Missing.md").exists)
    }

    @Test("Each path of the package that a document names exists", arguments: DocumentationPage.documents)
    func paths(page: DocumentationPage) throws {
        for code in try page.codeSpans() {
            let path = String(code.split(separator: " ")[0])
            guard Self.folders.contains(where: path.hasPrefix), !Self.ofReaders.contains(where: path.hasPrefix) else {
                continue
            }
            #expect(DocumentationPage(path).exists || page.beside(path).exists, "\(page): \(code)")
        }
    }

    @Test("Each file of the path of a call exists")
    func callPath() throws {
        let rows = try DocumentationPage("CONTRIBUTING.md").text().components(separatedBy: "\n")
            .filter { $0.hasPrefix("| `") && $0.contains(".swift`") }
        #expect(rows.count > 10)
        for row in rows {
            let file = row.components(separatedBy: "`")[1]
            #expect(DocumentationPage("Sources/TargetKit/\(file)").exists, "\(file)")
        }
    }

    @Test(
        "Each test that a document names exists",
        arguments: ["README", "README.zh-Hans", "SECURITY", "CONTRIBUTING"]
    )
    func tests(name: String) throws {
        let names = try DocumentationPage("\(name).md").codeSpans().filter {
            $0.hasSuffix("Tests") && !$0.contains("/")
        }
        #expect(names.count >= 3)
        let files = DocumentationPage.files(in: "Tests")
        for name in names where !files.contains(where: { $0.hasPrefix("\(name)/") }) {
            let file = files.first { $0.hasSuffix("/\(name).swift") }
            #expect(file != nil, "\(name)")
        }
    }

    /// The package's folders, with which a path begins.
    private static let folders = [
        "API/", "Benchmarks/", "Demo/", "Documentation/", "Examples/", "Fixtures/", "Generator/", "Sources/", "Tests/",
        ".ci/", ".github/",
    ]
    /// Folders of a reader's package that pages begin.
    private static let ofReaders = ["Sources/TeaShop/", "Tests/TeaShopTests/", "Tests/ShopTests/", "Tests/<module>"]
}
