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

    /// The pages of a folder.
    ///
    /// - Parameter path: Where the folder lies, from the package's folder.
    public static func pages(in path: String) -> [DocumentationPage] {
        names(in: path).filter { $0.hasSuffix(".md") }.sorted().map { DocumentationPage(path + "/" + $0) }
    }

    /// The lines of the page's Swift, trimmed, without empty ones.
    public func lines() throws -> [String] {
        try String(contentsOf: file, encoding: .utf8).components(separatedBy: "```swift\n").dropFirst().flatMap {
            Self.lines(of: $0.components(separatedBy: "```")[0])
        }
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

    private static func names(in path: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: package.appending(path: path).path(percentEncoded: false)))
            ?? []
    }

    private static func lines(of text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
