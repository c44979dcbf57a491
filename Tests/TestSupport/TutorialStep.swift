// SPDX-License-Identifier: MIT
import Foundation

/// A code file of TargetKit's tutorials, with the files that its reader has written before.
public struct TutorialStep: Sendable, CustomStringConvertible {
    /// The name of the step's code file, for example `Shop-2.swift`.
    public let description: String
    /// The sources of the reader's module at this step, by file name, without `@testable` imports.
    public let sources: [String: String]

    /// The steps with code of the reader's module, in the order of their names.
    public static var all: [TutorialStep] {
        files.flatMap { name in steps(of: name).map { TutorialStep($0, of: name) } }
    }

    /// The manifest of the reader's package.
    public static var manifest: String? { text(of: "Package-1.swift") }

    /// The files in the order in which the reader writes them.
    private static let files = ["Shop", "main", "ProductsModel", "ProductsModelTests"]

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources/TargetKit/TargetKit.docc/Resources/Tutorial")

    private init(_ step: String, of name: String) {
        description = step
        var sources = [name + ".swift": Self.text(of: step) ?? ""]
        // Other files than main.swift cannot be compiled as a library beside it.
        for earlier in Self.files.prefix(while: { $0 != name }) where earlier != "main" {
            sources[earlier + ".swift"] = Self.steps(of: earlier).last.flatMap(Self.text)
        }
        self.sources = sources.mapValues { source in
            source.components(separatedBy: "\n").filter { !$0.hasPrefix("@testable import ") }.joined(separator: "\n")
        }
    }

    private static func steps(of name: String) -> [String] {
        (1...9).map { "\(name)-\($0).swift" }.filter { text(of: $0) != nil }
    }

    private static func text(of name: String) -> String? {
        try? String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }
}
