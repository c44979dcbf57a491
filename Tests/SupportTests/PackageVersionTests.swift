// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@testable import _TargetKitSupport

@Suite("Version of the package", .throttled)
struct PackageVersionTests {
    @Test("The version is that of the newest part of the changelog")
    func newest() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let lines = try String(contentsOf: root.appending(path: "CHANGELOG.md"), encoding: .utf8).split(separator: "\n")
        let newest = try #require(lines.first { $0.hasPrefix("## ") })
        #expect(newest.dropFirst(3).prefix { $0 != "," } == PackageVersion.text)
    }
}
