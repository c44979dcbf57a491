// SPDX-License-Identifier: MIT
import Foundation

/// A page of the documentation, whose Swift has to stand in files that are compiled and run.
public struct DocumentationPage: Sendable, CustomStringConvertible {
    private let file: URL

    /// The page's file name.
    public var description: String { file.lastPathComponent }

    /// - Parameter path: Where the page lies, from the package's folder.
    public init(_ path: String) {
        file = Self.package.appending(path: path)
    }

    private init(file: URL) {
        self.file = file
    }

    /// The pages of a folder.
    ///
    /// - Parameter path: Where the folder lies, from the package's folder.
    public static func pages(in path: String) -> [DocumentationPage] {
        names(in: path).filter { $0.hasSuffix(".md") }.sorted().map { DocumentationPage(path + "/" + $0) }
    }

    /// The lines of the page's Swift code, trimmed, without empty lines and without manifests.
    public func lines() throws -> [String] {
        try pieces().filter { !$0.hasPrefix(Self.manifestMark) }.flatMap { Self.lines(of: $0) }
    }

    /// The package manifests on the page.
    public func manifests() throws -> [String] {
        try pieces().filter { $0.hasPrefix(Self.manifestMark) }
    }

    /// The page as a Swift file: its imports, its types, and the other snippets in one function, where each can use the
    /// names of those before it and redeclare them. Manifests are omitted, as are snippets that need one of
    /// `missingModules`, and the imports of `replacedModules` and of modules that the page declares (`@testable`).
    public func source() throws -> String {
        Self.source(of: try pieces(), function: "page", without: Self.replacedModules)
    }

    /// The page as Swift files, one for each section with code, because the sections import different modules.
    public func sectionSources() throws -> [String] {
        let sections = try text().components(separatedBy: "\n## ").map(Self.pieces).filter { !$0.isEmpty }
        return sections.enumerated().map { number, pieces in
            Self.source(of: pieces, function: "section\(number + 1)", without: [])
        }
    }

    private static func source(of pieces: [String], function: String, without replacedModules: [String]) -> String {
        var imports: [String] = []
        var types: [String] = []
        var statements: [String] = []
        var depth = 0
        let manifestMarks = [manifestMark, ".package(", "platforms:"]
        for piece in pieces where !manifestMarks.contains(where: piece.hasPrefix) {
            let lines = piece.components(separatedBy: "\n")
            let modules = lines.filter { $0.hasPrefix("import ") }
            if modules.contains(where: { missingModules.contains($0) }) { continue }
            imports += modules.filter { !replacedModules.contains($0) }
            let rest = lines.filter { !$0.hasPrefix("import ") && !$0.hasPrefix("@testable import ") }
            let first = rest.first { !$0.isEmpty } ?? ""
            if typeMarks.contains(where: { first.hasPrefix($0) }) {
                types += rest
            } else {
                statements += ["do {"] + rest
                depth += 1
            }
        }
        let ends = Array(repeating: "}", count: depth)
        return (imports + types + ["func \(function)() async throws {"] + statements + ends + ["}"])
            .joined(separator: "\n")
    }

    /// The modules of other packages that pages import, with the declarations that they use.
    public static var modules: [URL] {
        names(in: "Tests/Pages/Modules").sorted().map { package.appending(path: "Tests/Pages/Modules/" + $0) }
    }

    /// The files with the declarations that the page assumes: those with the page's name among the names, joined by
    /// `+`, that their own consists of.
    public var beside: [URL] {
        let page = file.deletingPathExtension().lastPathComponent
        let names = Self.names(in: "Tests/Pages").filter { name in
            name.hasSuffix(".swift") && name.dropLast(".swift".count).split(separator: "+").contains { $0 == page }
        }
        return names.sorted().map { Self.package.appending(path: "Tests/Pages/" + $0) }
    }

    /// The folders with the module maps of the package's C modules, which the compiler requires to import them.
    public static var moduleMapFolders: [URL] {
        names(in: "Sources").map { package.appending(path: "Sources/" + $0) }.filter {
            FileManager.default.fileExists(atPath: $0.appending(path: "module.modulemap").path)
        }
    }

    private static let manifestMark = "// swift-tools-version"
    /// What the first line of a type begins with.
    private static let typeMarks = ["enum ", "struct ", "extension ", "final class ", "@MainActor"]
    /// Modules that Linux lacks.
    private static let missingModules = ["import Combine", "import SwiftUI"]
    /// Modules that Linux or the package lacks, and whose few types a file beside the page declares.
    private static let replacedModules = [
        "import PromiseKit", "import Pulse", "import RxSwift", "import SwiftProtobuf", "import UIKit",
        "import XMLCoder",
    ]

    /// The page's Markdown.
    public func text() throws -> String {
        try String(contentsOf: file, encoding: .utf8)
    }

    /// The fenced blocks of the page, each with its language in the first line.
    public func blocks() throws -> [String] {
        var blocks: [[String]] = []
        var isOpen = false
        for line in try text().components(separatedBy: "\n") {
            if line.hasPrefix("```") {
                isOpen.toggle()
                if isOpen { blocks.append([line]) }
            } else if isOpen {
                blocks[blocks.count - 1].append(line)
            }
        }
        return blocks.map { $0.joined(separator: "\n") }
    }

    /// The package's documents: the Markdown files that aren't part of a build.
    public static var documents: [DocumentationPage] {
        files(in: "").filter { $0.hasSuffix(".md") }.sorted().map { DocumentationPage($0) }
    }

    /// The paths of the files in a folder and its folders, from that folder, without builds.
    ///
    /// - Parameter path: Where the folder lies, from the package's folder.
    public static func files(in path: String) -> [String] {
        names(in: path).filter { ![".build", ".git"].contains($0) }.flatMap { name in
            let files = files(in: path.isEmpty ? name : path + "/" + name)
            return files.isEmpty ? [name] : files.map { name + "/" + $0 }
        }
    }

    /// Whether the page, or another file or folder of the package, is there.
    public var exists: Bool { FileManager.default.fileExists(atPath: file.path) }

    /// The file to which a relative link of the page leads.
    public func beside(_ link: String) -> DocumentationPage {
        DocumentationPage(file: file.deletingLastPathComponent().appending(path: link).standardizedFileURL)
    }

    /// The targets of the links and the images of the page.
    public func links() throws -> [String] {
        try prose().flatMap { line in
            line.components(separatedBy: "](").dropFirst().map { $0.components(separatedBy: ")")[0] }
                + ["src=\"", "srcset=\""].flatMap { attribute in
                    line.components(separatedBy: attribute).dropFirst().map { $0.components(separatedBy: "\"")[0] }
                }
        }
    }

    /// The code within the page's sentences.
    public func codeSpans() throws -> [String] {
        try prose().flatMap { line in
            line.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 && !$0.element.isEmpty }
                .map(\.element)
        }
    }

    /// The anchors of the page's headings, as GitHub forms them.
    public func anchors() throws -> Set<String> {
        let headings = try prose().filter { $0.hasPrefix("#") }.map { $0.drop { $0 == "#" }.dropFirst().lowercased() }
        return Set(
            headings.map { heading in
                String(heading.filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }.map { $0 == " " ? "-" : $0 })
            }
        )
    }

    /// The lines of the page outside of its blocks of code.
    private func prose() throws -> [String] {
        var isCode = false
        return try text().components(separatedBy: "\n").filter { line in
            if line.hasPrefix("```") { isCode.toggle() }
            return !isCode
        }
    }

    private func pieces() throws -> [String] {
        Self.pieces(of: try text())
    }

    private static func pieces(of text: String) -> [String] {
        text.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
    }

    /// The lines of a Swift file, or of all in a folder, trimmed, without empty ones.
    ///
    /// - Parameter path: Where the file or the folder lies, from the package's folder.
    public static func lines(at path: String) throws -> Set<String> {
        let files = path.hasSuffix(".swift") ? [path] : names(in: path).map { path + "/" + $0 }
        return Set(
            try files.flatMap { lines(of: try String(contentsOf: package.appending(path: $0), encoding: .utf8)) }
        )
    }

    private static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The path of a file in the package's folder.
    public static func path(_ file: String) -> String { package.appending(path: file).path }

    private static func names(in path: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: package.appending(path: path).path(percentEncoded: false)))
            ?? []
    }

    private static func lines(of text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
