// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

/// What the compiler does not check in the sources.
@Suite("Sources", .throttled)
struct SourceTests {
    /// Two suites that a page shows as they are.
    private static let suitesOfPages: Set = ["RecordedCatalogTests", "CatalogTests", "CatalogModelTests"]

    /// A linker drops the files of an archive whose symbols nothing refers to, such as one with conformances alone,
    /// which casts would then not find. A type of another target conforms in a file in which it also conforms to a protocol
    /// of the standard library, since a program that uses the type as such refers to that conformance.
    @Test("A conformance of the package's own type stands in the file of the type or of the protocol")
    func conformances() throws {
        let declarations = try files(in: "Sources").mapValues { $0.compactMap(Declaration.init) }
        var places: [String: Set<String>] = [:]
        for (file, declarations) in declarations {
            for declaration in declarations where declaration.kind != "extension" {
                places[declaration.name, default: []].insert(file)
            }
        }
        #expect(places.count > 500)
        for (file, declarations) in declarations {
            for declaration in declarations where declaration.kind == "extension" {
                guard let typePlaces = places[declaration.name], !typePlaces.contains(file) else { continue }
                let isOfOtherTarget = !typePlaces.contains { Self.target(of: $0) == Self.target(of: file) }
                let here = declarations.filter { $0.name == declaration.name }.flatMap(\.conformances)
                if isOfOtherTarget, here.contains(where: { places[$0] == nil }) { continue }
                for name in declaration.conformances where places[name]?.contains(file) != true {
                    Issue.record("\(file): the conformance of \(declaration.name) to \(name)")
                }
            }
        }
    }

    @Test(
        "All tests are throttled",
        arguments: [
            "Support", "Storage", "TargetKit", "Redaction", "Plugins", "Resilience", "Moya", "Testing", "Contracts",
            "Integration",
        ]
    )
    func throttled(name: String) throws {
        var throttled = Self.suitesOfPages
        var types: [String: String] = [:]
        for (file, lines) in try files(in: "Tests/\(name)Tests") {
            var attribute = ""
            var type = ""
            for line in lines {
                if line.hasPrefix("    @Test") {
                    types[type] = file
                } else if line.hasPrefix(" ") {
                    if !attribute.isEmpty { attribute += line }
                } else if line.hasPrefix("@Suite") {
                    attribute = String(line)
                } else if let declaration = Declaration(line) {
                    type = declaration.name
                    if attribute.contains(".throttled") || attribute.contains(".alone") { throttled.insert(type) }
                    attribute = ""
                }
            }
        }
        #expect(!types.isEmpty)
        for (type, file) in types where !throttled.contains(type) {
            Issue.record("\(type) in \(file) is neither .throttled nor .alone")
        }
    }

    @Test(
        "What a release build compiles imports no module as testable",
        arguments: ["TestSupport", "PluginsTestSupport"]
    )
    func releaseBuild(name: String) throws {
        let files = try files(in: "Tests/" + name)
        #expect(!files.isEmpty)
        for (file, lines) in files where lines.contains(where: { $0.hasPrefix("@testable import ") }) {
            #expect(lines.contains("#if DEBUG"), "\(file)")
        }
    }

    @Test("A file that imports Glibc also imports Musl, and Android if its code isn't for Linux alone")
    func systems() throws {
        var count = 0
        for (file, lines) in try files(in: "Sources") where lines.contains("import Glibc") {
            count += 1
            #expect(lines.contains("import Musl"), "\(file)")
            #expect(lines.contains("import Android") != (lines[1] == "#if os(Linux)"), "\(file)")
        }
        #expect(count > 5)
    }

    @Test("A plugin of the package names the hooks that it implements, and no others")
    func hooks() throws {
        let names = ["prepare", "willSend", "exchange", "didReceive", "retry", "process", "didFinish"]
        let folders = ["Plugins", "Resilience", "Transfers", "Offline", "Diagnostics"]
        var count = 0
        for (file, lines) in try folders.flatMap({ try files(in: "Sources/" + $0) }) {
            guard let line = lines.first(where: { $0.hasPrefix("    public var hooks: PluginHooks {") }) else {
                let isPlugin = lines.compactMap(Declaration.init).contains { $0.conformances.contains("Plugin") }
                #expect(!isPlugin, "\(file)")
                continue
            }
            count += 1
            for name in names {
                let implements = lines.contains { $0.hasPrefix("    public func \(name)(") }
                let isNamed = line.split { !$0.isLetter }.contains(Substring(name))
                #expect(isNamed == implements, "\(file): \(name)")
            }
        }
        #expect(count > 20)
    }

    /// The folder of a file's target.
    private static func target(of file: String) -> Substring? {
        file.dropFirst(package.appending(path: "Sources/").path.count).split(separator: "/").first
    }

    private static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The lines of the Swift files in a folder, by their paths.
    private func files(in folder: String) throws -> [String: [Substring]] {
        let folder = Self.package.appending(path: folder)
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        var found: [String: [Substring]] = [:]
        for case let file as URL in files where file.pathExtension == "swift" {
            found[file.path] = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        }
        return found
    }
}

/// A line that declares a type, or extends one.
private struct Declaration {
    let kind: Substring
    /// The name of the type, without the type that it is in.
    let name: String
    private let rest: Substring

    private static let kinds: Set<Substring> = ["struct", "class", "enum", "actor", "protocol", "extension"]
    private static let modifiers: Set<Substring> = [
        "open", "public", "package", "private", "fileprivate", "final", "indirect", "nonisolated",
    ]

    init?(_ line: Substring) {
        var words = line.split(separator: " ")[...]
        while let word = words.first, word.utf8.first == UInt8(ascii: "@") || Self.modifiers.contains(word) {
            words.removeFirst()
        }
        guard let kind = words.popFirst(), Self.kinds.contains(kind), let path = words.first else { return nil }
        self.kind = kind
        let parts = path.prefix { $0.isLetter || $0.isNumber || $0 == "." }.split(separator: ".")
        guard let name = parts.last else { return nil }
        self.name = String(name)
        rest = words.joined(separator: " ")[...]
    }

    /// The protocols that the line names.
    var conformances: [String] {
        let head = rest.components(separatedBy: " where ")[0].components(separatedBy: "{")[0]
        guard let colon = head.firstIndex(of: ":") else { return [] }
        return head[colon...].dropFirst().split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
