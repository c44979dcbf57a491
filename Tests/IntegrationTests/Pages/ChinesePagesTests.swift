// SPDX-License-Identifier: MIT
import Foundation
@testable import TargetKit
import TestSupport
import Testing

/// The pages in Chinese, which have to follow the English ones.
@Suite("Pages in Chinese", .throttled)
struct ChinesePagesTests {
    private static let translated = ["GettingStarted", "MovingFromMoya", "Troubleshooting"]
    private static let folder = "Documentation/zh-Hans"
    private static let texts = "用户看到的文案"

    private func english(_ name: String) -> DocumentationPage {
        DocumentationPage("Sources/TargetKit/TargetKit.docc/\(name).md")
    }

    private func chinese(_ name: String) -> DocumentationPage {
        DocumentationPage("\(Self.folder)/\(name).md")
    }

    @Test("A translated page has the code of the English page, block for block", arguments: translated)
    func blocks(name: String) throws {
        let (english, chinese) = (try english(name).blocks(), try chinese(name).blocks())
        #expect(chinese.count == english.count)
        for (chinese, english) in zip(chinese, english) { #expect(chinese == english) }
        #expect(name == "MovingFromMoya" || !chinese.isEmpty)
    }

    @Test("A translated page has the sections and the rows of the English page", arguments: translated)
    func rows(name: String) throws {
        let english = try english(name).text().components(separatedBy: "\n## ").map(Row.all)
        let chinese = try chinese(name).text().components(separatedBy: "\n## ").filter { !$0.hasPrefix(Self.texts) }
            .map(Row.all)
        try #require(chinese.map(\.count) == english.map(\.count), "The numbers of rows in each section")
        for (chinese, english) in zip(chinese.joined(), english.joined()) {
            #expect(chinese.quoted == english.quoted, "\(chinese.line)")
            // What to do about a message is said in other words.
            if name == "MovingFromMoya" { #expect(chinese.codes.isSuperset(of: english.codes), "\(chinese.line)") }
        }
    }

    @Test("The sentences for users on the page are those of the library, in both languages", arguments: [false, true])
    func sentences(inChinese: Bool) throws {
        let page = try chinese("Troubleshooting").text()
        let section = try #require(page.components(separatedBy: "\n## ").first { $0.hasPrefix(Self.texts) })
        let shown = Row.all(in: section).dropFirst(2).map(\.cells)
        let table = inChinese ? ErrorSentenceTable.simplifiedChinese : .english
        func text(_ entry: String) -> String {
            let sentences = table.sentences(entry)
            return [sentences.description, sentences.suggestion].joined(separator: inChinese ? "" : " ")
        }
        var expected: [String: String] = ["`.insecureConnection`，握手失败": text(table.handshake)]
        for kind in TargetKitError.Kind.allCases { expected["`.\(kind)`"] = text(try #require(table.kinds[kind])) }
        for (status, entry) in table.statuses {
            expected["`.\(TargetKitError.Kind(statusCode: status))`，状态码 \(status)"] = text(entry)
        }
        #expect(shown.count == expected.count)
        for cells in shown { #expect(cells[inChinese ? 1 : 2] == expected[cells[0]], "\(cells)") }
    }

    @Test("There are four pages")
    func pages() {
        let names = DocumentationPage.pages(in: Self.folder).map(\.description)
        #expect(names == ["ChineseServers.md", "GettingStarted.md", "MovingFromMoya.md", "Troubleshooting.md"])
    }

    /// A row of a table.
    private struct Row {
        let line: String
        let cells: [String]

        static func all(in section: String) -> [Row] {
            section.components(separatedBy: "\n").filter { $0.hasPrefix("|") }.map { line in
                let cells = line.components(separatedBy: "|").dropFirst().dropLast()
                return Row(line: line, cells: cells.map { $0.trimmingCharacters(in: .whitespaces) })
            }
        }

        /// What the first cell quotes: the message of a call or of the compiler, or the code that is replaced.
        var quoted: Set<String> { Set(Self.codes(in: cells[0]) + Self.parts(of: cells[0], between: "\"")) }

        /// The code of all cells, in any order.
        var codes: Set<String> { Set(Self.codes(in: line)) }

        /// The code in a text. DocC's links to symbols are their names.
        private static func codes(in text: String) -> [String] {
            parts(of: text.replacingOccurrences(of: "``", with: "`"), between: "`").map {
                $0.replacingOccurrences(of: "/", with: ".")
            }
        }

        private static func parts(of text: String, between mark: String) -> [String] {
            text.components(separatedBy: mark).enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        }
    }
}
