// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@Suite("Troubleshooting", .throttled)
struct TroubleshootingPageTests {
    private static let page = DocumentationPage("Sources/TargetKit/TargetKit.docc/Troubleshooting.md")

    @Test("Each message on the page is a message of the sources")
    func messages() throws {
        let sources = try Self.sources().replacingOccurrences(of: "\\\"", with: "\"")
        let messages = try Self.page.text().components(separatedBy: "\n").compactMap { line in
            line.hasPrefix("| `") ? line.components(separatedBy: "`")[1] : nil
        }
        #expect(messages.count > 30)
        for message in messages {
            for part in message.components(separatedBy: "…").map(Self.trimmed) where part.count > 6 {
                #expect(sources.contains(part), "\(message)")
            }
        }
    }

    private static func trimmed(_ part: String) -> String {
        part.trimmingCharacters(in: CharacterSet(charactersIn: " ;,"))
    }

    private static func sources() throws -> String {
        let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let folder = package.appending(path: "Sources")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        var text = ""
        for case let file as URL in files where file.pathExtension == "swift" && !file.path.contains(".docc/") {
            text += try String(contentsOf: file, encoding: .utf8)
        }
        return text
    }
}
