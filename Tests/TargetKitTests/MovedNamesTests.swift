// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

/// The page of moved names, checked against the sources.
@Suite("Moved names", .throttled)
struct MovedNamesTests {
    private static let page = DocumentationPage("Sources/TargetKit/TargetKit.docc/MovedNames.md")
    private static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test("Each replacement on the page is a name of the sources")
    func replacements() throws {
        let known = try Self.words(in: "Sources")
        let rows = try Self.rows()
        #expect(rows.count > 20)
        for row in rows {
            for name in Self.names(in: row.now) { #expect(known.contains(name), "\(name): \(row.now)") }
        }
    }

    @Test("Each name that moved to a product is a name of that product")
    func products() throws {
        let rows = try Self.rows().filter { $0.now.hasPrefix("the product TargetKit") }
        #expect(rows.count >= 5)
        for row in rows {
            let product = row.now.dropFirst("the product TargetKit".count).prefix { $0.isLetter }
            let known = try Self.words(in: "Sources/\(product)")
            for name in Self.names(in: row.before) { #expect(known.contains(name), "\(name): \(product)") }
        }
    }

    @Test("Each product of the page is a product of the package")
    func manifest() throws {
        let manifest = try String(contentsOf: Self.package.appending(path: "Package.swift"), encoding: .utf8)
        for row in try Self.rows() where row.now.hasPrefix("the product ") {
            let product = row.now.dropFirst("the product ".count).prefix { $0.isLetter }
            #expect(manifest.contains(".library(name: \"\(product)\""), "\(product)")
        }
    }

    /// The rows of the page's tables, without the headings.
    private static func rows() throws -> [(before: String, now: String)] {
        try page.text().split(separator: "\n").filter { $0.hasPrefix("| ") }.compactMap { line in
            let cells = line.components(separatedBy: " | ")
            guard cells.count == 2, !cells[0].hasSuffix("before") else { return nil }
            return (String(cells[0].dropFirst(2)), String(cells[1].dropLast(2)))
        }
    }

    /// The Swift names in the code of a cell, without texts in quotes.
    private static func names(in cell: String) -> [String] {
        let code = cell.replacingOccurrences(of: "``", with: "`").components(separatedBy: "`").enumerated()
            .filter { $0.offset % 2 == 1 }.map(\.element)
        return code.flatMap { code in
            let unquoted = code.components(separatedBy: "\"").enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
            return unquoted.flatMap { Self.words(of: $0) }.filter { $0.count > 1 && !examples.contains($0) }
        }
    }

    /// Variables of the page's examples.
    private static let examples: Set = ["store", "transport", "endpoint", "false"]

    private static func words(of text: String) -> [String] {
        text.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init).filter { $0.first?.isLetter == true }
    }

    /// The words of the code in a folder, without comments.
    private static func words(in path: String) throws -> Set<String> {
        let folder = package.appending(path: path)
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        var words = Set<String>()
        for case let file as URL in files where file.pathExtension == "swift" && !file.path.contains(".docc/") {
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            where !line.drop(while: { $0 == " " }).hasPrefix("//") {
                words.formUnion(Self.words(of: String(line)))
            }
        }
        return words
    }
}
